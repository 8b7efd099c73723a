"""Which objects, on which evidence: the immutable plan, its digest and its renderings."""
