"""The three classes of providers; the one fact that decides what recovery may do.

Only names live here, so that decisions and drivers can share them without knowing each other.
"""

from enum import StrEnum


class ProviderClass(StrEnum):
    """Whether the receiver enforces uniqueness and, if not, whether it can be asked later."""

    FORCED_UNIQUE = "forced_unique"
    ADVISORY_HANDLE = "advisory_handle"
    ADVISORY_BLIND = "advisory_blind"
