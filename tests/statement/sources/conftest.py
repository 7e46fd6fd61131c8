"""A workflow that was built from the articles: its login, and what the audit says of it."""

import pytest

from tests.support.database import Connect
from tests.support.factories import Shop
from tests.support.sources import Articles, Told


@pytest.fixture
def shop(sql_shop: Shop) -> Shop:
    """Give the shop; what the sources' workflows do does not go through its doors."""
    return sql_shop


@pytest.fixture
def articles(shop: Shop, connect: Connect) -> Articles:
    """Log in as a member of the role of the sources' statements."""
    return Articles(connect("articles"))


@pytest.fixture(params=["direct", "pooled"])
def crowd(request: pytest.FixtureRequest, shop: Shop, connect: Connect) -> list[Articles]:
    """Log in several of them, directly and through a pooler."""
    if request.param == "pooled":
        connect = request.getfixturevalue("pooler").connect
    return [Articles(connect("articles")) for _ in range(4)]


@pytest.fixture
def told(shop: Shop) -> Told:
    """Give a way to see what the audit was told since the last look."""

    def look() -> list[tuple[str, str, int]]:
        return [(row["op"], row["outcome"], row["row_count"]) for row in shop.audit.new()]

    shop.audit.skip()
    return look
