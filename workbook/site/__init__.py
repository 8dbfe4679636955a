"""The website: a MkDocs hook that renders the notebooks, and the command that builds it all."""
