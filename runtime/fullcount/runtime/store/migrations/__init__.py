"""The history of the tables. A migration, once released, is never changed."""
