"""The folders of the cache below its root: VERSION/ab/KEY, with `tmp` for what is being made or removed, and `locks`.

Nothing here follows a link, or enters a folder that others may write: what looks like an entry there may lead to what
nobody wants removed.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import pathlib
import shutil
import tempfile
import time
import typing

from . import _trust

ABANDONED_SECONDS = 3600


class Entry(typing.NamedTuple):
    """An entry, as names of the levels that lead to it; when it was used, and how large it is."""

    used: float
    bytes: int
    names: typing.Tuple[str, str, str]


def entries(root: pathlib.Path) -> typing.Iterator[Entry]:
    """Those of this and of former versions."""
    with contextlib.suppress(OSError), _trust.opened(root, is_folder=True) as top:
        for version, level in _levels(top, "v[0-9]"):
            for group, folder in _levels(level, "??"):
                for key in os.listdir(folder):
                    with contextlib.suppress(OSError):
                        used = os.stat(key, dir_fd=folder, follow_symlinks=False).st_mtime
                        yield Entry(used, _bytes(key, folder), (version, group, key))


def remove(root: pathlib.Path, names: typing.Sequence[str]) -> bool:
    """Takes an entry out of sight in one step, then away; False if it could not, as where another process was first."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as levels:
        folder = top = levels.enter_context(_trust.opened(root, is_folder=True))
        for name in names[:-1]:
            folder = levels.enter_context(_trust.opened(name, folder, is_folder=True))
        _trust.make_below(root, "tmp")
        hidden = tempfile.mkdtemp(dir=_path_of(levels.enter_context(_trust.opened("tmp", top, is_folder=True))))
        try:
            os.rename(names[-1], os.path.join(hidden, "removed"), src_dir_fd=folder)
            return True
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
    return False


def trim(root: pathlib.Path, keep: typing.Sequence[str], limit: int) -> None:
    """Removes what was used least recently until the rest is within the limit, and what killed processes left."""
    known = sorted(entries(root))
    total = sum(entry.bytes for entry in known)
    for entry in known:
        if total <= limit:
            break
        if entry.names != tuple(keep):
            remove(root, entry.names)
            total -= entry.bytes
    with contextlib.suppress(OSError), _trust.opened(root, is_folder=True) as top:
        for _, folder in _levels(top, "tmp"):
            _remove_abandoned(folder)


def _remove_abandoned(folder: int) -> None:
    for left in os.listdir(folder):
        with contextlib.suppress(OSError):
            if time.time() - os.stat(left, dir_fd=folder, follow_symlinks=False).st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(os.path.join(_path_of(folder), left), ignore_errors=True)


def _levels(folder: int, pattern: str) -> typing.Iterator[typing.Tuple[str, int]]:
    """The folders in an open one whose names are like that, opened; those that others may write are left out."""
    for name in os.listdir(folder):
        if fnmatch.fnmatchcase(name, pattern):
            with contextlib.suppress(OSError), _trust.opened(name, folder, is_folder=True) as level:
                yield name, level


def _bytes(entry: str, folder: int) -> int:
    total = 0
    with contextlib.suppress(OSError), _trust.opened(entry, folder, is_folder=True) as level:
        for name in os.listdir(level):
            total += os.stat(name, dir_fd=level, follow_symlinks=False).st_size
    return total


def _path_of(descriptor: int) -> str:
    """Of the very folder that is open, whatever its name leads to by now."""
    return f"/proc/self/fd/{descriptor}"
