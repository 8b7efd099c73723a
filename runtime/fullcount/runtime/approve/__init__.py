"""Who agreed to which digest: identity, quorum, keys."""
