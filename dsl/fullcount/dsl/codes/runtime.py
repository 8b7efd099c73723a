"""Codes of one hundred; see the package for the ranges."""

from __future__ import annotations

from fullcount.dsl.codes import runtime_act, runtime_assumed, runtime_evidence, runtime_kept, runtime_store
from fullcount.dsl.codes.model import Code

CODES: tuple[Code, ...] = (
    *runtime_store.CODES,
    *runtime_evidence.CODES,
    *runtime_act.CODES,
    *runtime_kept.CODES,
    *runtime_assumed.CODES,
)
