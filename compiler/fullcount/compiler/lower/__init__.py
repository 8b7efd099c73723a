"""One typed expression, lowered twice: to DuckDB SQL over snapshots, and to a closure over one object.

`ir.py` says what an expression means. `closure.py` and `sql.py` are its two lowerings; `lookups.py` derives the
questions that a recheck puts to the sources. The two never disagree on a truth, and neither ever takes unknown for
false.
"""
