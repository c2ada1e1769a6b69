"""Whose folders and files may be loaded as code: this user's, in places where nobody else can put others."""

from __future__ import annotations

import contextlib
import os
import pathlib
import stat
import typing

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def reason_against(folder: pathlib.Path, own: bool = True) -> typing.Optional[str]:
    """Why others could change what lies in a folder, and what to do; None if they cannot.

    A real path, of which every level counts: who may write a folder may exchange what is in it. Sticky ones (/tmp) are
    an exception for those above. With `own` the folder itself must be this user's or root's, and not even sticky.
    """
    for level in reversed((folder, *folder.parents)):
        last = own and level == folder
        reason = _reason(level, os.lstat(level), {os.geteuid(), 0} if last else {os.geteuid(), 0, os.lstat("/").st_uid},
                         sticky_may=not last)
        if reason:
            return reason
    return None


def reason_against_writing(folder: pathlib.Path) -> typing.Optional[str]:
    """Why a folder is not for this user alone to fill, and what to do; None if it is."""
    return _reason(folder, os.lstat(folder), {os.geteuid()}) or (
        None if os.access(folder, os.W_OK | os.X_OK) else f"{folder} may not be written")


def _reason(level: pathlib.Path, facts: os.stat_result, owners: typing.Set[int],
            sticky_may: bool = False) -> typing.Optional[str]:
    if not stat.S_ISDIR(facts.st_mode):
        return f"{level} is no folder"
    if facts.st_uid not in owners:
        return f"{level} belongs to another user ({facts.st_uid})"
    if facts.st_mode & OTHERS_WRITE and not (sticky_may and facts.st_mode & stat.S_ISVTX):
        return f"others may write {level} (mode {stat.S_IMODE(facts.st_mode):o}; chmod go-w {level} changes that)"
    return None


@contextlib.contextmanager
def opened(name: typing.Union[str, pathlib.Path], folder: typing.Optional[int] = None,
           is_folder: bool = False) -> typing.Iterator[int]:
    """A file or a folder of this user, or of root, that nobody else may write, as a descriptor; PermissionError for any
    other. No link is followed, no pipe waited for."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_DIRECTORY if is_folder else 0)
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        facts = os.fstat(descriptor)
        kind = stat.S_ISDIR if is_folder else stat.S_ISREG
        if not kind(facts.st_mode) or facts.st_uid not in (os.geteuid(), 0) or facts.st_mode & OTHERS_WRITE:
            raise PermissionError(f"expected {name} to be this user's alone, but got owner {facts.st_uid}, mode "
                                  f"{stat.S_IMODE(facts.st_mode):o}")
        yield descriptor
    finally:
        os.close(descriptor)


def make_folders(path: pathlib.Path) -> pathlib.Path:
    """The folder, made if it is not there; every level that is new is this user's alone."""
    if not path.is_dir():
        make_folders(path.parent)
        with contextlib.suppress(FileExistsError):  # another process was first; if it is no folder, its use says so
            path.mkdir(mode=0o700)
    return path


def make_below(root: pathlib.Path, *names: str) -> pathlib.Path:
    """The folder root/name/…, made if it is not there; PermissionError, which says what to do, unless each level is for
    this user alone to fill."""
    for name in names:
        root = make_folders(root / name)
        reason = reason_against_writing(root)
        if reason:
            raise PermissionError(reason)
    return root
