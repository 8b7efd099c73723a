"""The process that runs what is due."""
