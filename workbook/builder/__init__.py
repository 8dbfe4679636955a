"""The builder: everything in the repository that is derived, made one way from the package and the masters."""
