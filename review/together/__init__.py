"""How people share the queue: who has an item, what they say of it, what is put off, who looks.

Lives here: the attention data of people, in ordinary tables of the console. Must not live here:
decisions (review.actions); nothing here changes the ledger or is proof of anything.
"""
