"""Carriers of work: they may lose, double or reorder, and nothing breaks."""
