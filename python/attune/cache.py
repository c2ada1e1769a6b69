"""The cache of compiled specs on disk: $ATTUNE_CACHE_DIR, else $XDG_CACHE_HOME/attune, else ~/.cache/attune.

An entry is a folder named by a hash of all that its content depends on: the spec without its comments, the targets, the
compiler, the processor. It is filled beside its place and renamed into it, so whoever sees an entry sees a whole one; a
lock makes processes that want the same entry at the same time compile it once. What was used least recently goes
when the entries together exceed $ATTUNE_CACHE_SIZE bytes (1 GiB unless set).

Entries are code. The cache is used only where nobody else can have put them: it must be this user's, and nobody else may
write it nor a folder above it. Elsewhere a warning says what to do, and specs are compiled for the process alone.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile
import time
import typing
import warnings

from . import _entry, _trust
from ._errors import LibraryError

VERSION = "v2"
DEFAULT_SIZE = 1 << 30
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
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # its specification says that others are ignored
        home = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(home):  # a user without a home: never what happens to lie in the working folder
        home = "/nonexistent"
    return pathlib.Path(home) / "attune"


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
    """The library of an entry; where there is none, `make` fills a folder, in one of however many threads and
    processes."""
    root = _usable(folder())
    try:
        return _fetched(root, key, make)
    except OSError as error:  # a full disk, say, or one without locks
        if root == _substitute:
            raise LibraryError(f"expected a folder in which to compile, but got: {error}; set TMPDIR to another") from error
        return _fetched(_substitute_for(root, str(error)), key, make)


def _fetched(root: pathlib.Path, key: str, make: typing.Callable[[pathlib.Path], None]) -> pathlib.Path:
    place = root / VERSION / key[:2] / key
    library = _entry.library_of(place, root)
    if library:
        _mark_used(place)
        return library
    with _locked(root, key):
        library = _entry.library_of(place, root)
        if not library:
            _fill(root, place, make)
            _trim(root, place)
            library = _entry.library_of(place, root)
    if not library:
        raise OSError(f"the entry {place} is not as it was written")
    return library


def _fill(root: pathlib.Path, place: pathlib.Path, make: typing.Callable[[pathlib.Path], None]) -> None:
    made = pathlib.Path(tempfile.mkdtemp(dir=_trust.make_folders(root / "tmp")))
    try:
        make(made)
        _entry.seal(made, place.name)
        for file in made.iterdir():  # whatever the umask: nobody else reads code that somebody's model is made of
            file.chmod(0o600)
        if os.path.lexists(place):  # damaged, or an entry would have been found
            _remove(place)
        _trust.make_folders(place.parent)
        os.rename(made, place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _mark_used(place: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(place)


@contextlib.contextmanager
def _locked(root: pathlib.Path, key: str) -> typing.Iterator[None]:
    """Alone with the keys that begin as this one does, among all processes and threads. The file stays: removing it
    would let two hold it."""
    path = _trust.make_folders(root / "locks") / key[:2]
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _entries(root: pathlib.Path) -> typing.Iterator[pathlib.Path]:
    """Those of this and of former versions. In a folder that others may write, what looks like one may be a link to what
    nobody wants removed."""
    if _reason_against(root) is None:
        yield from root.glob("v[0-9]/??/*")


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
        hidden = tempfile.mkdtemp(dir=_trust.make_folders(entry.parents[2] / "tmp"))
        os.rename(entry, os.path.join(hidden, "removed"))
        shutil.rmtree(hidden, ignore_errors=True)


def _reason_against(root: pathlib.Path) -> typing.Optional[str]:
    """Why a folder cannot be the cache; None if it can."""
    try:
        real = root.resolve(strict=True)
        str(real).encode()  # the native part takes no other paths
        reason = _trust.reason_against(real)
        return reason or (None if os.access(real, os.W_OK | os.X_OK) else "it may not be written")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle; ValueError: a zero byte
        return str(error)


_substitute: typing.Optional[pathlib.Path] = None


def _usable(root: pathlib.Path) -> pathlib.Path:
    """The real path of the cache, or where that cannot be used a folder that lives as long as this process."""
    with contextlib.suppress(OSError, ValueError):  # what is wrong is seen below
        _trust.make_folders(root)
    reason = _reason_against(root)
    return root.resolve() if reason is None else _substitute_for(root, reason)


def _substitute_for(root: pathlib.Path, reason: str) -> pathlib.Path:
    global _substitute
    if _substitute is None:
        _substitute = _made_for_this_process()
        warnings.warn(f"compiled specs are not kept: expected a cache in {root} that only you may write, but {reason}; set "
                      "ATTUNE_CACHE_DIR to a folder of yours", RuntimeWarning, stacklevel=6)
    return _substitute


def _made_for_this_process() -> pathlib.Path:
    parent = pathlib.Path(tempfile.gettempdir()).resolve()
    reason = _trust.reason_against(parent, own=False)
    if reason is not None:
        raise LibraryError(f"expected a folder for temporary files in which only you may change your own, but {reason}; set "
                           "TMPDIR to another, or ATTUNE_CACHE_DIR to a folder of yours")
    made, maker = pathlib.Path(tempfile.mkdtemp(prefix="attune-cache-", dir=parent)), os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # not a child, whose parent goes on
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    return made
