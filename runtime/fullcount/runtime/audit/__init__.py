"""What the description of an API lets a caller prove: an OpenAPI document in, findings out. Connects to nothing."""
