"""Where the page of a row is: of what waits under the queue, of what is set up under setup."""

from django.contrib.admin.utils import quote
from django.urls import reverse

from review.setup import SETUP


def item_url(source: str, item_id: object) -> str:
    """Return the address of an item's page."""
    name = "review_setup" if source in SETUP else "review_item"
    return reverse(f"admin:{name}", args=[source, quote(str(item_id))])


def list_url(noun: str, query: str = "") -> str:
    """Return the address of a list."""
    return reverse(f"admin:{list_name(noun)}") + query


def list_name(noun: str) -> str:
    """Return what the address of a list is called."""
    return f"review_list_{noun.replace('-', '_')}"
