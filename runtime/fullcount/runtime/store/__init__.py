"""State: what was collected, planned, approved and done, in one database (SQLite embedded, PostgreSQL for a team)."""
