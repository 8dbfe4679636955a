"""Pictures and small players for the notebooks. They need no kernel and no network."""
