"""Deciding many items together: a frozen set, what a choice would do to it, and carrying it out.

Every item goes through the same action, operation and rights as its button (review.actions). Pages
are in review.views.bulk; what runs a set is the command `bulk`.
"""
