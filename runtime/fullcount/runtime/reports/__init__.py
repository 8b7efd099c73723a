"""What a run came to, for people and programs afterwards: CSV, JSON, and one offline page."""
