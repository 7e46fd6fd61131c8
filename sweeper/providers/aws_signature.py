"""AWS Signature Version 4 for a call with its whole body in memory; nothing but hashing."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    access_key: str,
    secret_key: str,
    region: str,
    now: datetime,
    service: str = "s3",
) -> dict[str, str]:
    """Return the headers with the time, the body's digest and the signature over all of them.

    The URL has no query and its path is percent-encoded once, as S3 signs it.
    """
    parts = urlsplit(url)
    digest = hashlib.sha256(body).hexdigest()
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    complete = {**headers, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    canonical = {name.lower(): " ".join(value.split()) for name, value in complete.items()}
    canonical["host"] = parts.netloc
    names = ";".join(sorted(canonical))
    lines = "".join(f"{name}:{canonical[name]}\n" for name in sorted(canonical))
    call = "\n".join([method, parts.path or "/", "", lines, names, digest])
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    text = "\n".join([ALGORITHM, stamp, scope, hashlib.sha256(call.encode()).hexdigest()])
    key = f"AWS4{secret_key}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    credential = f"Credential={access_key}/{scope}"
    complete["Authorization"] = (
        f"{ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
    )
    return complete
