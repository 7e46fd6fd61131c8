"""The same dates and times: an item is looked up by them in either language."""

from review.formats.en.formats import DATE_FORMAT, DATETIME_FORMAT, NUMBER_GROUPING, TIME_FORMAT

__all__ = ["DATETIME_FORMAT", "DATE_FORMAT", "NUMBER_GROUPING", "THOUSAND_SEPARATOR", "TIME_FORMAT"]

THOUSAND_SEPARATOR = "."
