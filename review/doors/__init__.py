"""The console's verbs through two more doors: a person's token over HTTP, and a command.

One table (review.doors.table) made of the tables the pages are made of, so that no button is
without its route and its command, and none of the three asks less than the others.
"""
