"""What can go wrong, as exceptions; their text is the compiler's or the compiled library's own."""

from __future__ import annotations

import re
import typing


class Error(Exception):
    """Every exception that this package raises on purpose."""


class Diagnostic(typing.NamedTuple):
    """One line of the compiler: `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    message: str


class SpecError(Error, ValueError):
    """The spec, the call or a tensor is wrong; `diagnostics` has the places."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        found = re.findall(r"^(.+?):(\d+):(\d+): error: (.*)$", message, re.M)
        self.diagnostics = [Diagnostic(file, int(line), int(column), text) for file, line, column, text in found]


class CompileError(Error, RuntimeError):
    """The compiler did not do its work; the message has its reason."""


class CompilerNotFoundError(Error, RuntimeError):
    """There is no compiler: neither in the package nor where the message says it was looked for."""


class ArgumentError(Error, ValueError):
    """A tensor or an option of a call is wrong: which, what was expected, what was found, what to do."""


class StateError(Error, RuntimeError):
    """The attention is not ready: mostly, it has parameters that were not given yet."""


class UnsupportedError(Error, RuntimeError):
    """This machine cannot run the code."""


class OutOfMemoryError(Error, MemoryError):
    """Memory or threads could not be had."""


class DeviceError(Error, RuntimeError):
    """The GPU's driver reported an error."""


class LibraryError(Error, RuntimeError):
    """A compiled library does not load, or is of another version."""


OF_STATUS = {1: ArgumentError, 2: StateError, 3: UnsupportedError, 4: OutOfMemoryError, 5: DeviceError, 6: LibraryError}


def of_status(status: int, message: str) -> Error:
    """The exception for an `attune_status`."""
    return OF_STATUS.get(status, Error)(message)
