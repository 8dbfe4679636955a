"""How the bundled checkpoint is made: its little world, corpus, training, gates and recorded oracle."""
