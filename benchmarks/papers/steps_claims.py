"""What the papers say of speed beside what benchmarks/papers/steps.py has measured: each claim with its verdict, computed."""

import dataclasses
import statistics

from layers import flurka_equations
from polysketch import CONTEXTS, STEPS, ranges
from prices import number, ratio, table
from steps_shapes import SHAPES

NO_GAIN, REPRODUCED = 1.05, 0.8


@dataclasses.dataclass(frozen=True)
class Claim:
    """`fast` takes a part of the time of `slow`, one over `paper`."""

    text: str
    paper: float
    shape: str
    slow: str
    fast: str
    run: str = "forward"
    why: str = ""


def flurka(figure, shape, slow, name, why="", **papers):
    return [Claim(f"{figure}: FLuRKA, {variant}, over {name}", paper, shape, slow.format(of), f"flurka_{of}", why=why)
            for of, variant in (("performer", "Performer"), ("rnn", "RNN")) if (paper := papers.get(of))]


def steps_over(shape, context, slow, slow_name, fast, fast_name):
    place = CONTEXTS.index(context)
    return Claim(f"Table 2, {context}: {fast_name} over {slow_name}", STEPS[fast_name][place] / STEPS[slow_name][place], shape, slow, fast, "step")


FLASH, SKETCH, PERFORMER = ("exact", "FlashAttention"), ("polysketch32", "polysketch"), ("performer", "Performer")
STORED = "the paper's exact attention stores N × N weights, ours none"
CLAIMS = [
    *flurka("Figure 3", "figure3", "low_rank", "Linformer", performer=1.86, rnn=1.83),
    *flurka("Figure 3", "figure3", "{}", "the kernel method", performer=1.37, rnn=1.37),
    Claim("Figure 3: FLuRKA, up to, over full attention", 25.1, "figure3", "exact", "flurka_rnn", why=STORED),
    *flurka("Figure 4, top", "figure4_top", "low_rank", "Linformer", "the paper's n = k is 20000", performer=3.39, rnn=3.38),
    *flurka("Figure 4, bottom", "figure4_bottom", "{}", "the kernel method", "every size is an eighth of the paper's", performer=1.72, rnn=1.72),
    Claim("Figure 5: FLuRKA, up to, over FlashAttention", 23, "figure5", "exact", "flurka_rnn", why="the paper does not tell its k and its width"),
    steps_over("context1024", 1024, *SKETCH, *FLASH), steps_over("context4096", 4096, *SKETCH, *FLASH),
    steps_over("context8192", 8192, *FLASH, *SKETCH), steps_over("context16384", 16384, *FLASH, *SKETCH),
    Claim("4 layers, 32768: polysketch over FlashAttention", 1.54 / 0.34, "context32768", "exact", "polysketch32", "step"),
    *(steps_over(f"context{n}", n, *PERFORMER, *SKETCH) for n in (1024, 4096, 16384)),
    *(steps_over(f"context{n}", n, *PERFORMER, *FLASH) for n in (1024, 4096, 16384)),
]


def seconds(data, shape, variant, run, layers="1"):
    """The median of what was measured; None if nothing was."""
    taken = data["rows"].get(shape, {}).get(variant, {}).get(layers, {}).get(run)
    return statistics.median(taken) if taken else None


def predicted(data, shape, variant):
    return data["rows"].get(shape, {}).get(variant, {}).get("predicted")


def verdict(paper, ours):
    if ours is None:
        return "not measured"
    if ours <= NO_GAIN:
        return "refuted"
    return "reproduced" if ours >= REPRODUCED * paper else "bounded"


def limit(data, claim):
    """How much faster a layer would be whose attention takes no time."""
    whole, part = (seconds(data, claim.shape, claim.slow, run) for run in (claim.run, f"attention_{claim.run}"))
    return ratio(whole, whole - part) if whole and part else None


def reason(data, claim):
    """What of the numbers says why."""
    shape, found = SHAPES[claim.shape], [claim.why] if claim.why else []
    most = limit(data, claim)
    if shape.causal and most:
        spent = [seconds(data, claim.shape, name, "attention_step") for name in (claim.slow, claim.fast)]
        found.append(f"attention with its gradients: {number(ratio(*spent))}; were it free, a step would be {number(most)} times as fast")
    elif not shape.causal and claim.slow != "exact":
        low_rank, kernel, fused = flurka_equations(shape.tokens, shape.slots, shape.heads, shape.width)
        equation, count = ("(6)", low_rank) if claim.slow == "low_rank" else ("(7)", kernel)
        found.append(f"multiply-adds of {equation} over (8): {number(count / fused)}")
    elif most:
        found.append(f"were all but the feed-forward part free, a layer would be {number(most)} times as fast")
    return "; ".join(found)


def claims_table(data):
    rows = []
    for claim in CLAIMS:
        price = ratio(*(predicted(data, claim.shape, name) for name in (claim.slow, claim.fast)))
        part, whole = (ratio(*(seconds(data, claim.shape, name, run) for name in (claim.slow, claim.fast)))
                       for run in ("attention_forward", claim.run))
        rows.append([claim.text, f"{claim.paper:.3g}", SHAPES[claim.shape].tokens, number(price), number(part), number(whole),
                     verdict(claim.paper, whole), reason(data, claim)])
    return table(["claim", "paper", "n here", "part, predicted", "part, measured", "measured on this CPU", "verdict", "why"], rows, words=2)


def crossings(data):
    """Where a training step with sketches is faster than with exact attention, of the contexts that were measured."""
    contexts = [int(name.removeprefix("context")) for name in SHAPES if name.startswith("context")]
    of = lambda variant, run: [seconds(data, f"context{n}", variant, run) for n in contexts]
    return {name: [ranges(contexts, of(fast, run), of("exact", run)) for run in ("forward", "step")]
            for name, fast in (("r = 16", "polysketch16"), ("r = 32", "polysketch32"), ("r = 32, exact in blocks of 256", "polysketch32_local"))}
