"""Decisions: which requests, which tokens, which pages. No torch here."""
