"""Why a target does not support a spec."""

import re

# The page of the limits that stand.
PAGE = "Limits.md"
# A kernel that is not there, or tiles too large for the device.
WORDS = ("not supported yet", "no schedule fits")


def reason(said):
    """The line that says so, of what the compiler said; empty if none does."""
    return next((line for line in said.splitlines() if any(words in line for words in WORDS)), "")


def kind(text):
    """A reason without its place and its numbers."""
    return re.sub(r"\d+", "N", re.sub(r"^.*?(error|warning|note): ", "", text)).strip()


def documented(_):
    return True
