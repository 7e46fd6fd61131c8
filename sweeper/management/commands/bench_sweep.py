"""`manage.py bench_sweep`: drain expired claims beside many jobs, with real look-ups.

Works in a database of its own, which it drops, and asks a provider of its own on 127.0.0.1.
"""

from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass
from statistics import median, quantiles
from time import monotonic, sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count

from ledger.bench import database as db
from ledger.bench.measure import Goal, NotLocalError, cost
from ledger.bench.scale import EXPIRED, heartbeats, look
from ledger.catalog import GOOD
from ledger.models import Job
from ledger.operations.base import Answer
from ledger.operations.registrations import add_key_spec, save_effect, save_provider
from sweeper.classes import ProviderClass
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import running
from sweeper.sweep import run_once

WHO: dict[str, Any] = {"actor": "command:bench_sweep", "reason": "a measurement"}
FULL, EXPIRED_ROWS = 10_000_000, 100_000
LOOKS, QUIET_SECONDS = 200, 5
MOST_PASSES, PAUSE_SECONDS = 1_000, 1


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of expired claims: how many of a hundred, and where each must end."""

    name: str
    class_: ProviderClass
    share: int
    marked: bool
    ends: str
    found: bool = False


KINDS = (
    Kind("not-sent", ProviderClass.FORCED_UNIQUE, 60, marked=False, ends="queued"),
    Kind("same-key", ProviderClass.FORCED_UNIQUE, 20, marked=True, ends="queued"),
    Kind("found", ProviderClass.ADVISORY_HANDLE, 5, marked=True, ends="done", found=True),
    Kind("absent", ProviderClass.ADVISORY_HANDLE, 5, marked=True, ends="review"),
    Kind("blind", ProviderClass.ADVISORY_BLIND, 10, marked=True, ends="review"),
)


class Command(BaseCommand):
    """Print what a drain costs and whom it keeps waiting; end with 1 when a row ends wrongly."""

    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take how much there is of everything."""
        parser.add_argument("--rows", type=int, default=FULL, help="finished jobs beside")
        parser.add_argument("--expired", type=int, default=EXPIRED_ROWS)

    def handle(self, *_args: Any, rows: int, expired: int, **_options: Any) -> None:
        """Fill, sweep until nothing is left, and print the goals."""
        if rows < 1 or expired < 100:
            raise CommandError("--rows is at least 1, --expired at least 100")
        try:
            with db.database() as name, running(MockProvider(("127.0.0.1", 0))) as provider:
                self._fill(name, rows, expired, provider)
                self._measure(name, rows, expired)
                if sends := provider.effects.counts()["charges"]["total"]:
                    raise CommandError(f"the sweeper sent {sends} times; it never sends")
        except NotLocalError as error:
            raise CommandError(str(error)) from error

    def _fill(self, name: str, rows: int, expired: int, provider: MockProvider) -> None:
        for kind in KINDS:
            _register(kind, provider.url)
        with db.owner(name) as session:
            self._say(f"filling in {rows:,} finished jobs and {expired:,} expired claims")
            db.fill(session, "done", rows)
            for kind in KINDS:
                db.fill(
                    session,
                    "claimed",
                    expired * kind.share // 100,
                    mark=f"{kind.name}-",
                    age=EXPIRED,
                    effect=kind.name,
                    marked=kind.marked,
                )
            db.settle(session)
        found = Job.objects.filter(effect__in=[kind.name for kind in KINDS if kind.found])
        for handle in found.values_list("handle", flat=True).iterator():
            provider.effects.effect("mail", str(handle), {"message_id": handle})

    def _measure(self, name: str, rows: int, expired: int) -> None:
        with heartbeats(name) as waits:
            sleep(QUIET_SECONDS)
            quiet = quantiles(waits, n=100)[98]
            waits.clear()
            started, looked_up = monotonic(), self._drain()
            took = monotonic() - started
            busy, usual = quantiles(waits, n=100)[98], median(waits)
        with db.app(name) as session:
            look_us = cost(session, look(session), range(LOOKS))
        beside = f"beside {rows:,} jobs"
        for goal in (
            Goal("P9", f"sweep's look {beside}", look_us / 1000, most=1, unit="ms"),
            Goal(
                "P9",
                f"p99 of a heartbeat while {expired:,} expired claims are decided",
                busy,
                most=10,
                unit="ms",
                spread=f"median {usual:.1f} ms; p99 without a sweep {quiet:.1f} ms",
                reason="client, server, sweep and provider share the cores of one machine",
            ),
        ):
            self._say(str(goal))
        self._say(
            f"{expired:,} decided in {took:.0f} s, {expired / took:.0f} a second, by one sweeper;"
            f" {looked_up:,} of them looked up at their provider"
        )
        self._judge(expired)

    def _drain(self) -> int:
        """Sweep until nothing is held any more; return how many were looked up.

        What a pass took and had no time for is due again when its hold of it ends.
        """
        counts: Counter[str] = Counter()
        for _ in range(MOST_PASSES):
            ended = run_once()
            if ended.report is None:
                raise CommandError(f"a sweep did not come to its end: {ended.outcome}")
            if not ended.report.taken:
                if not Job.objects.filter(state="sweeping").exists():
                    return counts["looked_up"]
                sleep(PAUSE_SECONDS)
                continue
            looked_up = ended.report.found + ended.report.absent
            counts.update({"decided": ended.report.taken, "looked_up": looked_up})
            self._say(f"  {counts['decided']:,} taken so far")
        raise CommandError(f"something is still held after {MOST_PASSES} passes")

    def _judge(self, expired: int) -> None:
        """Compare where each kind ended with where it must end."""
        for kind in KINDS:
            ends = dict(
                Job.objects.filter(effect=kind.name)
                .values_list("state")
                .annotate(n=Count("id"))
                .order_by()
            )
            self._say(f"  {kind.name:<9} {kind.class_:<16} {ends}")
            if ends != {kind.ends: expired * kind.share // 100}:
                raise CommandError(f"{kind.name} must end as {kind.ends}, all of them: {ends}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _register(kind: Kind, url: str) -> None:
    """Register a provider and an effect for one kind."""
    forced = kind.class_ is ProviderClass.FORCED_UNIQUE
    config: dict[str, Any] = {"allow_private": ["127.0.0.1"]}
    if forced:
        config |= {"send": {"url": f"{url}/charges"}}
    else:
        config |= {"url": f"{url}/mail"}
    if kind.class_ is ProviderClass.ADVISORY_HANDLE:
        config |= {"log_url": f"{url}/mail?message_id={{handle}}"}
    _expect(
        save_provider(
            **WHO,
            name=kind.name,
            class_=kind.class_.value,
            settle_seconds=0,
            lookup_adapter="http_key" if forced else "webhook",
            lookup_config=config,
            key_unlimited=True if forced else None,
            lookup_by_reference=False if forced else None,
        )
    )
    effect: dict[str, Any] = {"name": kind.name, "workflow": db.WORKFLOW, "provider": kind.name}
    _expect(save_effect(**WHO, **effect, delivery="workflow_queue"))
    _expect(add_key_spec(**WHO, effect=kind.name, fields=["id"]))


def _expect(answer: Answer) -> None:
    if answer.outcome not in GOOD:
        raise CommandError(f"the measurement could not be prepared: {answer}")
