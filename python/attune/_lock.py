"""Locks between processes, as files."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import time
import typing

MOST_SECONDS = 600
LONGEST_PAUSE = 0.1

_held: typing.Set[int] = set()  # descriptors of locks, of this process


@contextlib.contextmanager
def locked(path: pathlib.Path) -> typing.Iterator[None]:
    """Alone among all processes and threads that lock this file; TimeoutError where it cannot be had in time. The file
    stays: removing it would let two hold it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    _held.add(descriptor)
    try:
        _wait(descriptor, path)
        yield
    finally:
        if descriptor in _held:  # not in a child, which has closed it
            _held.discard(descriptor)
            _release(descriptor)


def _wait(descriptor: int, path: pathlib.Path) -> None:
    pause, end = 0.001, time.monotonic() + MOST_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise TimeoutError(f"another process has held the lock {path} for {MOST_SECONDS} s (end it: `fuser "
                                   f"{path}` says which it is)") from None
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _release(descriptor: int) -> None:
    """Said, since closing alone leaves the lock with a child of a fork, which has the descriptor too."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _leave_parent() -> None:
    """A child that outlives its parent would keep the parent's locks."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_leave_parent)
