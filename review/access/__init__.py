"""How people come in and what stays closed to them: log-in, sessions, second factor, refusals.

Lives here: what these do. Must not live here: their pages (review.views) and which right or role
there is (review.rights).
"""
