"""The state: tables, migrations and the few transactions that change them."""
