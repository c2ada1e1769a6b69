"""The cache of compiled specs on disk: $ATTUNE_CACHE_DIR, else $XDG_CACHE_HOME/attune, else ~/.cache/attune.

An entry is a folder named by a hash of all that its content depends on: the spec without its comments, the targets, the
compiler, the processor. It is filled beside its place and renamed into it, so whoever sees an entry sees a whole one; a
lock makes processes that want the same entry at the same time compile it once. What was used least recently goes
when the entries together exceed $ATTUNE_CACHE_SIZE bytes (1 GiB unless set).

Entries are code. The cache is used only where nobody else can have put them: it must be this user's, and nobody else may
write it nor a folder above it. Elsewhere a warning says what to do, and specs are compiled for the process alone. One
that may only be read, of this user or of root, gives what it has.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pathlib
import shutil
import tempfile
import typing
import warnings

from . import _entry, _lock, _store, _trust
from ._errors import ArgumentError, LibraryError

VERSION = "v2"
DEFAULT_SIZE = 1 << 30


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
    sizes = [entry.bytes for entry in _entries()]
    return CacheInfo(folder(), len(sizes), sum(sizes), limit())


def limit() -> int:
    """Bytes that the entries may have together."""
    named = os.environ.get("ATTUNE_CACHE_SIZE")
    if not named:
        return DEFAULT_SIZE
    try:
        return max(0, int(named))
    except ValueError:
        raise ArgumentError(f"ATTUNE_CACHE_SIZE: expected a number of bytes, but got '{named}'") from None


def clear() -> int:
    """Removes every entry, and says how many there were. Attentions that are open go on working."""
    root, _ = _checked(folder())
    return sum(_store.remove(root, entry.names) for entry in _entries())


def _entries() -> typing.List[_store.Entry]:
    """All of them; none where others may write."""
    root, reason = _checked(folder())
    return [] if reason else list(_store.entries(root))


def fetch(key: str, make: typing.Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The library of an entry; where there is none, `make` fills a folder, in one of however many threads and
    processes."""
    limit()  # a wrong one is said before anything is compiled
    named = folder()
    with contextlib.suppress(OSError, ValueError):  # what is wrong is seen next
        _trust.make_folders(named)
    root, reason = _checked(named)
    try:
        if reason is None:
            return _fetched(root, key, make)
    except OSError as error:  # a full disk, say, or one without locks
        reason = str(error)
    try:
        return _fetched(_substitute_for(root, reason), key, make)
    except OSError as error:
        raise LibraryError(f"expected a folder in which to compile, but got: {error}; set TMPDIR to another") from error


def _fetched(root: pathlib.Path, key: str, make: typing.Callable[[pathlib.Path], None]) -> pathlib.Path:
    names = (VERSION, key[:2], key)
    place = root.joinpath(*names)
    library = _entry.library_of(place, root)
    if library:
        _mark_used(place)
        return library
    _check_writable(root, names)
    with _lock.locked(_trust.make_below(root, "locks") / key[:2]):
        library = _entry.library_of(place, root)
        if not library:
            _fill(root, place, make)
            _store.trim(root, names, limit())
            library = _entry.library_of(place, root)
    if not library:
        raise OSError(f"the entry {place} is not as it was written")
    return library


def _check_writable(root: pathlib.Path, names: typing.Sequence[str]) -> None:
    """What could not be found again is not put there."""
    reason = _trust.reason_against_writing(root)
    if reason:
        raise PermissionError(reason)
    _trust.make_below(root, *names[:-1])
    _trust.make_below(root, "tmp")


def _fill(root: pathlib.Path, place: pathlib.Path, make: typing.Callable[[pathlib.Path], None]) -> None:
    made = pathlib.Path(tempfile.mkdtemp(dir=root / "tmp"))
    try:
        make(made)
        _entry.seal(made, place.name)
        for file in made.iterdir():  # whatever the umask: nobody else reads code that somebody's model is made of
            file.chmod(0o600)
        if os.path.lexists(place):  # damaged, or an entry would have been found
            _store.remove(root, place.relative_to(root).parts)
        os.rename(made, place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _mark_used(place: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(place)


def _checked(root: pathlib.Path) -> typing.Tuple[pathlib.Path, typing.Optional[str]]:
    """The real path of a folder, and why nothing can be loaded from it; None if it can."""
    try:
        real = root.resolve(strict=True)
        str(real).encode()  # the native part takes no other paths
        return real, _trust.reason_against(real)
    except UnicodeEncodeError:
        return root, "its name is not UTF-8"
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle; ValueError: a zero byte
        return root, str(error)


_substitute: typing.Optional[pathlib.Path] = None


def _substitute_for(root: pathlib.Path, reason: str) -> pathlib.Path:
    """A folder that lives as long as this process."""
    global _substitute
    if _substitute is None:
        _substitute = _made_for_this_process()
        warnings.warn(f"compiled specs are not kept: expected a cache in {root} that only you may write, but {reason}; set "
                      "ATTUNE_CACHE_DIR to a folder of yours", RuntimeWarning, stacklevel=6)
    return _substitute


def _leave_parent() -> None:
    """The parent removes its folder when it ends, whatever a child still has to load."""
    global _substitute
    _substitute = None


os.register_at_fork(after_in_child=_leave_parent)


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
