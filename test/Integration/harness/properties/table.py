"""The mechanisms by name, and the list of properties."""

import dataclasses

AGENTS, CHUNK, WINDOW = 4, 4, 8
# What every length must be divided by where agents, chunks and windows are among the mechanisms.
BLOCK = 8
FURTHEST = 4096
# A floor above all sums.
FLOOR = 2.0 ** 100


def kernel(kind, **fields):
    """With no guard, so that what should cancel does."""
    guard = {"denominator": {"bias": 0, "floor": 0}} if kind in ("relu", "cosformer") else {}
    return {"kind": "kernel", "feature_map": {"kind": kind, **fields}, **guard}


MAPS = {
    "elu1": kernel("elu1"),
    "relu": kernel("relu"),
    "cosformer": kernel("cosformer", max_position=FURTHEST),
    "focused": kernel("focused"),
    "favor": kernel("favor", features=12),
    "favor, epsilon": kernel("favor", features=12, epsilon=0.125, per_head=True),
    "favor_relu": kernel("favor_relu", features=10),
}
PAIRS = {"softmax": {"kind": "softmax"}, "polynomial": {"kind": "polynomial", "degree": 4}}
SKETCH = {"polysketch": {"kind": "polysketch", "degree": 4, "size": 8}}
EVA = {"eva": {"kind": "eva", "chunk": CHUNK, "window": {"length": WINDOW}, "exclude_local": True, "mass": True}}
# Each weight of these is of one query and one key, whatever the others are.
PAIRWISE = PAIRS | MAPS | SKETCH
# Means of the values.
MEANS = PAIRWISE | {"effatt": {"kind": "effatt"}, "agent": {"kind": "agent", "agents": AGENTS}} | EVA
LOCAL = {"polysketch, local": {"kind": "polysketch", "degree": 4, "size": 8, "local_exact": 4}}
CAUSAL_MEANS = PAIRWISE | LOCAL | EVA
CAUSAL_CI = "softmax", "elu1", "favor", "polynomial", "polysketch, local", "eva"
# Compressed keys; the third is no mean.
COMPRESSED = {
    "linformer": {"kind": "softmax", "low_rank": {"rank": 8}},
    "flurka": MAPS["favor"] | {"low_rank": {"rank": 8}},
    "flurka, naive": MAPS["elu1"] | {"low_rank": {"rank": 8, "order": "after_map"}, "denominator": "none"},
    "flurka, eva": {"kind": "eva", "chunk": 2, "low_rank": {"rank": 8}},
}


def select(table, *names):
    return {name: table[name] for name in names}


def without(table, *names):
    return {name: mechanism for name, mechanism in table.items() if name not in names}


def numerators(mechanism):
    """The mechanism with a floor above all sums: its outputs times the floor are the numerators."""
    return mechanism | {"denominator": {"bias": 0, "floor": FLOOR}}


@dataclasses.dataclass
class Property:
    """`pairs(run, draw)` yields (what, got, expected), and what `difference` takes as `how`."""
    name: str
    pairs: object
    compiled_only: bool = False
    compiled_long: bool = False  # compiled code under check-all alone, for its libraries cost more than they tell


PROPERTIES = []


def holds(name, **options):
    """Registers a function under the number and the words of the mathematics, or of a complaint."""
    def register(function):
        PROPERTIES.append(Property(name, function, **options))
        return function
    return register
