"""The cache of compiled specs on disk: $ATTUNE_CACHE_DIR, else $XDG_CACHE_HOME/attune, else ~/.cache/attune.

An entry is a folder named by a hash of all that its content depends on: the spec without its comments, the targets, the
compiler, the processor. It is filled beside its place and renamed into it, so whoever sees an entry sees a whole one; a
lock makes processes that want the same entry at the same time compile it once. What was used least recently goes
when the entries together exceed $ATTUNE_CACHE_SIZE bytes (1 GiB unless set).
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import tempfile
import time
import typing
import warnings

VERSION = "v1"
DEFAULT_SIZE = 1 << 30
MANIFEST = "entry.json"
ABANDONED_SECONDS = 3600


class CacheInfo(typing.NamedTuple):
    """Where the cache is, how many compiled specs it holds, how large they are together, and how large they may be."""

    folder: pathlib.Path
    entries: int
    bytes: int
    limit: int


def folder() -> pathlib.Path:
    """Where the cache is, or would be."""
    named = os.environ.get("ATTUNE_CACHE_DIR")
    if named:
        return pathlib.Path(named).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(home).absolute() / "attune"


def info() -> CacheInfo:
    """What the cache holds."""
    entries = list(_entries(folder()))
    return CacheInfo(folder(), len(entries), sum(_bytes(entry) for entry in entries), limit())


def limit() -> int:
    """Bytes that the entries may have together."""
    named = os.environ.get("ATTUNE_CACHE_SIZE")
    if not named:
        return DEFAULT_SIZE
    try:
        return max(0, int(named))
    except ValueError:
        raise ValueError(f"ATTUNE_CACHE_SIZE: expected a number of bytes, but got '{named}'") from None


def clear() -> int:
    """Removes every entry, and says how many there were. Attentions that are open go on working."""
    entries = list(_entries(folder()))
    for entry in entries:
        _remove(entry)
    return len(entries)


def fetch(key: str, make: typing.Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The entry's folder; where there is none, `make` fills one, in one of however many threads and processes."""
    root = _usable(folder())
    place = root / VERSION / key[:2] / key
    if _is_whole(place):
        _mark_used(place)
        return place
    with _locked(root, key):
        if not _is_whole(place):
            _fill(root, place, make)
            _trim(root, place)
    return place


def _fill(root: pathlib.Path, place: pathlib.Path, make: typing.Callable[[pathlib.Path], None]) -> None:
    made = pathlib.Path(tempfile.mkdtemp(dir=_made(root / "tmp")))
    try:
        make(made)
        sizes = {file.name: file.stat().st_size for file in made.iterdir()}
        (made / MANIFEST).write_text(json.dumps({"sizes": sizes}), encoding="utf-8")
        for file in made.iterdir():
            _sync(file)
        if place.exists():  # damaged, or an entry would have been found
            _remove(place)
        _made(place.parent)
        os.rename(made, place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _sync(file: pathlib.Path) -> None:
    """Onto the disk before the rename is, so that no power cut leaves a name without its content."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_whole(place: pathlib.Path) -> bool:
    """Whether all files of an entry are there, as long as they were when it was made."""
    try:
        sizes = json.loads((place / MANIFEST).read_text(encoding="utf-8"))["sizes"]
        return all((place / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def _mark_used(place: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(place)


@contextlib.contextmanager
def _locked(root: pathlib.Path, key: str) -> typing.Iterator[None]:
    """Alone with the keys that begin as this one does, among all processes and threads. The file stays: removing it
    would let two hold it."""
    descriptor = os.open(_made(root / "locks") / key[:2], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _entries(root: pathlib.Path) -> typing.Iterator[pathlib.Path]:
    return (root / VERSION).glob("??/*")


def _bytes(entry: pathlib.Path) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for file in entry.iterdir():
            total += file.stat().st_size
    return total


def _trim(root: pathlib.Path, keep: pathlib.Path) -> None:
    """Removes what was used least recently until the rest is within the limit, and what killed processes left."""
    known = []
    for entry in _entries(root):
        with contextlib.suppress(OSError):
            known.append((entry.stat().st_mtime, _bytes(entry), entry))
    total = sum(size for _, size, _ in known)
    for _, size, entry in sorted(known):
        if total <= limit():
            break
        if entry != keep:
            _remove(entry)
            total -= size
    for left in (root / "tmp").iterdir():
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def _remove(entry: pathlib.Path) -> None:
    """Out of sight in one step, then gone; another process may have been first."""
    with contextlib.suppress(OSError):
        hidden = tempfile.mkdtemp(dir=_made(entry.parents[2] / "tmp"))
        os.rename(entry, os.path.join(hidden, "removed"))
        shutil.rmtree(hidden, ignore_errors=True)


def _made(path: pathlib.Path) -> pathlib.Path:
    """Code is loaded from here: nobody else may write."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


_substitute: typing.Optional[str] = None


def _usable(root: pathlib.Path) -> pathlib.Path:
    """The cache, or where it cannot be written a folder that lives as long as this process."""
    global _substitute
    try:
        _made(root)
        if os.access(root, os.W_OK | os.X_OK):
            return root
        reason = "it may not be written"
    except OSError as error:
        reason = str(error)
    if _substitute is None:
        _substitute = tempfile.mkdtemp(prefix="attune-cache-")
        atexit.register(shutil.rmtree, _substitute, ignore_errors=True)
        warnings.warn(f"compiled specs are not kept: expected a cache in {root}, but {reason}; set ATTUNE_CACHE_DIR to "
                      "a folder that may be written", RuntimeWarning, stacklevel=4)
    return pathlib.Path(_substitute)
