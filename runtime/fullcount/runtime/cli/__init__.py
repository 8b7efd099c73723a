"""The command line: one file per verb, wording in one place."""
