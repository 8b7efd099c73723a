"""LDAP directories: what their result codes and controls mean. Reading from a directory is not part of this yet."""
