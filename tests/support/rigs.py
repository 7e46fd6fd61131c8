"""Rigs: one driver each with a real server of its kind, which loses answers and counts effects."""

import ssl
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, override

import orjson
import pytest
from django.conf import settings
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer
from psycopg import sql

from ledger import roles
from sweeper import mail_transport
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.relay import Mode, Relay
from sweeper.killmatrix.server import Handler, LoopbackServer, running
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay
from sweeper.providers import base
from sweeper.providers.base import Driver, Identity, LookUp, SendResult
from sweeper.providers.http_template import header_value
from sweeper.providers.s3_put import object_name
from sweeper.transport import request
from tests.support import dovecot, gmail

IDENTITY = Identity("job-1", "charge:order 1/ü:v1", "<4f2a9c@landed>")
PAYLOAD = b'{"amount": 12.50, "currency": "eur"}'
MAIL = orjson.dumps({"to": ["ada@example.com"], "subject": "Your receipt", "text": "Paid.\n.\n"})
REACH: dict[str, Any] = {"allow_private": ["127.0.0.1"], "timeout_seconds": 5}
MODES = {"before": Mode.FAIL_BEFORE_FORWARD, "after": Mode.FORWARD_THEN_DROP}
CUTS = {"before": Fault.DROP_BEFORE, "after": Fault.DROP_AFTER}


@dataclass
class Rig:
    """One driver on its real server."""

    name: str
    config: dict[str, Any]
    payload: bytes
    count: Callable[[Identity], int]
    lose_next: Callable[[str], None]
    unique: bool
    asks: bool = True
    tells: bool = True
    """Whether the provider's answer names the effect, and says of a repeat that it is one."""

    @property
    def driver(self) -> Driver:
        """Find the driver as the sweeper does."""
        driver = base.load(self.name)
        assert driver is not None
        return driver

    def send(self, identity: Identity = IDENTITY, **config: Any) -> SendResult:
        """Send once."""
        return base.send(self.driver, identity, self.payload, self.config | config)

    def look_up(self, identity: Identity = IDENTITY, **config: Any) -> LookUp:
        """Look up once."""
        return base.look_up(self.driver, identity, self.config | config)


def http_rig(stack: ExitStack, name: str, kind: str, *, unique: bool, asks: bool) -> Rig:
    """Put a relay in front of the mock provider; look-ups pass it too."""
    provider = stack.enter_context(running(MockProvider(("127.0.0.1", 0))))
    relay = stack.enter_context(running(Relay(("127.0.0.1", 0), provider.url)))
    url = f"{relay.url}/{kind}"
    config = dict(REACH)
    if name == "http_key":
        config["send"] = {"url": url, "add": {"reference": "{provider_key}"}}
        config["look_up"] = {
            "url": f"{url}?reference={{provider_key}}",
            "items": "data",
            "match": "reference",
            "more": "has_more",
        }
    else:
        config |= {"url": url, "add": {"message_id": "{handle}"}}
        if asks:
            config["log_url"] = f"{url}?message_id={{handle}}"

    def count(identity: Identity) -> int:
        label = identity.provider_key if name == "http_key" else identity.handle
        counts = provider.effects.counts()[kind]
        return int(counts["by_key"].get(label, 0) if asks else counts["total"])

    return Rig(
        name,
        config,
        PAYLOAD,
        count,
        lambda when: relay.set_mode(MODES[when], times=1),
        unique,
        asks,
    )


def mail_rig(stack: ExitStack, server: dovecot.Mailserver, security: str) -> Rig:
    """Put an SMTP server in front of a real Dovecot."""
    server.empty()
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("LANDED_SECRET_MAIL", dovecot.PASSWORD)
    trust = ssl.create_default_context(cafile=server.folder / "cert.pem")
    patch.setattr(mail_transport, "tls_context", lambda: trust)
    host = {"host": "127.0.0.1", "security": security}
    smtp_security = "starttls" if security == "tls" else security
    config = {
        "smtp": host | {"port": server.smtp, "security": smtp_security, "from": "shop@example.com"},
        "imap": host
        | {
            "port": server.imaps if security == "tls" else server.imap,
            "username": dovecot.USER,
            "password_env": "LANDED_SECRET_MAIL",
        },
        **REACH,
    }

    def lose_next(when: str) -> None:
        server.front.hang_up = when

    return Rig(
        "smtp_imap", config, MAIL, lambda who: server.copies(who.handle), lose_next, unique=False
    )


def gmail_rig(stack: ExitStack) -> Rig:
    """Put a relay in front of a mailbox that speaks Gmail's API; tokens do not pass it."""
    mailbox = stack.enter_context(running(gmail.Gmail()))
    relay = stack.enter_context(running(Relay(("127.0.0.1", 0), mailbox.url)))
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    names = {f"{name}_env": f"LANDED_SECRET_{name.upper()}" for name in gmail.CLIENT}
    for name, value in gmail.CLIENT.items():
        patch.setenv(names[f"{name}_env"], value)
    config = {
        "url": relay.url,
        "from": "shop@example.com",
        "oauth": {"url": f"{mailbox.url}/token", **names},
        **REACH,
    }

    def lose_next(when: str) -> None:
        relay.set_mode(MODES[when], times=1)

    return Rig(
        "gmail", config, MAIL, lambda who: mailbox.copies(who.handle), lose_next, unique=False
    )


def s3_rig(stack: ExitStack) -> Rig:
    """Put a relay in front of moto's S3, which enforces If-None-Match."""
    store = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    store.start()
    stack.callback(store.stop)
    address = "http://{}:{}".format(*store.get_host_and_port())
    bucket = f"{address}/receipts-{uuid.uuid4().hex}"
    request("PUT", bucket, allow_private=["127.0.0.1"])
    relay = stack.enter_context(running(Relay(("127.0.0.1", 0), address)))
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("LANDED_SECRET_S3_ID", "testing")
    patch.setenv("LANDED_SECRET_S3_KEY", "testing/+")
    config = {
        "endpoint": relay.url,
        "bucket": bucket.rpartition("/")[2],
        "region": "us-east-1",
        "name": "orders/{digest}.json",
        "access_key_env": "LANDED_SECRET_S3_ID",
        "secret_key_env": "LANDED_SECRET_S3_KEY",
        **REACH,
    }

    def count(identity: Identity) -> int:
        kept = s3_backends[ACCOUNT]["aws"].buckets[str(config["bucket"])].keys
        return int(object_name(identity, config) in kept)

    def lose_next(when: str) -> None:
        relay.set_mode(MODES[when], times=1)

    return Rig("s3_put", config, PAYLOAD, count, lose_next, unique=True)


def postgres_rig(stack: ExitStack) -> Rig:
    """Put a relay in front of a real PostgreSQL with a table whose key is unique."""
    owner = stack.enter_context(roles.connect(settings.DB_OWNER))
    schema = f"rig_{uuid.uuid4().hex}"
    table = sql.Identifier(schema, "payments")
    owner.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    stack.callback(owner.execute, sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))
    owner.execute(
        sql.SQL(
            "CREATE TABLE {} (landed_key text PRIMARY KEY, amount numeric, currency text,"
            " more json)"
        ).format(table)
    )
    login = settings.DB_OWNER
    upstream = f"postgresql://{login['HOST'] or '127.0.0.1'}:{login['PORT'] or 5432}"
    relay = stack.enter_context(running(TcpRelay(("127.0.0.1", 0), upstream)))
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("LANDED_SECRET_PG", login["PASSWORD"])
    config = {
        "host": "127.0.0.1",
        "port": relay.server_address[1],
        "database": login["NAME"],
        "user": login["USER"],
        "password_env": "LANDED_SECRET_PG",
        "security": "none",
        "table": f"{schema}.payments",
        "key_column": "landed_key",
        **REACH,
    }

    def count(identity: Identity) -> int:
        query = sql.SQL("SELECT count(*) FROM {} WHERE landed_key = %s").format(table)
        found = owner.execute(query, [identity.provider_key]).fetchone()
        return int(found[0]) if found else 0

    def lose_next(when: str) -> None:
        relay.arm(CUTS[when], within=b"INSERT")

    return Rig("postgres_row", config, PAYLOAD, count, lose_next, unique=True)


class Woken(LoopbackServer):
    """n8n with one active workflow, whose first node claims the event it was sent."""

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        """Begin with nothing claimed."""
        self.wakes: Counter[str] = Counter()
        self.last_node = False
        super().__init__(address, _WokenHandler)


class _WokenHandler(Handler):
    server: Woken

    @override
    def respond(self, body: bytes) -> None:
        """Answer as n8n's webhook node does."""
        if self.path != "/webhook/paid":
            text = f'The requested webhook "{self.path}" is not registered.'
            self.answer(HTTPStatus.NOT_FOUND, {"code": 404, "message": text})
            return
        key = self.headers["Idempotency-Key"]
        self.server.wakes[key] += 1
        if self.server.last_node and self.server.wakes[key] > 1:
            text = "No item to return was found"
            self.answer(HTTPStatus.INTERNAL_SERVER_ERROR, {"code": 0, "message": text})
            return
        self.answer(HTTPStatus.OK, {"message": "Workflow was started"})


def n8n_rig(stack: ExitStack) -> Rig:
    """Put a relay in front of a workflow that claims; its claims are the effects."""
    woken = stack.enter_context(running(Woken()))
    relay = stack.enter_context(running(Relay(("127.0.0.1", 0), woken.url)))

    def count(identity: Identity) -> int:
        return int(header_value(identity.provider_key) in woken.wakes)

    return Rig(
        "n8n_webhook",
        {"url": f"{relay.url}/webhook/paid", **REACH},
        PAYLOAD,
        count,
        lambda when: relay.set_mode(MODES[when], times=1),
        unique=True,
        asks=False,
        tells=False,
    )
