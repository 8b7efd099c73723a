"""Understanding a rule: why an object is or isn't selected, what would flip it, what an edit changes."""
