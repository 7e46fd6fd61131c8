"""Processes that must not outlive the one that started them.

Lives here: asking the kernel to end a child with its parent. Must not live here: which processes
there are (the supervisor and the worker know theirs).
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with_parent(by: signal.Signals = signal.SIGKILL, parent: int | None = None) -> None:
    """Let this process be signalled when its parent dies, however it died.

    Call it in the child. Given the parent's pid, a parent that died before the call counts too.
    Systems other than Linux have no such thing; there a killed parent leaves its children behind.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), by)
