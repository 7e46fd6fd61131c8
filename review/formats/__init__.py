"""How dates and times are written on the stock admin pages."""
