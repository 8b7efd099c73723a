"""The one loop that reads a source to its end, and the snapshots it writes."""
