"""The conformance kit: recorded exchanges, replayed through the real connectors and the one collecting loop."""
