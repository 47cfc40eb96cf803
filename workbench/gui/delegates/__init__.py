"""Painting of rows and bars: everything that is drawn from the theme's tokens inside a view."""
