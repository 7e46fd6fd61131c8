"""Become nobody, then become the command given: PostgreSQL refuses to run as root.

Runs as a script of its own (see pgbin.py), in a user namespace in which this root user is called
nobody, so files stay root's and nothing needs another owner. Must not import anything of ours.
"""

import os
import sys
from pathlib import Path

NOBODY = 65534


def leave_root(command: list[str]) -> None:
    """Replace this process by the command, in the new namespace."""
    user, group = os.geteuid(), os.getegid()
    os.unshare(os.CLONE_NEWUSER)
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")
    os.execvp(command[0], command)


if __name__ == "__main__":
    leave_root(sys.argv[1:])
