"""Of folders of specs every fourth in CI (ATTUNE_TEST_SAMPLE, which lit.cfg.py sets); all under check-all."""

import os

from attnc import specs_of

EVERY = int(os.environ.get("ATTUNE_TEST_SAMPLE", "1"))


def sampled(paths):
    """The files; of a folder every Nth spec."""
    return [spec for path in paths for spec in specs_of([path])[::EVERY if path.is_dir() else 1]]


def at_least(count, paths):
    """How many of so many specs are left in the sample, at least."""
    return max(count // EVERY, 1) if any(path.is_dir() for path in paths) else count
