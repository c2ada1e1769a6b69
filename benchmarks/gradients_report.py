"""The table and the goals of benchmarks/gradients.py, from what is stored."""

import statistics

import cpu_report
import gradients_rows
from gated import spread

LINEAR = ["linear", "chunked"]
ALL = list(gradients_rows.GROUPS)
MOST_GROWTH = 1.1
MOST_MEMORY = 1.2 * 2**30
PEERS = {"sdpa": "SDPA", "compile": "torch.compile"}


class Speed:
    """What is stored of a row, in the terms of the table. Ratios are medians of those of each round."""

    def __init__(self, row, stored):
        self.row, self.stored, self.name = row, stored, row.name
        self.seconds = stored["seconds"]
        self.training = self.seconds.get("saving", self.seconds["forward"])  # the forward pass that a training step runs

    @property
    def fraction(self):
        """Of the limit of the backward pass."""
        needed = gradients_rows.multiply_adds(self.row)
        return statistics.median(needed / rate / taken for rate, taken in zip(self.stored["rates"], self.seconds["backward"]))

    @property
    def over_forward(self):
        return statistics.median(back / ahead for back, ahead in zip(self.seconds["backward"], self.training))

    def ratio(self, peer):
        """The peer's forward and backward passes to ours; None if the peer is not there."""
        if peer not in self.seconds:
            return None
        rounds = zip(self.seconds[peer], self.training, self.seconds["backward"])
        return statistics.median(theirs / (ahead + back) for theirs, ahead, back in rounds)


def speeds_of(data):
    return [Speed(row, stored) for row in gradients_rows.rows() if (stored := data["points"].get(row.name))]


def growths_of(data):
    """{form: (growth of time a token, growth of memory a token)} from the shorter to the longer length."""
    found = {}
    for family in gradients_rows.GROWTH_FORMS:
        both = [(n, data["points"].get(gradients_rows.row_of(family, n).name)) for n in gradients_rows.GROWTH_LENGTHS]
        if all(stored for _, stored in both):
            (short, before), (long, after) = both
            found[family] = tuple(after[key] / before[key] / (long / short) for key in ("both", "memory"))
    return found


#===----------------------------------------------------------------------------------------------------------------===#
# The table
#===----------------------------------------------------------------------------------------------------------------===#


def milliseconds(seconds):
    return f"{1e3 * statistics.median(seconds):.2f} ({spread(seconds):.0%})" if seconds else "–"


def times(ratio):
    return "–" if ratio is None else f"{ratio:.1f}"


def line_of(speed):
    cells = [speed.row.family, str(speed.row.n), *(milliseconds(speed.seconds.get(name)) for name in ("forward", "saving", "backward")),
             f"{speed.over_forward:.2f}", f"**{speed.fraction:.2f}**", *(times(speed.ratio(peer)) for peer in PEERS)]
    return f"| {' | '.join(cells)} |"


def growth_lines(data):
    growths = growths_of(data)
    if growths:
        yield from ["", "## From 8192 to 65,536 tokens", "", "Forward and backward: growth over that of the length, 1 is linear. Memory is "
                    "what the process's largest resident size grew by, tensors included.", "",
                    "| | s, 8192 | s, 65,536 | time a token | MiB, 8192 | MiB, 65,536 | memory a token |", "|---|---|---|---|---|---|---|"]
    for family, (time, memory) in growths.items():
        both = [data["points"][gradients_rows.row_of(family, n).name] for n in gradients_rows.GROWTH_LENGTHS]
        cells = [family, *(f"{stored['both']:.3f}" for stored in both), f"{time:.2f}",
                 *(f"{stored['memory'] / 2**20:.0f}" for stored in both), f"{memory:.2f}"]
        yield f"| {' | '.join(cells)} |"


#===----------------------------------------------------------------------------------------------------------------===#
# Goals
#===----------------------------------------------------------------------------------------------------------------===#


def least(title, of, groups, limit, other=()):
    """A goal of rows of these groups, or of `other` families: at least the limit."""
    def verdict(speeds):
        return {speed.name: (value, value >= limit) for speed in speeds
                if (speed.row.group in groups or speed.row.family in other) and (value := of(speed)) is not None}
    return title, verdict


def most(title, of, groups, limit):
    def verdict(speeds):
        return {speed.name: (of(speed), of(speed) <= limit) for speed in speeds if speed.row.group in groups}
    return title, verdict


def compiled(sketched):
    """The ratio to torch.compile of sketches, or of all else."""
    return lambda speed: speed.ratio("compile") if speed.row.family.startswith("polysketch") == sketched else None


GOALS = [
    least("backward ≥ 0.75 of the limit: exact", lambda speed: speed.fraction, ["exact"], 0.75),
    least("backward ≥ 0.70 of the limit: linear, chunked, low rank", lambda speed: speed.fraction, [*LINEAR, "low rank"], 0.70),
    least("backward ≥ 0.60 of the limit: the others", lambda speed: speed.fraction, ["other"], 0.60),
    most("backward ≤ 2.6 × forward: exact", lambda speed: speed.over_forward, ["exact"], 2.6),
    most("backward ≤ 2.2 × forward: linear, chunked", lambda speed: speed.over_forward, LINEAR, 2.2),
    least("forward and backward ≥ 2 × as fast as SDPA: exact", lambda speed: speed.ratio("sdpa"), ["exact"], 2),
    least("forward and backward ≥ 3 × as fast as torch.compile: all linear mechanisms", compiled(False), ALL, 3),
    least("forward and backward ≥ 5 × as fast as torch.compile: sketches", compiled(True), ALL, 5),
]


def growth_goals(data):
    """Time and memory a token, and the memory of exact attention."""
    growths = growths_of(data)
    for place, title in enumerate(("time", "memory")):
        yield (f"{title} a token ≤ {MOST_GROWTH} × from 8192 to 65,536 tokens",
               {family: (growth[place], growth[place] <= MOST_GROWTH) for family, growth in growths.items()})
    stored = data["points"].get(gradients_rows.row_of("softmax", gradients_rows.GROWTH_LENGTHS[-1]).name)
    title = "exact attention of 65,536 tokens, one head, forward and backward < 1.2 GiB"
    yield title, {"GiB": (stored["memory"] / 2**30, stored["memory"] < MOST_MEMORY)} if stored else {}


def goal_lines(data):
    speeds = speeds_of(data)
    yield from ["| asked for | met | missed |", "|---|---|---|"]
    for title, verdict in [*((title, verdict(speeds)) for title, verdict in GOALS), *growth_goals(data)]:
        met, missed = (", ".join(f"{name} {value:.2f}" for name, (value, good) in verdict.items() if good == wanted)
                       for wanted in (True, False))
        yield f"| {title} | {met or ('–' if verdict else 'not measured yet')} | {missed or '–'} |"


#===----------------------------------------------------------------------------------------------------------------===#
# The page
#===----------------------------------------------------------------------------------------------------------------===#

EXPLAINED = """\
f32, one thread, one batch entry, 4 heads of 64, gradients of q, k and v; processor time, median of rounds in which all of a row run by
turns, and in brackets the half of the distance between the quartiles, as a part of the median. The gradients were compared with the
peers' first (relative error at most 1e-3).

* *leaving*: the forward pass that leaves what it can (sums of rows, compressed keys and values); its output and that are given to
  the backward pass. *Backward / forward* and the ratios to peers count that forward pass
* *of the limit*: the multiply-adds that the backward pass needs at least (`gradients_rows.py`), at the rate of fused multiply-adds in
  registers, measured in each round, over its time. Causal linear attention counts as one token after the other, from both ends, without
  the pairs of anybody's chunks; exponentials and all that is elementwise count nothing
* *SDPA, torch.compile*: times of forward and backward passes as multiples of ours: PyTorch's scaled_dot_product_attention for every
  exact softmax of the mechanism, the rest eager; and the mechanism's formula by torch.compile, in chunks where it is causal and linear
  (of 128 tokens; of 64 with gates, where a loop over them runs in Python)"""


def text_of(data):
    speeds, machine = speeds_of(data), data["machine"]
    commits = sorted({stored["commit"] for stored in data["points"].values()})
    return "\n".join([
        "# Backward passes on one core", "",
        f"By `benchmarks/gradients.py`, commits {', '.join(commits)}, {machine['processor']}, "
        f"PyTorch {machine['peers'].get('torch', 'not there')}.{cpu_report.age(commits)}".rstrip(),
        cpu_report.busy_line(speeds), "", EXPLAINED, "",
        "| | n | forward, ms | leaving, ms | backward, ms | backward / forward | of the limit | SDPA | torch.compile |",
        "|---|---|---|---|---|---|---|---|---|", *map(line_of, speeds), "", "Not measured:", "", *cpu_report.absent_lines(speeds),
        *growth_lines(data), "", "## Goals", "", *goal_lines(data), ""])


def write(data, store):
    store.with_suffix(".md").write_text(text_of(data), encoding="utf-8")
