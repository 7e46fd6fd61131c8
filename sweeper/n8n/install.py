"""Putting a shipped workflow into an n8n and registering it in the ledger, as often as one likes.

The order: judge it, give it what it needs in the ledger (workflow, provider, effects, a token of
its own), write it into n8n, read it back, and register what was read. What n8n holds is known by
that: a workflow of the same name that is not what was deployed last was changed by somebody, and is
left alone unless that is said. Files and words are for the command.
"""

import getpass
import json
from dataclasses import dataclass, field
from typing import Any

from ledger.catalog import GOOD
from ledger.models import Effect, KeySpec, Provider, Workflow, WorkflowDeploy
from ledger.models import Target as Registered
from ledger.operations.base import Answer
from ledger.operations.registrations import add_key_spec, save_effect, save_provider
from ledger.operations.tokens import issue_token
from sweeper import deploy, profiles
from sweeper.errors import SweeperError
from sweeper.n8n import uses
from sweeper.n8n.api import Api
from sweeper.n8n.doors import HTTP_DOOR, HTTP_TYPE
from sweeper.n8n.lint.export import fingerprint
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.report import FORMATS

PROVIDER = "example-receiver"
"""Whom effects without a provider go to: what the templates send to until that is changed."""
REASON = "installed from the shipped workflows"
# What n8n takes when a workflow is written; it refuses what else an export may have.
_WRITTEN = ("name", "nodes", "connections", "settings")


class InstallError(SweeperError):
    """A workflow that was not installed; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What became of one workflow; ``missing`` is what a person still has to do."""

    name: str
    id: str
    became: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installer:
    """Installs into one n8n."""

    api: Api
    receiver: str
    provider: str | None = None
    replace: bool = False
    who: dict[str, Any] = field(
        default_factory=lambda: {"actor": f"command:{getpass.getuser()}", "reason": REASON}
    )

    def install(self, document: dict[str, Any]) -> Installed:
        """Install one workflow and register it; nothing is activated."""
        name = document["name"]
        there = self.find(name)
        if there is not None and not (self.replace or _is_ours(name, there, document)):
            raise InstallError(
                f"{name} is in n8n already ({self.page(there['id'])}) and is not what was deployed "
                "from here: somebody changed it, or it is another workflow of that name. Rename "
                "it there, or overwrite it with --replace."
            )
        plan, flow = _judged(document)
        if not Workflow.objects.filter(pk=name).exists():
            self._deploy(plan, None)
        self._effects(flow)
        missing, made = self._credentials(document, flow)
        written, became = self._write(document, there, anew=made)
        self._deploy(_judged(written)[0], written["id"])
        return Installed(name, written["id"], became, (*missing, *_targets(flow)))

    def find(self, name: str) -> dict[str, Any] | None:
        """Return the workflow of this name in n8n."""
        found = [w for w in self.api.every("workflows", name=name) if w["name"] == name]
        found = [each for each in found if not each.get("isArchived")]
        if len(found) > 1:
            raise InstallError(f"n8n has {len(found)} workflows called {name}; rename all but one.")
        return found[0] if found else None

    def page(self, workflow_id: str) -> str:
        """Return the address of a workflow's page in n8n."""
        return f"{self.api.instance.url}/workflow/{workflow_id}"

    def _write(
        self, document: dict[str, Any], there: dict[str, Any] | None, *, anew: bool
    ) -> tuple[dict[str, Any], str]:
        """Write what differs; ``anew`` in any case, for n8n looks up credentials only then."""
        body = {key: document[key] for key in _WRITTEN}
        if there is None:
            made: dict[str, Any] = self.api.call("POST", "workflows", body)
            return made, "installed"
        same = fingerprint(there) == fingerprint(document)
        if same and not anew and _has_credentials(there):
            return there, "as it was"
        written: dict[str, Any] = self.api.call("PUT", f"workflows/{there['id']}", body)
        return written, "updated"

    def _deploy(self, plan: deploy.Plan, workflow_id: str | None) -> None:
        """Register a version, named by what it is: the same export is the same version."""
        version = plan.sha256[:12]
        before = Workflow.objects.filter(pk=plan.workflow).exclude(active_version=version)
        anchor = "carry" if before.exists() else "seed"
        act = deploy.Act(
            version=version,
            anchor={"kind": anchor},
            n8n_workflow_id=workflow_id,
            editor_url=self.page(workflow_id) if workflow_id else None,
            **self.who,
        )
        _expect(f"the workflow {plan.workflow}", deploy.apply(plan, act))

    def _effects(self, flow: Flow) -> None:
        """Register the effects that are not there, at the provider that was named or an example."""
        for used in uses.effects(flow):
            known = Effect.objects.filter(pk=used.name).first()
            if known is not None and known.workflow_id != flow.called:
                raise InstallError(
                    f"The effect {used.name} belongs to {known.workflow_id}; give the one of "
                    f"{flow.called} another name."
                )
            if known is None:
                provider = self.provider or self._example()
                saved = save_effect(
                    **self.who, name=used.name, workflow=flow.called, provider=provider
                )
                _expect(f"the effect {used.name}", saved)
            if used.key_fields and not KeySpec.objects.filter(effect=used.name).exists():
                spec = add_key_spec(**self.who, effect=used.name, fields=list(used.key_fields))
                _expect(f"the key of {used.name}", spec)

    def _example(self) -> str:
        """Return the provider of the examples, registered as what it is: one nobody can ask."""
        if not Provider.objects.filter(pk=PROVIDER).exists():
            given = {
                "url": f"{self.receiver}/hook",
                "allow_private": [self.receiver.split("//", 1)[-1]],
            }
            row = profiles.read("webhook").filled(given).row()
            _expect(f"the provider {PROVIDER}", save_provider(**self.who, name=PROVIDER, **row))
        return PROVIDER

    def _credentials(self, document: dict[str, Any], flow: Flow) -> tuple[list[str], bool]:
        """Make its own credential for HTTP; say what is missing, and whether one was made."""
        there = {(each["type"], each["name"]) for each in self.api.every("credentials")}
        own = (HTTP_TYPE, f"{HTTP_DOOR}: {flow.called}")
        missing, made = [], False
        for kind, name in uses.credentials(document):
            if (kind, name) in there:
                continue
            if (kind, name) != own:
                missing.append(f"make the credential {name!r} ({kind}) in n8n")
                continue
            issued = issue_token(
                **self.who, workflow=flow.called, scopes=uses.scopes(flow), note=f"in n8n: {name}"
            )
            _expect(f"the token of {flow.called}", issued.answer)
            header = {"name": "Authorization", "value": f"Bearer {issued.token}"}
            self.api.call("POST", "credentials", {"name": name, "type": kind, "data": header})
            made = True
        return missing, made


def _has_credentials(there: dict[str, Any]) -> bool:
    """Whether n8n found every credential when the workflow was written."""
    named = [each for node in there["nodes"] for each in node.get("credentials", {}).values()]
    return all(each.get("id") for each in named)


def _is_ours(name: str, there: dict[str, Any], document: dict[str, Any]) -> bool:
    """Whether a workflow in n8n is what was deployed last, or what is to be installed now."""
    deployed = WorkflowDeploy.objects.filter(workflow=name).order_by("-id").first()
    known = {fingerprint(document), *([deployed.export_sha256] if deployed else [])}
    return fingerprint(there) in known


def _judged(document: dict[str, Any]) -> tuple[deploy.Plan, Flow]:
    """Check a workflow by every rule with the registry beside it, or refuse it."""
    name = document["name"]
    checked = deploy.check({f"{name}.json": json.dumps(document)}, ())
    wrong = [each for each in checked.findings if each.suppressed is None]
    if wrong:
        raise InstallError(f"{name} is not installed:\n{FORMATS['text'](wrong, 1)}")
    known = deploy.registry(frozenset(), None)
    return checked.plans[0], Flow(checked.files[0].workflows[0], known)


def _targets(flow: Flow) -> list[str]:
    """Say which targets are not registered."""
    named = uses.targets(flow)
    there = set(Registered.objects.filter(name__in=named).values_list("name", flat=True))
    return [
        f"register the target {name!r} (manage.py register_target), then install once more"
        for name in named
        if name not in there
    ]


def _expect(what: str, answer: Answer) -> None:
    """Turn a refusal of the ledger into the error of an install."""
    if answer.outcome not in GOOD:
        detail = getattr(answer, "detail", None) or {}
        raise InstallError(
            f"The ledger refused {what} ({answer.outcome}): {detail.get('hint', detail)}"
        )
