"""Checked program to evidence, plan, approval, act and journal."""

__version__ = "0.1.0"
