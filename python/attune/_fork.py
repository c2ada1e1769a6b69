"""What a child of a fork finds: its one thread is the one that forked, and whatever the others held stays held."""

from __future__ import annotations

import os
import threading
import typing
import weakref

_locks: "weakref.WeakSet[Lock]" = weakref.WeakSet()


class Lock:
    """A lock that a child of a fork finds free, whoever held it in the parent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: typing.Any) -> None:
        self._lock.release()


def _renew() -> None:
    for lock in list(_locks):
        lock._lock = threading.Lock()


os.register_at_fork(after_in_child=_renew)
