"""The relay before a mail server, and its log in a table."""

import smtplib
from collections import deque
from contextlib import ExitStack, closing
from email import message_from_bytes
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiosmtpd.controller import Controller
from django.conf import settings

from sweeper.killmatrix.server import running
from sweeper.killmatrix.sql_journal import open_log
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from tests.support import database as tests_database
from tests.support import processes

LOOPBACK = ("127.0.0.1", 0)
PATIENCE = 20


class Mailbox:
    """A mail server that keeps what it took."""

    def __init__(self) -> None:
        """Begin empty."""
        self.subjects: list[str] = []

    async def take(self, _server: object, _session: object, envelope: Any) -> str:
        """Take one mail."""
        self.subjects.append(message_from_bytes(envelope.content)["Subject"])
        return "250 taken"

    handle_DATA = take  # noqa: N815  the name aiosmtpd calls


@pytest.mark.parametrize(
    ("fault", "taken"),
    [(Fault.FORWARD, 2), (Fault.DROP_BEFORE, 1), (Fault.DROP_AFTER, 2), (Fault.CUT_MID_REPLY, 2)],
)
def test_a_mail_is_lost_before_or_after_it_was_taken(fault: Fault, taken: int) -> None:
    """The relay knows commands from mails: the fate named for a mail is the mail's own."""
    mailbox = Mailbox()
    with ExitStack() as stack:
        server = Controller(mailbox, hostname="127.0.0.1", port=int(processes.free_port()))
        server.start()
        stack.callback(server.stop)
        relay = stack.enter_context(running(TcpRelay(LOOPBACK, f"smtp://127.0.0.1:{server.port}")))
        relay.arm(fault, within=b"Subject: second")
        client = smtplib.SMTP(*relay.server_address[:2], timeout=PATIENCE)
        client.sendmail("a@x", ["b@x"], b"Subject: first\r\n\r\n.\r\nx\r\n")
        if fault is Fault.FORWARD:
            client.sendmail("a@x", ["b@x"], b"Subject: second\r\n\r\n")
            client.quit()
        else:
            with pytest.raises(smtplib.SMTPException):
                client.sendmail("a@x", ["b@x"], b"Subject: second\r\n\r\n")
            client.close()
        log = list(relay.journal.entries)
    assert mailbox.subjects == ["first", "second"][:taken]
    assert [entry["status"] for entry in log][:5] == ["250", "250", "250", "354", "250"]
    assert all(entry["answered"] or entry["mode"] == Fault.DROP_BEFORE for entry in log)


def test_a_log_in_a_table_is_there_for_the_next_relay(tmp_path: Path) -> None:
    """Whoever reads the table sees an entry before the caller sees its answer."""
    login = settings.DB_OWNER
    place = f"{login['HOST']}:{login['PORT']}/{tests_database.database()}"
    address = f"postgresql://{login['USER']}:{login['PASSWORD']}@{place}"
    with psycopg.connect(address, autocommit=True) as reader:
        log = open_log(address)
        try:
            log.add({"id": 1, "mode": "forward-and-respond"})
            read = "SELECT entry ->> 'mode' FROM relay_acceptance"
            assert reader.execute(read).fetchall() == [("forward-and-respond",)]
            log.close()
            again = open_log(address)
            assert [entry["id"] for entry in again.entries] == [1]
            again.close()
        finally:
            reader.execute("DROP TABLE relay_acceptance")
    with pytest.raises(ValueError, match="log cannot be opened"):
        open_log("postgresql://127.0.0.1:1/x")
    with closing(open_log(str(tmp_path / "log"))) as log:
        assert log.entries == deque()
