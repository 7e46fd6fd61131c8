"""A workflow's own worker, as a process of its own: `python -m sweeper.killmatrix.workflow`.

It sends as the native worker does, but under the name of the matrix' workflow: the ledger cannot
know that a workflow marks before it sends, and treats its claims accordingly.
"""

import argparse
import os
import signal
import threading

import django


def main() -> None:
    """Work the queue of the workflow's effects until told to stop, or until it is empty."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--until-idle", action="store_true")
    parser.add_argument("--effect")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "review.settings")
    django.setup()

    from sweeper import work  # noqa: PLC0415 - the models are ready only now
    from sweeper.killmatrix.stage import SHOP  # noqa: PLC0415

    if options.until_idle:
        while work.work_once(options.effect, SHOP) is not work.Ended.IDLE:
            pass
        return
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    work.run(stop, options.effect, SHOP)


if __name__ == "__main__":
    main()
