"""The crash lab that is shipped: a relay that loses answers and a provider that counts effects.

Nothing of the product imports this package; it talks to the product like a stranger would.
"""
