"""Did it land? The verdict of an uncertain send, derived from evidence alone.

Pure. There are three verdicts. "Cannot tell" is a state of its own: that a look-up found nothing is
not proof that nothing was sent.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from review.language import _, later, plural
from review.text import age, listed

POSITIVE = frozenset({"lookup_found", "receipt", "late_receipt"})


class Landed(enum.StrEnum):
    """The three possible verdicts."""

    YES = "landed"
    NO = "not_landed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of evidence, as far as the verdict needs it."""

    kind: str
    send_no: int
    source: str
    provider_ref: str | None
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Send:
    """What the ledger knows of the send itself."""

    provider: str
    provider_class: str
    send_no: int
    marked_at: datetime | None
    settle_until: datetime | None
    dominated: bool
    holder: str = later("the worker")
    state: str = "review"
    # The provider still refuses a repeat of this key.
    refuses: bool = False
    # No attempt is left, so that only a person may send again.
    spent: bool = False

    @property
    def decided(self) -> bool:
        """Whether nobody is asked about it any more."""
        return self.state != "review"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in a headline and the reasons in a sentence."""

    landed: Landed
    headline: str
    because: str


# The provider's class, as an operator would say it.
CLASS_NAMES = {
    "forced_unique": later("forced unique"),
    "advisory_handle": later("advisory with handle"),
    "advisory_blind": later("advisory without handle"),
}


# States in which the send is tried again, and what is said before its mark.
_UNDER_WAY = {
    "queued": later("Cannot tell yet: it waits to be sent again."),
    "claimed": later("Cannot tell yet: a worker took it again and has not marked it."),
    "sweeping": later("Cannot tell yet: its worker was lost and it is looked for now."),
}


def judge(send: Send, evidence: Iterable[Piece], now: datetime) -> Verdict:
    """Weigh the evidence of the present send; what spoke for an earlier one is only said."""
    pieces = list(evidence)
    current = [piece for piece in pieces if piece.send_no >= send.send_no]
    proof = next((piece for piece in reversed(current) if piece.kind in POSITIVE), None)
    if proof:
        return Verdict(Landed.YES, _("It landed."), _proof_words(send, proof, now))
    if send.state in _UNDER_WAY:
        return _under_way(send, pieces)
    if send.marked_at is None:
        return _unmarked(send, pieces)
    return Verdict(Landed.UNKNOWN, _headline(send, current, now), _because(send, pieces, now))


# What is said of a proof: without the reference it has at the provider, and with it.
_PROOFS = {
    "lookup_found": (
        later("{source} was asked and has it, {age} ago."),
        later("{source} was asked and has it, reference {reference}, {age} ago."),
    ),
    "receipt": (
        later("{source} gave a receipt, {age} ago."),
        later("{source} gave a receipt, reference {reference}, {age} ago."),
    ),
    "late_receipt": (
        later("The worker brought its receipt after it had lost the job, {age} ago."),
        later(
            "The worker brought its receipt after it had lost the job, reference {reference}, "
            "{age} ago."
        ),
    ),
}


def _proof_words(send: Send, proof: Piece, now: datetime) -> str:
    plain, referred = _PROOFS[proof.kind]
    words = (referred if proof.provider_ref else plain).format(
        source=proof.source,
        reference=proof.provider_ref,
        age=age((now - proof.observed_at).total_seconds()),
    )
    return _begun(words) if send.decided else f"{_begun(words)} {_('Close it as landed.')}"


def _begun(words: str) -> str:
    """Begin a sentence with a capital, whatever name stands first in it."""
    return f"{words[0].upper()}{words[1:]}"


def _under_way(send: Send, pieces: list[Piece]) -> Verdict:
    """Say how far a send is that is tried again: it has no outcome yet."""
    if send.marked_at is None:
        headline = _UNDER_WAY[send.state]
    else:
        headline = _("Cannot tell yet: send no. {number} is under way.").format(number=send.send_no)
    before = send.send_no if send.marked_at is None else send.send_no - 1
    return Verdict(Landed.UNKNOWN, headline, _earlier_words(before, pieces, send.send_no))


def _earlier_words(before: int, pieces: list[Piece], present: int) -> str:
    """Say what is known of the sends that were marked before the present try."""
    if before < 1:
        return _("No send was marked before.")
    if before == 1:
        marked = _("Send no. 1 was marked before.")
    else:
        marked = _("Sends no. 1 to {number} were marked before.").format(number=before)
    unknown = _("Nobody knows whether anything landed from there.")
    return f"{marked} {_landed_before(pieces, present) or unknown}"


def _landed_before(pieces: list[Piece], send_no: int) -> str:
    earlier = {
        str(piece.send_no) for piece in pieces if piece.kind in POSITIVE and piece.send_no < send_no
    }
    words = _("An earlier send (no. {numbers}) did land.")
    return words.format(numbers=listed(sorted(earlier))) if earlier else ""


def unmarked(send_no: int) -> str:
    """Say of the latest try that it was never marked; the queue and the item's page agree."""
    if send_no > 0:  # tried again since: what is unmarked is the latest try alone
        return _("the try after send no. {number} was never marked").format(number=send_no)
    return _("the send was never marked")


def _unmarked(send: Send, pieces: list[Piece]) -> Verdict:
    before = _begun(_("{holder} stopped before it marked the send.").format(holder=send.holder))
    cannot = _("Cannot tell: {why}.").format(why=unmarked(send.send_no))
    if send.send_no > 0:
        earlier = _earlier_words(send.send_no, pieces, send.send_no)
        return Verdict(Landed.UNKNOWN, cannot, f"{before} {earlier}")
    if send.dominated:
        nothing = _("Every send of this workflow stands behind the mark, so nothing left.")
        return Verdict(Landed.NO, _("It did not land."), f"{before} {nothing}")
    unproven = _("If the workflow sends only after the mark, nothing left; nothing proves that.")
    return Verdict(Landed.UNKNOWN, cannot, f"{before} {unproven}")


def _headline(send: Send, pieces: list[Piece], now: datetime) -> str:
    absent = sum(piece.kind == "lookup_absent" for piece in pieces)
    failed = sum(piece.kind == "lookup_error" for piece in pieces)
    parts = []
    if absent:
        parts.append(plural("{number} look-up, absent", "{number} look-ups, all absent", absent))
    if failed:
        parts.append(plural("{number} look-up failed", "{number} look-ups failed", failed))
    if any(piece.kind == "error_replayed" for piece in pieces):
        parts.append(_("the provider repeats a stored error"))
    if send.settle_until and send.provider_class == "advisory_handle":
        parts.append(_settling((send.settle_until - now).total_seconds()))
    if not parts and send.provider_class == "advisory_blind":
        parts.append(_("this provider cannot be asked"))
    if not parts:
        return _("Cannot tell: no evidence yet.")
    return _("Cannot tell. {known}.").format(known=_begun(", ".join(parts)))


def _settling(left: float) -> str:
    if left <= 0:
        return _("settle window over")
    return _("settle window ends in {age}").format(age=age(left))


def safe_again(provider: str) -> str:
    """Say that a resend does no harm where the provider refuses a repeat."""
    return _(
        "{provider} refuses a repeat of the same key, so a resend is safe: it makes no second one."
    ).format(provider=provider)


# What a second send would come to, by the provider's class.
_TWICE = {
    "forced_unique": later(
        "{provider} may have forgotten the key and take it twice, so the system does not send it "
        "again by itself."
    ),
    "advisory_handle": later(
        "{provider} would accept the same send twice, so the system does not send it again by "
        "itself."
    ),
    "advisory_blind": later(
        "{provider} would accept the same send twice and cannot be asked, so the system does not "
        "send it again by itself."
    ),
}


def _because(send: Send, pieces: list[Piece], now: datetime) -> str:
    marked = age((now - send.marked_at).total_seconds()) if send.marked_at else ""
    words = _("{holder} marked the send {age} ago and no answer was recorded.")
    said = [_begun(words.format(holder=send.holder, age=marked))]
    if send.refuses:
        if send.spent:
            said.append(_("No attempt is left, so it is not sent again by itself."))
        said.append(safe_again(send.provider))
    else:
        twice = _TWICE.get(send.provider_class) or _(
            "Nothing is known of how {provider} treats a repeat, so the system does not send it "
            "again by itself."
        )
        said.append(twice.format(provider=send.provider))
    said.append(_landed_before(pieces, send.send_no))
    return " ".join(filter(None, said))
