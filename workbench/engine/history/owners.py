"""Which process a run belongs to, so that runs of a dead one can be told from runs that are under way."""

from __future__ import annotations

import os
import socket
import sys
import uuid
from functools import cache


def owner_of_this_process() -> str:
    """Return the name under which this process owns the runs that it begins."""
    return _owner_name(os.getpid())  # a forked process is another owner than the one it came from


@cache
def _owner_name(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{uuid.uuid4().hex}"


def owner_lives(owner: str) -> bool:
    """Tell whether the process that began a run may still be at it."""
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    if owner == owner_of_this_process():
        return True
    if host != socket.gethostname():
        return True  # another machine shares the disk; it marks its own runs
    try:
        pid = int(rest)
    except ValueError:
        return False
    if pid == os.getpid():
        return False  # the number was used again, by this process
    if sys.platform == "win32":
        return True  # there, signal 0 would interrupt the process that is asked about
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
