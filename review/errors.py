"""What the console raises when a person may not, or did not say enough. Never for a lost race."""

from collections.abc import Mapping


class ReviewError(Exception):
    """Base of what this floor raises. Never raised directly."""


class IncompleteError(ReviewError):
    """The form lacks something; problems says what, per input, in words for the person."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        """Keep what is missing, per input."""
        super().__init__(", ".join(problems))
        self.problems = problems


class HeldError(IncompleteError):
    """Somebody else has it, and may keep it."""


class UnstorableAddressError(ReviewError):
    """An address holds what no column can, so nothing can be looked for by it."""
