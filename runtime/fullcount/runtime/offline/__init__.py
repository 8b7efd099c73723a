"""Checking a record with nothing but Python's standard library: the parts of the `verify.py` that an export carries."""
