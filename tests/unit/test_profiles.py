"""Profiles are data: the gallery is whole and true to itself, a mistake is named by its place."""

import re
import tomllib
from typing import Any

import pytest

from sweeper import profiles
from sweeper.classes import ProviderClass
from sweeper.filled_profile import SAMPLE, ProfileError
from sweeper.profiles import GALLERY
from sweeper.providers import base
from sweeper.providers.http_template import render
from sweeper.providers.template import fill

ASKED_FOR = {
    "stripe", "paypal", "gmail", "outlook", "smtp", "slack", "discord", "telegram", "twilio",
    "sendgrid", "mailgun", "hubspot", "airtable", "notion", "google-sheets", "shopify",
    "woocommerce", "github", "jira", "s3", "postgresql", "webhook", "webhook-log", "n8n-webhook",
    "idempotency-key",
}  # fmt: skip
OUR_OWN = {"webhook", "webhook-log"}
"""Receivers of nobody in particular; what they do is described in our own documents."""

SMALL: dict[str, Any] = tomllib.loads("""
title = "T"
driver = "http_key"
class = "forced_unique"
status = "documented"
sources = ["https://api.test/docs"]
read_on = 2026-11-30
check = ["Look at ${place}."]
key = { in = "header", name = "Idempotency-Key", ttl_seconds = 60 }
settings = { place = { about = "where" } }
config = { send = { url = "https://api.test/" } }
""")


def changed(**parts: Any) -> dict[str, Any]:
    """Return the small profile with some parts changed; None takes one out."""
    return {name: part for name, part in (SMALL | parts).items() if part is not None}


def test_the_gallery_has_what_people_send_to_most() -> None:
    """Every service is one file."""
    assert set(profiles.names()) >= ASKED_FOR


@pytest.mark.parametrize("name", profiles.names())
def test_a_profile_is_whole_and_agrees_with_itself(name: str) -> None:
    """It loads, its driver takes it, its class follows from what it declares, it cites a page."""
    profile = profiles.read(name).example()
    row = profile.row()
    assert profile.data["status"] in ("verified", "documented")
    assert row["class_"] in set(ProviderClass)
    assert row["profile"]["read_on"] >= "2026-11-30"
    cited = [source for source in profile.data["sources"] if source.startswith("https://")]
    assert cited or name in OUR_OWN
    if row["class_"] == ProviderClass.FORCED_UNIQUE:
        assert cited
        assert bool(row["key_ttl_seconds"]) != row["key_unlimited"]
        assert row["lookup_by_reference"] == profile.looks_up
    else:
        assert (row["key_ttl_seconds"], row["key_unlimited"]) == (None, False)
        assert (row["class_"] == ProviderClass.ADVISORY_HANDLE) == profile.looks_up
        assert not row["lookup_by_reference"]
    told = "verified" if "Tried on" in profile.data["notes"] else "documented"
    assert profile.data["status"] == told


@pytest.mark.parametrize("name", profiles.names())
def test_a_look_up_names_the_very_effect(name: str) -> None:
    """What is compared, and what a person is told, differs from effect to effect."""
    profile = profiles.read(name).example()
    section = profile.config.get("look_up")
    texts = [fill(text, SAMPLE) for text in profile.data["check"]]
    assert not any(re.search(r"[{}]", text) for text in texts), texts
    if section is None:
        return
    wanted = fill(section.get("equals", "{provider_key}"), SAMPLE)
    other = base.Identity("job-2", "charge:order 2:v1", "<99@landed>")
    assert wanted != fill(section.get("equals", "{provider_key}"), other)
    ready = render(section, SAMPLE, method="GET", read_secret=str)
    assert ready.url.startswith("https://")
    assert not re.search(r"[{}<>'\" ]|\$\{", ready.url), ready.url
    carries = ready.url + (ready.body or b"").decode()
    lists = section.get("full") == 100 or "limit=200" in carries or "majorDimension" in carries
    assert lists or re.escape(wanted.strip("<>")) in re.escape(carries.replace("%40", "@"))


@pytest.mark.parametrize("name", profiles.names())
def test_secrets_are_named_and_never_written(name: str) -> None:
    """Where a variable is asked for, only its name under the prefix is kept."""
    text = (GALLERY / f"{name}.toml").read_text()
    for found in re.findall(r"LANDED_\w+", text):
        assert found.startswith(base.VARIABLE_PREFIX)
    profile = profiles.read(name)
    for setting in profile.settings.values():
        assert not setting.about.startswith("the variable") or setting.default.startswith(
            base.VARIABLE_PREFIX
        )


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (changed(titel="T"), "t: titel is unknown; known are title"),
        (changed(title=None), "t: title is missing"),
        (changed(title=1), "t: title must be a str"),
        (changed(read_on="yesterday"), "t: read_on must be a date"),
        (changed(sources=[]), "t: sources is a list of at least one text"),
        (changed(check=[""]), "t: check is a list of at least one text"),
        (changed(status="tried"), "t: status is one of verified, documented, not 'tried'"),
        (changed(**{"class": "unique"}), "t: class is one of forced_unique"),
        (changed(key={"in": "pocket"}), "t: key.in is one of header"),
        (changed(key={"in": "header", "ttl": 1}), "t: key: ttl is unknown"),
        (changed(key={}), "t: key: in is missing"),
        (changed(key={"in": "header", "ttl_seconds": "soon"}), "ttl_seconds must be a int"),
        (changed(key={"in": "header", "unlimited": 1}), "unlimited must be a bool"),
        (changed(row={"settle": 1}), "t: row: settle is unknown"),
        (changed(settings={"place": {}}), "t: settings.place: about is missing"),
        (changed(settings={"place": "here"}), "t: settings.place is a table"),
        (
            changed(settings={"place": {"about": "x", "kind": "number", "default": "1"}}),
            "settings.place is a number, not '1'",
        ),
        (changed(settings={}), r"\$\{place\} is no setting of this profile"),
        (
            changed(settings={"place": {"about": "x"}, "more": {"about": "x"}}),
            "settings.more is used nowhere",
        ),
    ],
)
def test_a_misshapen_profile_is_named_by_its_place(data: dict[str, Any], complaint: str) -> None:
    """Nothing is guessed and nothing is ignored."""
    with pytest.raises(ProfileError, match=complaint):
        profiles.parse("t", data)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (changed(driver="nobody"), "there is no driver 'nobody'"),
        (changed(config={"send": {"uri": "x"}}), "send.uri is no setting"),
        (changed(config={"send": {"url": "https://{nobody}/"}}), "unknown placeholder"),
        (changed(config={"send": {"url": "http://api.test/"}}), "plain http only if allow_private"),
        (changed(config={"send": {"url": "mailto:x"}}), "only http and https"),
        (
            changed(
                config={"send": {"url": "https://a.test/", "headers": {"X": "{env:DATABASE_URL}"}}}
            ),
            "provider secrets are variables named LANDED_SECRET_",
        ),
        (
            changed(
                config={
                    "send": {"url": "https://a.test/"},
                    "oauth": {"client_secret_env": "SECRET_KEY"},
                }
            ),
            "provider secrets are variables named LANDED_SECRET_",
        ),
        (changed(check=["${place} {secret}"]), "unknown placeholder {secret}"),
        (
            changed(key={"in": "header", "name": "Idempotency-Key"}),
            "needs key.ttl_seconds or key.unlimited",
        ),
        (
            changed(key=SMALL["key"] | {"unlimited": True}),
            "exclude each other",
        ),
        (
            changed(**{"class": "advisory_blind"}),
            "only a forced-unique service remembers keys",
        ),
        (
            changed(**{"class": "advisory_handle", "key": {"in": "header", "name": "K"}}),
            "advisory_handle needs a look-up",
        ),
        (
            changed(
                **{"class": "advisory_blind", "key": {"in": "nothing"}},
                config={"look_up": {"url": "https://a.test/", "match": "id"}},
            ),
            "can be asked is not blind",
        ),
        (changed(key=SMALL["key"] | {"name": "X-Key"}), "does not travel in header X-Key"),
        (changed(key=SMALL["key"] | {"value": "{uuid}"}), "does not travel in header"),
        (changed(key=SMALL["key"] | {"in": "body", "name": "k"}), "does not travel in body k"),
        (changed(key=SMALL["key"] | {"in": "nothing"}), "takes its key somewhere"),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(data: dict[str, Any], complaint: str) -> None:
    """A class nobody can vouch for never reaches the ledger."""
    with pytest.raises(ProfileError, match=re.escape(complaint)):
        profiles.parse("t", data).filled({"place": "here"})


def test_settings_are_asked_for_and_put_in() -> None:
    """A missing one is explained, an unknown one is refused, a number stays a number."""
    profile = profiles.read("postgresql")
    with pytest.raises(ProfileError, match="postgresql needs host: the server"):
        profile.filled({})
    with pytest.raises(ProfileError, match="has no setting 'hosts'; it asks for host, port"):
        profile.filled({"hosts": "x"})
    assert profile.settings["port"].read("6432") == 6432
    with pytest.raises(ProfileError, match="port is a whole number"):
        profile.settings["port"].read("many")
    filled = profile.example()
    assert (filled.config["port"], filled.config["table"]) == (5432, "public.invoices")
    assert filled.row()["profile"]["settings"]["port"] == 5432
    assert profiles.read("webhook").settings["allow_private"].read("a, b:1,") == ["a", "b:1"]
    with pytest.raises(ProfileError, match="claims_first is yes: yes, once you have seen"):
        profiles.read("n8n-webhook").settings["claims_first"].read("no")


def test_a_profile_may_be_a_file_of_ones_own(tmp_path: Any) -> None:
    """A service needs no change of this program."""
    mine = tmp_path / "mine.toml"
    mine.write_text((GALLERY / "webhook.toml").read_text().replace("nobody can ask", "of mine"))
    assert profiles.read(str(mine)).example().row()["profile"]["title"] == "A webhook of mine"
    mine.write_text("title = ")
    with pytest.raises(ProfileError, match=r"mine\.toml: "):
        profiles.read(str(mine))
    for name in ("nobody", "../stripe", "", "stripe.toml"):
        with pytest.raises(ProfileError):
            profiles.read(name)
