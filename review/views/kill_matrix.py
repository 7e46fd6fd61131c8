"""The last kill matrix: what was killed, what was counted, and whether it still speaks of today.

It is read from the file the command wrote; nothing is run here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET

from ledger.models import AuditEvent
from review.language import _, later
from review.views.frame import render, viewers
from sweeper import last_matrix


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person has to know first; ``tone`` is its colour."""

    tone: str
    headline: str
    why: tuple[str, ...] = ()


@require_GET
@viewers
def kill_matrix(request: HttpRequest) -> HttpResponse:
    """Show the last run."""
    report = last_matrix.read()
    ran_at = parse_datetime(str(report.get("ran_at"))) if report else None
    if report is None or ran_at is None:
        verdict = Verdict("bad", _("No kill matrix has been run here"), (RUN_IT,))
        return render(request, TEMPLATE, {"title": _("Kill matrix"), "verdict": verdict})
    context = {
        "title": _("Kill matrix"),
        "verdict": judge(report, ran_at),
        "report": report,
        "ran_at": ran_at,
        "cells": report.get("cells", []),
    }
    return render(request, TEMPLATE, context)


TEMPLATE = "review/kill_matrix.html"
RUN_IT = later("Run python3 manage.py killmatrix: it takes about a minute and touches no ledger.")


def judge(report: Mapping[str, Any], ran_at: datetime) -> Verdict:
    """Say whether the run was green, and whether what it proved is what runs now."""
    why = [str(problem) for problem in report.get("problems", [])]
    if report.get("code") != last_matrix.code():
        why.append(f"{_('The code that recovers has changed since.')} {RUN_IT}")
    if workflow := _deployed_since(ran_at):
        told = _("The workflow {workflow} was deployed since.").format(workflow=workflow)
        why.append(f"{told} {RUN_IT}")
    if not report.get("whole", True):
        why.append(f"{_('Only a part of the classes was run.')} {RUN_IT}")
    if not report.get("ok"):
        return Verdict("bad", _("The last kill matrix is red"), tuple(why))
    if why:
        return Verdict(
            "bad", _("The last kill matrix was as expected, and is out of date"), tuple(why)
        )
    return Verdict("ok", _("The last kill matrix is as expected"))


def _deployed_since(ran_at: datetime) -> str | None:
    """Return a workflow that was deployed after the run, None where there is none."""
    deploys = AuditEvent.objects.filter(op="apply_deploy", outcome="won", at__gt=ran_at)
    key = deploys.order_by().values_list("key", flat=True).first()
    return key.removeprefix("workflow:") if key else None
