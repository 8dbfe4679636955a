"""From tokens to text while they come."""
