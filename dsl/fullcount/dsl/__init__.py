"""Text to tree: the Fullcount language, without any knowledge of connectors, clocks or I/O."""
