"""The goals for CPU kernels, in their order: which points a row is made of, and when it is met.

Fractions are of the binding limit and ratios against the fastest peer; each is the median over the row's points.
"""

import dataclasses

from cpu_rows import FAMILIES, Point, usual_length

# Of EVA the chunks grow with the length, so it is not among them.
LINEAR = [name for name, family in FAMILIES.items() if not (family.quadratic or family.image or name.startswith("eva"))]
OVERHEAD = ["softmax", "elu1", "elu1_causal", "favor", "polysketch_causal"]
OVERHEAD_TOKENS, OVERHEAD_BATCH = 64, 8  # whose tensors fit into the second-level cache


@dataclasses.dataclass
class Goal:
    """`fraction` and `ratio` to reach; or `kind`, whose measure the report knows, with its `limit`."""
    title: str
    points: list
    fraction: float = None
    ratio: float = None
    kind: str = "speed"
    limit: float = None
    without_amx: str = ""  # said of a machine that lacks it


def at(families, dtype="f32", widths=(64,), lengths=None, threads=1):
    return [Point(family, dtype, d, n, threads) for family in families for d in widths
            for n in (lengths or [usual_length(family)])]


EXACT = ["softmax", "softmax_causal"]
CAUSAL = ["elu1_causal", "cosformer_causal", "favor_causal"]
LOW_RANK = ["linformer", "flurka_elu1", "flurka_favor"]


def overhead(family, batch):
    return Point(family, "f32", 64, OVERHEAD_TOKENS, 1, heads=1, batch=batch)


GOALS = [
    Goal("exact softmax f32, d 64 and 128, n ≥ 1024", at(EXACT, "f32", (64, 128), (1024, 4096)), .80, 1.5),
    Goal("exact softmax bf16", at(EXACT, "bf16", (64, 128), (1024, 4096)), .25, 1.5,
         without_amx="the goal's fraction is of AMX, which this machine does not have: here of bf16 dot products"),
    Goal("windowed softmax, 14×14 and 1-D 128 … 512", at(["window_14x14", "window_128", "window_256", "window_512"]), .65, 3),
    Goal("windowed softmax, 7×7", at(["window_7x7"]), .50, 3),
    Goal("linear, not causal: elu1, favor", at(["elu1", "favor"]), .75, 3),
    Goal("chunked causal", at(CAUSAL), .70, 3),
    Goal("Linformer and FLuRKA cores, E·K included, f32", at(LOW_RANK), .85, 2),
    Goal("the same, bf16", at(LOW_RANK, "bf16"), .45, 2),
    Goal("polysketch degree 4, r = 32, causal, f32", at(["polysketch_causal"]), .70, 5),
    Goal("the same, bf16", at(["polysketch_causal"], "bf16"), .35, 5),
    Goal("ELFATT with LePE, 56×56, windows 7×7", at(["elfatt"]), .60, 3),
    Goal("two cores, every family, n ≥ 4096 (images 56×56)", [p for t in (1, 2) for p in at(FAMILIES, threads=t)],
         kind="cores", limit=1.9),
    Goal("overhead of a call, one head of 64 tokens", [overhead(f, b) for f in OVERHEAD for b in (1, OVERHEAD_BATCH)],
         kind="overhead", limit=3e-6),
    Goal("growth, 65,536 against 8192 tokens, linear forms", at(LINEAR, lengths=(8192, 65536)), kind="growth", limit=1.1),
]


def points():
    """Of all goals, each once, in their order."""
    return list({point.name: point for goal in GOALS for point in goal.points}.values())
