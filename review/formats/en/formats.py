"""Dates and times as the rest of the console writes them: to the second, in 24 hours."""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i:s"
TIME_FORMAT = "H:i:s"
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
