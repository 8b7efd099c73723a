"""Envelope, codes, certificates, refusals: what was seen and what it licenses."""
