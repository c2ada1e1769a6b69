"""An entry of the cache: a folder with one compiled library, its header, and a manifest that says what they were."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import typing

from . import _trust
from ._errors import CompileError

MANIFEST = "entry.json"
LARGEST_MANIFEST = 1 << 16
CHUNK = 1 << 20


def seal(folder: pathlib.Path, key: str) -> None:
    """Writes the manifest of a folder that has been filled, and all of it onto the disk: no power cut then leaves a name
    without its content."""
    files = {file.name: _digest_at(file) for file in folder.iterdir()}
    library = _only_library(files)
    if library is None:
        raise CompileError(f"expected the compiler to make one library, but got {sorted(files) or 'nothing'}")
    text = json.dumps({"key": key, "library": library, "sha256": files})
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    for file in folder.iterdir():
        _sync(file)


def library_of(place: pathlib.Path, root: pathlib.Path) -> typing.Optional[pathlib.Path]:
    """The library of an entry if all of it is as `seal` left it; None if there is none, or it is damaged or another's.

    `root` is a folder that only this user may write, below levels of which that is true (`_trust`). From there on each
    level is opened in the one above it, so that no link leads elsewhere. Whoever could exchange a file after it has been
    looked at here could have written all of it: loading it by its path loads what was checked.
    """
    try:
        with contextlib.ExitStack() as levels:
            folder = levels.enter_context(_trust.opened(root, is_folder=True))
            for name in place.relative_to(root).parts:
                folder = levels.enter_context(_trust.opened(name, folder, is_folder=True))
            manifest = json.loads(_content(folder, MANIFEST))
            files, library = manifest["sha256"], manifest["library"]
            whole = (manifest["key"] == place.name and library == _only_library(files)
                     and set(os.listdir(folder)) == {MANIFEST, *files}
                     and all(_digest_in(folder, name) == digest for name, digest in files.items()))
            return place / library if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _only_library(names: typing.Iterable[str]) -> typing.Optional[str]:
    found = [name for name in names if name.startswith("lib") and name.endswith(".so")]
    return found[0] if len(found) == 1 else None


def _content(folder: int, name: str) -> bytes:
    with _trust.opened(name, folder) as descriptor:
        return os.read(descriptor, LARGEST_MANIFEST)


def _digest_at(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        return _digest(file.fileno())


def _digest_in(folder: int, name: str) -> str:
    with _trust.opened(name, folder) as descriptor:
        return _digest(descriptor)


def _digest(descriptor: int) -> str:
    digest = hashlib.sha256()
    while chunk := os.read(descriptor, CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _sync(file: pathlib.Path) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
