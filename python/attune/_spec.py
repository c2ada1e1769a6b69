"""A spec as it is given: text, mapping or path; and what of its text counts."""

from __future__ import annotations

import json
import os
import pathlib
import typing

from ._errors import SpecError

SpecLike = typing.Union[str, "os.PathLike[str]", typing.Mapping[str, typing.Any]]


class Spec(typing.NamedTuple):
    """The text of a spec, the ending of its file, and what messages call it."""

    text: str
    suffix: str
    shown: str


def read_spec(spec: SpecLike) -> Spec:
    """A string with a line break, or that opens with '{', is the text of a spec; any other is a path."""
    if isinstance(spec, typing.Mapping):
        return Spec(_written(spec), ".yaml", "<spec>")
    if isinstance(spec, str) and ("\n" in spec or spec.lstrip().startswith("{")):
        return Spec(spec, ".yaml", "<spec>")
    if not isinstance(spec, (str, os.PathLike)):
        raise SpecError(f"expected a spec (its text, a mapping or a path), but got {type(spec).__name__}")
    path = pathlib.Path(spec)
    try:
        return Spec(path.read_text(encoding="utf-8"), path.suffix or ".yaml", str(path))
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or a zero byte in the path
        raise SpecError(f"{path}:1:1: error: expected a readable file, but got {error}; a spec that is given as text "
                        "has a line break") from error


def _written(fields: typing.Mapping[str, typing.Any]) -> str:
    """A mapping as text, a field a line so that the places in messages can be read: JSON is YAML."""
    try:
        return json.dumps(fields, indent=1, default=_plain, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise SpecError(f"expected fields of plain values (numbers, words, lists, mappings), not {error}") from error


def _plain(value: typing.Any) -> typing.Any:
    """NumPy's numbers and other mappings and sequences as JSON has them."""
    if isinstance(value, typing.Mapping):
        return dict(value)
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")


def normalized(spec: Spec) -> str:
    """The text without what does not count: comments, empty lines, white space at the ends of lines, for mappings also
    the order of fields. SpecError for a mapping in JSON that has a field twice: `json` would keep the last."""
    if spec.suffix == ".mlir":
        return spec.text
    try:
        return json.dumps(json.loads(spec.text, object_pairs_hook=lambda pairs: _mapping(spec, pairs)), sort_keys=True)
    except SpecError:
        raise
    except (ValueError, RecursionError):
        return _without_comments(spec.text)


def _mapping(spec: Spec, pairs: typing.List[typing.Tuple[str, typing.Any]]) -> typing.Dict[str, typing.Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SpecError(f"{spec.shown}: error: expected {json.dumps(twice)} once, but got it again; remove one of the two")
    return fields


def _without_comments(text: str) -> str:
    """As it is where a line of Python's may not be one of YAML's, or a quoted text may go over several."""
    lines = text.replace("\r\n", "\n").split("\n")
    kept = [_without_comment(line) for line in lines]
    if None in kept or any(ord(letter) < 32 and letter not in "\t\n" for letter in "".join(lines)):
        return text
    stripped = (line.rstrip(" \t") for line in typing.cast(typing.List[str], kept))
    return "\n".join(line for line in stripped if line)


def _without_comment(line: str) -> typing.Optional[str]:
    """None if a quote is open at its end."""
    quote = None
    for position, letter in enumerate(line):
        if quote:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (position == 0 or line[position - 1] in " \t"):
            return line[:position]
    return None if quote else line
