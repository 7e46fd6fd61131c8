"""Did it land? The verdict of an uncertain send, derived from evidence alone.

Pure. There are three verdicts. "Cannot tell" is a state of its own: that a look-up found nothing is
not proof that nothing was sent.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from review.text import age, counted, listed

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
    holder: str = "the worker"
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
    "forced_unique": "forced unique",
    "advisory_handle": "advisory with handle",
    "advisory_blind": "advisory without handle",
}


# States in which the send is tried again, and what is said before its mark.
_UNDER_WAY = {
    "queued": "Cannot tell yet: it waits to be sent again.",
    "claimed": "Cannot tell yet: a worker took it again and has not marked it.",
    "sweeping": "Cannot tell yet: its worker was lost and it is looked for now.",
}


def judge(send: Send, evidence: Iterable[Piece], now: datetime) -> Verdict:
    """Weigh the evidence of the present send; what spoke for an earlier one is only said."""
    pieces = list(evidence)
    current = [piece for piece in pieces if piece.send_no >= send.send_no]
    proof = next((piece for piece in reversed(current) if piece.kind in POSITIVE), None)
    if proof:
        return Verdict(Landed.YES, "It landed.", _proof_words(send, proof, now))
    if send.state in _UNDER_WAY:
        return _under_way(send, pieces)
    if send.marked_at is None:
        return _unmarked(send, pieces)
    return Verdict(Landed.UNKNOWN, _headline(send, current, now), _because(send, pieces, now))


def _proof_words(send: Send, proof: Piece, now: datetime) -> str:
    source = {
        "lookup_found": f"{proof.source} was asked and has it",
        "receipt": f"{proof.source} gave a receipt",
        "late_receipt": "the worker brought its receipt after it had lost the job",
    }[proof.kind]
    reference = f", reference {proof.provider_ref}" if proof.provider_ref else ""
    when = age((now - proof.observed_at).total_seconds())
    step = "" if send.decided else " Close it as landed."
    return f"{source[0].upper()}{source[1:]}{reference}, {when} ago.{step}"


def _under_way(send: Send, pieces: list[Piece]) -> Verdict:
    """Say how far a send is that is tried again: it has no outcome yet."""
    if send.marked_at is None:
        headline = _UNDER_WAY[send.state]
    else:
        headline = f"Cannot tell yet: send no. {send.send_no} is under way."
    before = send.send_no if send.marked_at is None else send.send_no - 1
    return Verdict(Landed.UNKNOWN, headline, _earlier_words(before, pieces, send.send_no))


def _earlier_words(before: int, pieces: list[Piece], present: int) -> str:
    """Say what is known of the sends that were marked before the present try."""
    if before < 1:
        return "No send was marked before."
    marked = f"{'Send' if before == 1 else 'Sends'} no. {'1' if before == 1 else f'1 to {before}'}"
    landed = _landed_before(pieces, present)
    known = landed or " Nobody knows whether anything landed from there."
    return f"{marked} {'was' if before == 1 else 'were'} marked before.{known}"


def _landed_before(pieces: list[Piece], send_no: int) -> str:
    earlier = {
        str(piece.send_no) for piece in pieces if piece.kind in POSITIVE and piece.send_no < send_no
    }
    return f" An earlier send (no. {listed(sorted(earlier))}) did land." if earlier else ""


def unmarked(send_no: int) -> str:
    """Say of the latest try that it was never marked; the queue and the item's page agree."""
    if send_no > 0:  # tried again since: what is unmarked is the latest try alone
        return f"the try after send no. {send_no} was never marked"
    return "the send was never marked"


def _unmarked(send: Send, pieces: list[Piece]) -> Verdict:
    before = f"{send.holder[0].upper()}{send.holder[1:]} stopped before it marked the send."
    if send.send_no > 0:
        return Verdict(
            Landed.UNKNOWN,
            f"Cannot tell: {unmarked(send.send_no)}.",
            f"{before} {_earlier_words(send.send_no, pieces, send.send_no)}",
        )
    if send.dominated:
        return Verdict(
            Landed.NO,
            "It did not land.",
            f"{before} Every send of this workflow stands behind the mark, so nothing left.",
        )
    return Verdict(
        Landed.UNKNOWN,
        f"Cannot tell: {unmarked(0)}.",
        f"{before} If the workflow sends only after the mark, nothing left; nothing proves that.",
    )


def _headline(send: Send, pieces: list[Piece], now: datetime) -> str:
    absent = sum(piece.kind == "lookup_absent" for piece in pieces)
    failed = sum(piece.kind == "lookup_error" for piece in pieces)
    parts = []
    if absent:
        parts.append(f"{counted(absent, 'look-up')}, {'all ' if absent > 1 else ''}absent")
    if failed:
        parts.append(f"{counted(failed, 'look-up')} failed")
    if any(piece.kind == "error_replayed" for piece in pieces):
        parts.append("the provider repeats a stored error")
    if send.settle_until and send.provider_class == "advisory_handle":
        left = (send.settle_until - now).total_seconds()
        parts.append("settle window over" if left <= 0 else f"settle window ends in {age(left)}")
    if not parts and send.provider_class == "advisory_blind":
        parts.append("this provider cannot be asked")
    return f"Cannot tell. {_sentence(parts)}" if parts else "Cannot tell: no evidence yet."


def _sentence(parts: list[str]) -> str:
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def safe_again(provider: str) -> str:
    """Say that a resend does no harm where the provider refuses a repeat."""
    return (
        f"{provider} refuses a repeat of the same key, so a resend is safe: it makes no second one."
    )


def _because(send: Send, pieces: list[Piece], now: datetime) -> str:
    marked = age((now - send.marked_at).total_seconds()) if send.marked_at else ""
    words = [f"{send.holder} marked the send {marked} ago and no answer was recorded"]
    words[0] = words[0][0].upper() + words[0][1:]
    if send.refuses:
        spent = "No attempt is left, so it is not sent again by itself. " if send.spent else ""
        text = f"{words[0]}. {spent}{safe_again(send.provider)}"
        return text + _landed_before(pieces, send.send_no)
    consequence = {
        "forced_unique": f"{send.provider} may have forgotten the key and take it twice",
        "advisory_handle": f"{send.provider} would accept the same send twice",
        "advisory_blind": f"{send.provider} would accept the same send twice and cannot be asked",
    }.get(send.provider_class, f"Nothing is known of how {send.provider} treats a repeat")
    text = f"{words[0]}. {consequence}, so the system does not send it again by itself."
    return text + _landed_before(pieces, send.send_no)
