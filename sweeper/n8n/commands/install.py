"""`manage.py n8n install NAME…`: shipped workflows into a running n8n, registered in the ledger."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sweeper.n8n import instances, needs, templates
from sweeper.n8n.api import Api, ApiError
from sweeper.n8n.commands import export
from sweeper.n8n.engine.home import Home

if TYPE_CHECKING:
    from sweeper.n8n.install import Installer

SCOPES = "workflow:create, :read, :list, :update and :activate, credential:create and :list"
"""What n8n wants an API key to have for all that is done here."""

HELP = "put shipped workflows into n8n and register them; again: bring them up to date"


def add_arguments(parser: ArgumentParser) -> None:
    """Say which, where, and how far to go."""
    parser.add_argument("names", nargs="+", metavar="NAME", help=", ".join(templates.names()))
    parser.add_argument("--instance", default=instances.OWN, help="a name of LANDED_N8N")
    parser.add_argument("--provider", help="whom new effects are sent to (default: an example)")
    parser.add_argument("--activate", action="store_true", help="and let them run")
    parser.add_argument(
        "--replace", action="store_true", help="overwrite a workflow that was changed in n8n"
    )
    export.places(parser)


def run(say: Callable[[str], None], options: dict[str, Any]) -> None:
    """Install them."""
    with needs.parsers():
        from sweeper.n8n.install import Installer, InstallError  # noqa: PLC0415 (an optional group)
    addresses = templates.Addresses.known(options["console"], options["receiver"])
    installer = Installer(
        Api(_instance(options["instance"])),
        addresses.receiver,
        provider=options["provider"],
        replace=options["replace"],
    )
    try:
        _install_all(say, installer, addresses, options)
    except ApiError as error:
        if error.status != 403:
            raise
        place = installer.api.instance.key_place
        raise InstallError(f"n8n refuses the API key in {place}; it needs {SCOPES}.") from error


def _install_all(
    say: Callable[[str], None],
    installer: "Installer",
    addresses: templates.Addresses,
    options: dict[str, Any],
) -> None:
    """Install the error workflow first where there is none, for the others name its id."""
    wanted = templates.chosen(options["names"])
    there = None if templates.ERRORS in wanted else installer.find(templates.ERRORS)
    if there is None:
        wanted = [templates.ERRORS, *(each for each in wanted if each != templates.ERRORS)]
    errors = there["id"] if there else ""
    for name in wanted:
        document = templates.document(name, addresses)
        if "errorWorkflow" in document["settings"]:
            document["settings"]["errorWorkflow"] = errors
        installed = _install(say, installer, document, activate=options["activate"])
        errors = errors or installed


def _instance(name: str) -> instances.Instance:
    known = instances.known()
    if name not in known:
        raise instances.InstanceError(
            f"No n8n is known as {name}: name it in LANDED_N8N (docs/operations.md), or start one "
            "with manage.py n8n up."
        )
    found = known[name]
    return Home.of_this_installation().setup(found.url) if found.key_file else found


def _install(
    say: Callable[[str], None], installer: "Installer", document: dict[str, Any], *, activate: bool
) -> str:
    """Install one, tell of it, and return its id."""
    done = installer.install(document)
    say(f"{done.name}: {done.became}, {installer.page(done.id)}")
    for each in done.missing:
        say(f"  still to do: {each}")
    if activate and not done.missing:
        installer.api.activate({**document, "id": done.id})
        say("  it runs")
    return done.id
