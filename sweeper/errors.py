"""What may go wrong between the sweeper and the outside world.

Expected results (accepted, rejected, found, absent, unknown) are values, see providers.base.
Only what a caller has to stop for is an exception, and it is one of these.
"""


class SweeperError(Exception):
    """Root of everything the sweeper raises on purpose; never raised directly."""


class ProviderError(SweeperError):
    """A provider could not be used; ``permanent`` is the one flag callers branch on."""

    permanent = False


class ProviderUnavailableError(ProviderError):
    """The provider did not answer usefully; another pass may succeed.

    ``sent`` tells whether any byte of the request can have reached the provider. False is a
    proof that this attempt had no effect; True means nobody knows.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        """Keep the message for people and the flag for the caller."""
        super().__init__(message)
        self.sent = sent


class ProviderRejectedError(ProviderError):
    """The request was refused before anything left this machine; trying again cannot help."""

    permanent = True


class LookupInconclusiveError(SweeperError):
    """A look-up gave no usable answer. Never to be read as "absent"."""
