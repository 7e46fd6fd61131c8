"""Access tokens for providers that want a short-lived one: fetched, kept in memory, renewed.

Configuration: ``oauth`` (url, grant, client_id_env, client_secret_env, refresh_token_env, scope).
A call that gets no token has sent nothing: every failure here says so.
"""

import threading
import time
from collections.abc import Mapping
from urllib.parse import urlencode

import orjson

from sweeper.errors import LookupInconclusiveError, ProviderRejectedError, ProviderUnavailableError
from sweeper.providers.base import Config, secret, setting, timeout
from sweeper.transport import Limits, request

GRANTS = ("client_credentials", "refresh_token")

# Every setting and its type.
OAUTH: Mapping[str, type] = {
    "url": str,
    "grant": str,
    "client_id_env": str,
    "client_secret_env": str,
    "refresh_token_env": str,
    "scope": str,
}

# A token is not used in its last minute: the call it is for may take that long.
EARLY_SECONDS = 60
# What a provider that names no lifetime gets.
UNNAMED_SECONDS = 300

_kept: dict[bytes, tuple[float, str]] = {}
_lock = threading.Lock()


def token(config: Config) -> str:
    """Return a token that holds for at least a minute."""
    fields = _fields(setting(config, "oauth", dict))
    name = _name(config, fields)
    with _lock:
        until, kept = _kept.get(name, (0.0, ""))
    if time.monotonic() >= until:
        # Not under the lock: a slow token server holds up its own callers only.
        kept, seconds = _fetch(config, fields)
        with _lock:
            _kept[name] = (time.monotonic() + seconds - EARLY_SECONDS, kept)
    return kept


def forget(config: Config) -> None:
    """Drop a token the provider did not take."""
    if "oauth" in config:
        with _lock:
            _kept.pop(_name(config, _fields(setting(config, "oauth", dict))), None)


def _name(config: Config, fields: Mapping[str, str]) -> bytes:
    section = setting(config, "oauth", dict)
    return orjson.dumps([setting(section, "url", str), fields], option=orjson.OPT_SORT_KEYS)


def _fields(section: Config) -> dict[str, str]:
    grant = setting(section, "grant", str, "refresh_token")
    if grant not in GRANTS:
        raise ProviderRejectedError(f"oauth.grant is one of {', '.join(GRANTS)}")
    fields = {
        "grant_type": grant,
        "client_id": secret(setting(section, "client_id_env", str)),
        "client_secret": secret(setting(section, "client_secret_env", str)),
    }
    if grant == "refresh_token":
        fields["refresh_token"] = secret(setting(section, "refresh_token_env", str))
    if scope := setting(section, "scope", str, ""):
        fields["scope"] = scope
    return fields


def _fetch(config: Config, fields: Mapping[str, str]) -> tuple[str, float]:
    url = setting(setting(config, "oauth", dict), "url", str)
    try:
        answer = request(
            "POST",
            url,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            body=urlencode(fields).encode("ascii"),
            allow_private=setting(config, "allow_private", list, []),
            limits=Limits(seconds=timeout(config), max_bytes=65_536),
        )
        document = orjson.loads(answer.whole_body())
    except (ProviderUnavailableError, LookupInconclusiveError, orjson.JSONDecodeError) as error:
        raise ProviderUnavailableError(f"no access token: {error}", sent=False) from error
    access = document.get("access_token") if isinstance(document, dict) else None
    if answer.status != 200 or not isinstance(access, str):
        # The body may repeat what was sent, so it is not shown.
        raise ProviderUnavailableError(
            f"no access token: {url} answered {answer.status}", sent=False
        )
    seconds = document.get("expires_in")
    return access, float(seconds) if isinstance(seconds, int) else UNNAMED_SECONDS
