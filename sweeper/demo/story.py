"""What happens in the demo, scene by scene.

Events have fixed names within a round, so a round that was cut short is simply played again: what
has happened answers ``replay``. A round of its own has customers and events of its own.
"""

import hashlib
from collections.abc import Callable

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from sweeper.demo.effects import CHARGE, CRM_SYNC, NOTICE, WELCOME
from sweeper.demo.registrations import add_customers
from sweeper.demo.workflow import Row, Workflow
from sweeper.killmatrix.relay import Mode

PHONE = "+49 30 1234"
NEW_PHONE = "+49 30 9876"
CONTACTS = "airtable-contacts"

# number, name, plan, status
CUSTOMERS = (
    (1, "Grace Hopper", "pro", "active"),
    (2, "Ada Lovelace", "basic", "trial"),
    (3, "Alan Turing", "pro", "active"),
    (4, "Edsger Dijkstra", "team", "active"),
    (5, "Barbara Liskov", "basic", "trial"),
)


class Story:
    """One round of the demo; ``rows`` keeps what the scenes' last calls answered."""

    def __init__(self, billing: Workflow, form: Workflow, number: int = 1) -> None:
        """Take the two workflows and the number of the round."""
        self.billing, self.form = billing, form
        self.number = number
        self.rows: dict[str, Row] = {}
        self._mark = f"{_database_mark()}{number}"

    def event(self, name: str) -> dict[str, str]:
        """Return an event as its source names it, the same at every delivery."""
        return {"id": f"evt_{self._mark}_{name}"}

    def customer(self, number: int) -> str:
        """Return the key of a customer of this round."""
        return str(1_000 * self.number + number)

    @property
    def was_played(self) -> bool:
        """Say whether this round has been played to its end."""
        return self.form.is_done(CRM_SYNC.name, self.event("sync_3"))

    def play(self) -> dict[str, Row]:
        """Play every scene; return what the calls that matter answered."""
        add_customers(
            [
                (self.customer(n), name, _mail(name), PHONE, plan, status, None, 1_000)
                for n, name, plan, status in CUSTOMERS
            ]
        )
        for scene in self.scenes():
            scene()
        return self.rows

    def scenes(self) -> tuple[Callable[[], None], ...]:
        """Return the scenes in their order; the last one is the sign that all were played."""
        return (
            self.everyday_work,
            self.third_loss,
            self.lost_and_won,
            self.second_person,
            self.backwards,
            self.missing_key,
            self.charges,
            self.mails,
            self.notices,
            self.from_outside,
            self.queued_work,
        )

    # -- writes ------------------------------------------------------------------------------------

    def everyday_work(self) -> None:
        """Write without a rival, and hear of a redelivery that it is done."""
        grace = self.customer(1)
        self.form.change(grace, self.event("form_name"), name="Rear Admiral Grace Hopper")
        for _ in range(2):
            self.billing.change(grace, self.event("invoice_paid_1"), paid_until="2027-01-31")

    def third_loss(self) -> None:
        """Let billing-webhook come first three times; the third loss opens for a person."""
        ada, wish = self.customer(2), self.event("form_upgrade")
        steps: tuple[dict[str, str], ...] = (
            {"status": "active"},
            {"paid_until": "2027-01-31"},
            {"plan": "pro"},
        )
        for number, step in enumerate(steps, start=1):
            seen = self.form.read(ada)
            self.billing.change(ada, self.event(f"subscription_{number}"), **step)
            lost = self.form.write(ada, seen, wish, plan="team", phone=NEW_PHONE)
            self.rows["third_loss"] = lost
            if lost["outcome"] != "stale_version":
                break

    def lost_and_won(self) -> None:
        """Lose once, read again, and win: nobody need look at it."""
        barbara, wish = self.customer(5), self.event("form_phone")
        seen = self.form.read(barbara)
        self.billing.change(barbara, self.event("trial_over"), status="active")
        self.rows["lost_once"] = self.form.write(barbara, seen, wish, phone=NEW_PHONE)
        self.rows["won_after"] = self.form.change(barbara, wish, phone=NEW_PHONE)

    def second_person(self) -> None:
        """Lose a write of a sensitive field: it opens at once, and two people decide."""
        edsger = self.customer(4)
        seen = self.billing.read(edsger)
        self.form.change(edsger, self.event("form_moved"), phone=NEW_PHONE)
        self.rows["second_person"] = self.billing.write(
            edsger, seen, self.event("limit_raised"), credit_limit=5_000
        )

    def backwards(self) -> None:
        """Deliver an old event late: the status would move backwards."""
        self.rows["backwards"] = self.billing.change(
            self.customer(3), self.event("trial_started_late"), status="trial"
        )

    def from_outside(self) -> None:
        """Post a lost write of a store this ledger cannot guard."""
        self.rows["from_outside"] = self.form.call(
            "POST",
            "/conflicts",
            kind="stale_version",
            target=CONTACTS,
            record_key=f"rec{self._mark}",
            version_read="41",
            version_found="42",
            base={"Phone": PHONE, "Owner": "Mia"},
            attempted={"Phone": NEW_PHONE, "Owner": "Mia"},
            current={"Phone": PHONE, "Owner": "Noah"},
            event=self.event("form_contact"),
        )

    # -- effects -----------------------------------------------------------------------------------

    def missing_key(self) -> None:
        """Bring an item whose key got lost in a node: it is parked, nothing is sent."""
        self.rows["missing_key"] = self.form.deliver(
            WELCOME.name, {"id": "undefined"}, self._mail_to("Niklaus Wirth")
        )

    def charges(self) -> None:
        """Pay once and be redelivered; lose an answer; never arrive."""
        for _ in range(2):
            self.rows["charge_again"] = self._charge("invoice_1", 49)
        self.rows["charge_dropped"] = self._charge("invoice_2", 149, Mode.FORWARD_THEN_DROP)
        self.rows["charge_stopped"] = self._charge("invoice_3", 29, Mode.FAIL_BEFORE_FORWARD)

    def mails(self) -> None:
        """Send one; lose the answer to one; lose one on its way."""
        self._welcome("welcome_1", "Grace Hopper")
        self.rows["mail_dropped"] = self._welcome(
            "welcome_2", "Ada Lovelace", Mode.FORWARD_THEN_DROP
        )
        self.rows["mail_stopped"] = self._welcome(
            "welcome_3", "Alan Turing", Mode.FAIL_BEFORE_FORWARD
        )

    def notices(self) -> None:
        """Notify the warehouse; lose the answer to one."""
        self._notice("order_1")
        self.rows["notice_dropped"] = self._notice("order_2", Mode.FORWARD_THEN_DROP)

    def queued_work(self) -> None:
        """Queue updates for the CRM and work them off, as a scheduled workflow does."""
        for number in (1, 2, 3):
            payload = {"contact": self.customer(number), "plan": "pro"}
            self.form.enqueue(CRM_SYNC.name, self.event(f"sync_{number}"), payload)
        self.form.work_off(CRM_SYNC.name)

    def _charge(self, name: str, amount: int, mode: Mode = Mode.FORWARD_AND_RESPOND) -> Row:
        payload = {"amount": amount, "currency": "EUR", "customer": self.customer(2)}
        return self.billing.deliver(CHARGE.name, self.event(name), payload, mode)

    def _welcome(self, name: str, person: str, mode: Mode = Mode.FORWARD_AND_RESPOND) -> Row:
        return self.form.deliver(WELCOME.name, self.event(name), self._mail_to(person), mode)

    def _notice(self, name: str, mode: Mode = Mode.FORWARD_AND_RESPOND) -> Row:
        payload = {"order": f"ord-{self.customer(512)}", "parcels": 1}
        return self.billing.deliver(NOTICE.name, self.event(name), payload, mode)

    @staticmethod
    def _mail_to(person: str) -> dict[str, str]:
        text = f"Hello {person}, it is good to have you."
        return {"to": _mail(person), "subject": "Welcome", "text": text}


def _mail(person: str) -> str:
    """Return a made-up address; example.com is nobody's."""
    return f"{person.split(maxsplit=1)[0].lower()}@example.com"


def _database_mark() -> str:
    """Return what tells one ledger from another: events of an earlier one are no replays here."""
    first = MigrationRecorder(connection).migration_qs.filter(app="ledger").order_by("id").first()
    at = first.applied.isoformat() if first else ""
    return hashlib.sha256(at.encode()).hexdigest()[:4]
