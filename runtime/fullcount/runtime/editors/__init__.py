"""Editors: the language server, and what highlights the language.

The language server (`server.py`) speaks the protocol; what it answers comes from `fullcount.compiler.editor`. It reads
files and the workspace's configuration, as `check` does, and contacts no source.
"""
