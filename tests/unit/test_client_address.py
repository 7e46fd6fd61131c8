"""Where a request comes from: a header counts only behind a proxy that was named."""

from ipaddress import ip_network

import pytest
from django.test import RequestFactory

from review.access.address import client_address, counted_address

PROXY, INNER = "10.0.0.1", "10.0.0.2"


@pytest.mark.parametrize(
    ("peer", "header", "seen"),
    [
        (PROXY, "203.0.113.5", "203.0.113.5"),
        (PROXY, f"203.0.113.5, {INNER}", "203.0.113.5"),
        # The client wrote the left part itself.
        (PROXY, "127.0.0.1, 203.0.113.5", "203.0.113.5"),
        (PROXY, f"198.51.100.1, 203.0.113.5, {INNER}", "203.0.113.5"),
        # Past the proxy: nothing in the header counts.
        ("203.0.113.9", "127.0.0.1", "203.0.113.9"),
        ("203.0.113.9", f"127.0.0.1, {INNER}", "203.0.113.9"),
        # Only proxies are known, or nothing that can be read: nobody's address.
        (PROXY, "", None),
        (PROXY, INNER, None),
        (PROXY, "203.0.113.5, unknown", None),
        ("", "203.0.113.5", None),
        (PROXY, "::ffff:203.0.113.5", "203.0.113.5"),
        (PROXY, "fe80::1%eth0", None),
    ],
)
def test_the_header_is_read_from_the_proxy_s_side(settings, peer, header, seen):
    """The right-most address that is no named proxy is who asked."""
    settings.LANDED_PROXIES = [ip_network("10.0.0.0/8")]
    request = RequestFactory().get("/", REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=header)
    assert client_address(request) == seen


@pytest.mark.parametrize(("https", "seen"), [(False, "203.0.113.9"), (True, None)])
def test_without_a_named_proxy_the_header_is_nothing(settings, https, seen):
    """And behind TLS that ends elsewhere the peer is the proxy, which is everybody."""
    settings.LANDED_PROXIES, settings.HTTPS = [], https
    request = RequestFactory().get(
        "/", REMOTE_ADDR="203.0.113.9", HTTP_X_FORWARDED_FOR="198.51.100.1"
    )
    assert client_address(request) == seen


def test_one_subscriber_of_ipv6_is_one_address(settings):
    """They have as many in their network as they like."""
    settings.LANDED_PROXIES = []
    for host in ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"):
        request = RequestFactory().get("/", REMOTE_ADDR=host)
        assert client_address(request) == host
        assert counted_address(request) == "2001:db8:1:2::"
    request = RequestFactory().get("/", REMOTE_ADDR="203.0.113.9")
    assert counted_address(request) == "203.0.113.9"
