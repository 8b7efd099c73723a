"""The append-only, hash-chained record and its verifier."""
