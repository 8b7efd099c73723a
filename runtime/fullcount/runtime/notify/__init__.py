"""Telling people: `sending` does it by mail or webhook, `deliver` what the store holds."""
