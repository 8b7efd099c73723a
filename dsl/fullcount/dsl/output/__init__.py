"""Findings for tools, one form in each module. Pure: findings and texts come in, a text or a document goes out.

What people read on a terminal is `fullcount.dsl.render`.
"""
