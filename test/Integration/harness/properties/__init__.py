"""Properties of attention, a family to a file; `check_properties.py` runs them."""
