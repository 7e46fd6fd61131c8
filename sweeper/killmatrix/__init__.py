"""The crash lab that is shipped: a relay that loses answers and a provider that counts effects.

Only commands and the demo import this package; it talks to the product like a stranger would.
"""
