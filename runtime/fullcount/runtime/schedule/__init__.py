"""Planned instants as unique rows, and the alarm clock around them."""
