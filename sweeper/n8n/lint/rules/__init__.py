"""The rules, one a file: each module has ``RULE`` (the words and two examples) and ``check``.

A rule is found by its module being here. It reads a ``Flow`` and yields hits; it reads no other
rule.
"""

import pkgutil
from functools import cache
from importlib import import_module

from sweeper.n8n.lint.findings import Check, Rule


@cache
def all_rules() -> tuple[tuple[Rule, Check], ...]:
    """Return every rule with its check, in the order of their codes."""
    modules = [
        import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)
    ]
    return tuple(sorted(((m.RULE, m.check) for m in modules), key=lambda pair: pair[0].code))
