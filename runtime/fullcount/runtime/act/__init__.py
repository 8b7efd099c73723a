"""Recheck, guard, intent, call, outcome: the only room that changes anything."""
