"""Redis: what the replies of SCAN and of guarded writes mean. Reading from a server is not part of this yet."""
