"""How queries meet keys and values: one module a way of keeping them. Chapter 01."""
