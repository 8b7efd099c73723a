"""`fullcount fmt`: one canonical layout, without options.

text ─parse─► tree with its comments ─layout─► document ─print─► lines ─columns─► text ─parse─► the same tree?
"""

from fullcount.dsl.fmt.formatter import format_source

__all__ = ["format_source"]
