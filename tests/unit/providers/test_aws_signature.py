"""The signature, against AWS's own library."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from botocore import auth, awsrequest, credentials
from hypothesis import given
from hypothesis import strategies as st

from sweeper.providers.aws_signature import signed_headers

NOW = datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC)
TEXT = st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1)


def theirs(
    method: str, url: str, headers: dict[str, str], body: bytes, secret: str, region: str
) -> str:
    """Return the Authorization header botocore makes of the same call at the same time."""
    call = awsrequest.AWSRequest(method=method, url=url, headers=headers, data=body)
    signer = auth.S3SigV4Auth(credentials.Credentials("AKIDEXAMPLE", secret), "s3", region)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "get_current_datetime", lambda **_: NOW)
        signer.add_auth(call)
    return str(call.headers["Authorization"])


@given(
    name=st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()),
    secret=TEXT,
    body=st.binary(max_size=50),
    value=TEXT,
)
def test_it_is_the_signature_aws_expects(name: str, secret: str, body: bytes, value: str) -> None:
    """Any name of an object, any key, any body, any value of a header."""
    url = f"https://s3.eu-central-1.amazonaws.com/bucket/{quote(name)}"
    headers = {"If-None-Match": "*", "x-amz-meta-landed-sha256": value}
    more: dict[str, Any] = {"access_key": "AKIDEXAMPLE", "secret_key": secret}
    ours = signed_headers("PUT", url, headers, body, region="eu-central-1", now=NOW, **more)
    digest = {"x-amz-content-sha256": ours["x-amz-content-sha256"]}
    assert ours["x-amz-date"] == "20261130T120005Z"
    assert ours["Authorization"] == theirs(
        "PUT", url, headers | digest, body, secret, "eu-central-1"
    )
