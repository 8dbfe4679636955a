"""The judge: grades what a student wrote, in a process of its own that only ever returns values."""
