"""A made company and the whole path of two clean-ups on it: `make demo`."""
