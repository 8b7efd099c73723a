"""File systems: what the answers of the operating system mean. Walking a tree is not part of this yet."""
