"""The code that speaks to one kind of system; each declares its contract once."""
