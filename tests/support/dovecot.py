"""A real Dovecot, started for a test on high ports of loopback, and an SMTP server in front."""

import asyncio
import contextlib
import getpass
import grp
import os
import pwd
import shutil
import smtplib
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiosmtpd import smtp as aiosmtp
from aiosmtpd.controller import Controller

USER, PASSWORD = "shop@example.com", "correct-horse"

CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = yes
ssl_cert = <{folder}/cert.pem
ssl_key = <{folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:{folder}/mail/%u
first_valid_uid = {uid}
first_valid_gid = {gid}
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
lda_mailbox_autocreate = yes
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail/%u allow_all_users=yes
}}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    port = {lmtp}
  }}
}}
"""


@dataclass(frozen=True)
class Mailserver:
    """Where the parts listen, and how the SMTP front treats the next message."""

    smtp: int
    imap: int
    imaps: int
    folder: Path
    front: "Front"

    def empty(self) -> None:
        """Forget all mail."""
        shutil.rmtree(self.folder / "mail" / USER, ignore_errors=True)
        self.front.hang_up = None

    def copies(self, message_id: str) -> int:
        """Count the copies that were delivered, in the mailbox itself."""
        wanted = f"Message-ID: {message_id}".encode()
        files = (self.folder / "mail" / USER).glob("new/*")
        read = (self.folder / "mail" / USER).glob("cur/*")
        return sum(
            any(line.strip() == wanted for line in path.read_bytes().splitlines())
            for path in [*files, *read]
        )


class Front:
    """The SMTP side: delivers by LMTP, and can hang up before or after it has."""

    def __init__(self, lmtp: int) -> None:
        """Deliver to this port."""
        self._lmtp = lmtp
        self.hang_up: str | None = None

    async def take(self, server: aiosmtp.SMTP, _session: Any, envelope: Any) -> str:
        """Take one message."""
        when, self.hang_up = self.hang_up, None
        if when != "before":
            with smtplib.LMTP("127.0.0.1", self._lmtp) as lmtp:
                lmtp.sendmail(envelope.mail_from, [USER], envelope.content)
        if when is not None:
            line = server.transport
            assert isinstance(line, asyncio.WriteTransport)
            line.abort()
        return "250 taken"

    handle_DATA = take  # noqa: N815  the name aiosmtpd calls


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [one.getsockname()[1] for one in sockets]


def program() -> str | None:
    """Return where Dovecot is, if it is."""
    return shutil.which("dovecot", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def _users() -> dict[str, Any]:
    """Choose the users its processes run as: its own as root, otherwise ours."""
    uid, gid = os.getuid(), os.getgid()
    if uid != 0:
        me, group = getpass.getuser(), grp.getgrgid(gid).gr_name
        return {"uid": uid, "gid": gid, "internal": me, "internal_group": group, "login": me}
    own = pwd.getpwnam("dovecot")
    ids = {"uid": own.pw_uid, "gid": own.pw_gid}
    return ids | {"internal": "dovecot", "internal_group": "dovecot", "login": "dovenull"}


def _make_certificate(folder: Path) -> None:
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)


def _wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"Dovecot did not start: {log.read_text() if log.exists() else 'no log'}")


@contextmanager
def mailserver(binary: str) -> Iterator[Mailserver]:
    """Run Dovecot in a folder of its own with an SMTP server in front of it."""
    folder = Path(tempfile.mkdtemp(prefix="landed-mail-"))
    users = _users()
    smtp_port, imap, imaps, lmtp = _free_ports(4)
    _make_certificate(folder)
    (folder / "mail").mkdir()
    if os.getuid() == 0:
        os.chown(folder / "mail", users["uid"], users["gid"])
    folder.chmod(0o755)
    config = folder / "dovecot.conf"
    ports = {"imap": imap, "imaps": imaps, "lmtp": lmtp}
    config.write_text(CONFIG.format(folder=folder, password=PASSWORD, **users, **ports))
    front = Front(lmtp)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    smtp = Controller(front, hostname="127.0.0.1", port=smtp_port, tls_context=tls)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        process = subprocess.Popen([binary, "-F", "-c", str(config)], stderr=subprocess.DEVNULL)
        stack.callback(process.wait, 10)
        stack.callback(process.terminate)
        for port in (imap, lmtp):
            _wait_for(port, folder / "dovecot.log")
        smtp.start()
        stack.callback(smtp.stop)
        yield Mailserver(smtp_port, imap, imaps, folder, front)
