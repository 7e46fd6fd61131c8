"""Where a request really comes from; a header is believed only of a proxy that was named."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

type _Address = IPv4Address | IPv6Address
# What one subscriber is given; inside it they have as many addresses as they like.
_SUBSCRIBER = 64


def client_address(request: HttpRequest) -> str | None:
    """Return the address of who asks; None where all that is known is a proxy's.

    X-Forwarded-For is read from its right end, where the proxy nearest to us wrote, past further
    proxies that were named. What stands left of the first other address anybody could have sent.
    """
    peer = _read(request.META.get("REMOTE_ADDR"))
    if peer is None:
        return None
    if not settings.LANDED_PROXIES:
        # Behind TLS that ends elsewhere, everybody comes from the same unnamed proxy.
        return None if settings.HTTPS else str(peer)
    if not _is_proxy(peer):
        return str(peer)
    for word in reversed(request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        each = _read(word)
        if each is None or not _is_proxy(each):
            return str(each) if each else None
    return None


def counted_address(request: HttpRequest) -> str | None:
    """Return what failed log-ins are counted by: of IPv6 the network of one subscriber."""
    text = client_address(request)
    if text is None or ":" not in text:
        return text
    return str(IPv6Network(f"{text}/{_SUBSCRIBER}", strict=False).network_address)


def _read(text: object) -> _Address | None:
    try:
        address = ip_address(str(text or "").strip())
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if isinstance(address, IPv6Address) and address.scope_id:
        return None
    return mapped or address


def _is_proxy(address: _Address) -> bool:
    return any(address in network for network in settings.LANDED_PROXIES)
