"""Small workflows with the findings they must give, no more and no fewer.

Every rule has its own pair of examples; these are the forms that real exports have beside them: the
other door, older node versions, other branches, loops, merges, sub-workflows.
"""

from tests.support.lint import gates, keys, sends, whole, writes
from tests.support.lint.parts import Label

LABELS: list[Label] = [
    *keys.LABELS,
    *gates.LABELS,
    *sends.LABELS,
    *writes.LABELS,
    *whole.LABELS,
]
