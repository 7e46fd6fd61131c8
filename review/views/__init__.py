"""The console's pages. A view reads, renders and hands verbs to review.actions; never writes."""
