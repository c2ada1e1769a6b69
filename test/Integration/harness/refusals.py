"""Why a target does not support a spec."""

import functools
import pathlib
import re

# The page of the limits that stand. Words of refusals are there in bold: **`no schedule fits`**.
PAGE = "Limits.md"
# A kernel that is not there, or tiles too large for the device.
WORDS = ("not supported yet", "no schedule fits")


def reason(said):
    """The line that says so, of what the compiler said; empty if none does."""
    return next((line for line in said.splitlines() if any(words in line for words in WORDS)), "")


def kind(text):
    """A reason without its place and its numbers."""
    return re.sub(r"\d+", "N", re.sub(r"^.*?(error|warning|note): ", "", text)).strip()


@functools.cache
def documented_words():
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / PAGE
    return re.findall(r"\*\*`([^`]+)`\*\*", page.read_text(encoding="utf-8")) if page.exists() else []


def documented(text):
    return any(words in text for words in documented_words())
