"""Backups of single objects, taken right before they are acted on: where they lie and for how long."""
