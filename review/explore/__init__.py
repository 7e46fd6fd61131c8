"""Lists to look around in: one file a noun, all in the same frame. Reads only.

Every list reads by an index, pages by keyset and counts no further than a cap; a search names one
thing exactly. What may be decided about a row is on the row's own page (review.items).
"""
