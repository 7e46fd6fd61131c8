"""Which decisions end what is no conflict: dead letters, jobs, batches, messages, runs. Pure.

The same shape as the kinds of conflicts in verbs.py. A key has no decision of its own: what holds
it has one, and its page leads there.
"""

from collections.abc import Mapping

from review.decisions import EXECUTION, REASON, STATEMENT, Decision, Kind
from review.language import later

_FAILED_JOB = (
    Decision("resend", "resend", later("Resend"), "{resend}", tone="go", key="s"),
    Decision(
        "resolve",
        "acknowledge",
        later("Acknowledge"),
        later(
            "Notes that you saw it and takes it off the queue. Nothing is sent or closed: it can "
            "still "
            "be resent or abandoned later."
        ),
        key="r",
    ),
    Decision("abandon", "abandon", later("Abandon"), "{abandon}", tone="risk", key="a"),
)

_JOB = (
    Decision(
        "resend",
        "run_now",
        later("Run now"),
        later(
            "Makes it due from now on: the next free worker of {workflow} takes it and may send. "
            "If "
            "none does, it comes back here."
        ),
        tone="go",
        key="s",
    ),
    Decision(
        "abandon",
        "abandon",
        later("Abandon"),
        "{abandon}",
        tone="risk",
        key="a",
    ),
)

# Only one of the two is ever possible, so they share their key.
_BATCH = (
    Decision(
        "resolve",
        "mark_failed",
        later("Mark failed"),
        later(
            "Ends this run of the import at {cursor}. Nothing is taken back; the next start of "
            "{workflow} goes on from there."
        ),
        tone="go",
        key="r",
    ),
    Decision(
        "resolve",
        "acknowledge",
        later("Acknowledge"),
        later(
            "Notes that you saw the failure. Nothing is started; the next start of {workflow} goes "
            "on "
            "from {cursor}."
        ),
        tone="go",
        key="r",
    ),
)

_OUTBOX = (
    Decision(
        "resend",
        "retry",
        later("Retry"),
        later(
            "Offers the same message to the receiver of {topic} again, from now on. It carries the "
            "same key, by which a repeat is recognised."
        ),
        tone="go",
        key="s",
    ),
    Decision(
        "abandon",
        "drop",
        later("Drop"),
        later(
            "Never delivers this message: whoever listens to {topic} does not learn of {subject}. "
            "What "
            "it tells of stays as it is."
        ),
        tone="risk",
        key="a",
    ),
)

_RUN = (
    Decision(
        "look-again",
        "check_engine",
        later("Check the engine now"),
        later(
            "Asks the engine about execution {execution} as the reconciler does. A run that it "
            "says is "
            "over is ended here; a stop that somebody asked for is asked for again."
        ),
        key="l",
        needs=(),
    ),
    Decision(
        "resolve",
        "request_stop",
        later("Ask to stop it"),
        later(
            "Asks for execution {execution} to be stopped. What it sent already stays sent; the "
            "run "
            "stays open until the engine says that it ended."
        ),
        key="r",
    ),
    Decision(
        "resolve",
        "clear_flag",
        later("Clear the flag"),
        later(
            "Takes the run off the queue for 24 hours. It stays running here; nothing is stopped."
        ),
    ),
    Decision(
        "resolve",
        "attach_execution",
        later("Attach the execution"),
        later(
            "Says which execution of the engine this run is, and asks the engine anew. Nothing is "
            "stopped."
        ),
        needs=(REASON, EXECUTION),
    ),
    Decision(
        "resolve",
        "declare_ended",
        later("Declare it ended"),
        later(
            "Closes the run as cancelled on your word alone. Nothing is stopped; a late result is "
            "kept, but changes nothing."
        ),
        tone="risk",
        needs=(REASON, STATEMENT),
    ),
)

SOURCES: Mapping[str, Kind] = {
    "failed_job": Kind(later("dead letter"), "✕", "bad", _FAILED_JOB),
    "job": Kind(later("nobody takes this"), "◌", "plain", _JOB),
    "batch": Kind(later("batch stopped"), "◌", "plain", _BATCH),
    "run": Kind(later("run flagged"), "◌", "plain", _RUN),
    "outbox": Kind(later("message given up"), "✉", "bad", _OUTBOX),
    "key": Kind(later("key overdue"), "⚷", "plain"),
}
