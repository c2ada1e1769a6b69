"""PolySketchFormer: Table 2, seconds a training step by context, and where the methods cross."""

from layers import stored
from prices import number, ratio, table

DEVICE, BANDWIDTH, HEADS, WIDTH, LAYERS = "a100-40gb", 1.4e12, 12, 64, 12
CONTEXTS = [512, 1024, 2048, 4096, 8192, 16384]
BATCHES = [8, 4, 2, 1, 1, 1]
OURS = [int(2 ** (e / 2) // 64) * 64 for e in range(16, 31)]
STEPS = {"softmax": [6.25, 4.5, 4.3, 3, None, None], "polynomial": [6.2, 4.5, 4.1, 3.2, None, None],
         "polysketch": [3.7, 3.4, 3.3, 3.1, 2, 1.1], "Performer": [2.3, 2.4, 1.8, 1.2, 0.7, 0.35],
         "FlashAttention": [5.8, 5.3, 4.7, 3.5, 1.4, 0.44]}
SKETCH = {"kind": "polysketch", "degree": 4, "size": 32, "denominator": {"bias": 1.0, "floor": 0}}
MECHANISMS = {"softmax": {"kind": "softmax"}, "polynomial": {"kind": "polynomial", "degree": 4},
              "polysketch": SKETCH,
              "Performer": {"kind": "kernel", "feature_map": {"kind": "favor", "features": 256}},
              "FlashAttention": {"kind": "softmax"}}
# Forward, and a backward pass of two and a half times that where weights are computed again, two where they are kept,
# three where the whole forward pass is run again.
PASSES = {"softmax": 3.0, "polynomial": 3.0, "polysketch": 4.0, "Performer": 4.0, "FlashAttention": 3.5}
STORED = ("softmax", "polynomial")

TEXT = """## PolySketchFormer, Table 2

Steps a second of training on A100s of 40 GB: 12 layers, 12 heads of 64, causal; batch 8, 4, 2, 1, 1, 1 a device. A step has much that does not
depend on the method (the rest of the layers, the optimiser, the exchange of gradients), so what is compared is a step's time beside
that of the same step with FlashAttention: milliseconds more, or less. Ours: forward attention of 12 layers as priced in bf16 on
`{device}`, times 3 for a backward pass with the weights kept, 3.5 with the weights computed again, 4 with the forward pass run again; softmax
and polynomial store n × n weights, the others do not. Each cell: paper / ours; "–" is the paper's out of memory.

{table}
**Where methods cross**: contexts at which the first is faster than the second; the paper's by straight lines between its columns, ours
at batch 1, from 256 to 32768.

{crossovers}
![cost of attention a token by context](figures/polysketch.svg)

The form in which ours computes the sketch, context by context: {forms}.

**Where they differ, and why.** The differences in the paper are many times what the operations take on an A100. Its FlashAttention
is a Pallas kernel in JAX: from 4096 to 16384 tokens its step takes {paper_step} ms longer, and ours {our_step} ms. So where
sketches and FlashAttention cross says more about two programs than about two algorithms. The paper's sketches are chunks of 256
tokens with 1024 features; ours are priced in both forms. In the quadratic one a pair costs r + dv + 1 = 97 products where exact
attention's costs 128, and its weights are squares where those are exponentials: little to gain. The chunked one is linear in the
context. Where it is not taken all the same, it is priced higher: it runs one program a head, with a batch of 1 that is 12 for
108 streaming multiprocessors, and each carries 1024 × 65 sums; so the gain that the paper has at its longest contexts comes later
here. The Performer of the paper is a cumulative sum, which writes a state a token; ours carries one from chunk to chunk, with a
maximum for each feature, on as few multiprocessors. At 32768 tokens, with 4 layers, the paper has 4.5 times the steps of
FlashAttention; of attention alone, ours is {longest} times.
"""


def seconds(prices, method, context, batch):
    """Of the attention of a step."""
    forward = prices.seconds(DEVICE, queries=context, heads=HEADS, head_dim=WIDTH, batch=batch, causal=True,
                             mechanism=MECHANISMS[method])
    if forward is None:
        return None
    weights = stored(BANDWIDTH, context, context, HEADS, batch) if method in STORED else 0
    return LAYERS * PASSES[method] * (forward + weights)


def form_of_sketch(prices, context, batch):
    plan = prices.plan(DEVICE, queries=context, heads=HEADS, head_dim=WIDTH, batch=batch, causal=True, mechanism=SKETCH)
    return plan["plans"][0]["form"] if plan else "–"


def step_times(prices, method):
    """Seconds of a step by context: the paper's of all of it, ours of its attention."""
    ours = [seconds(prices, method, context, batch) for context, batch in zip(CONTEXTS, BATCHES)]
    return [None if steps is None else 1 / steps for steps in STEPS[method]], ours


def beside(values, base):
    """Milliseconds more than the base."""
    return [None if a is None or b is None else 1e3 * (a - b) for a, b in zip(values, base)]


def crossovers(prices):
    rows = []
    for first, second in [("polysketch", "FlashAttention"), ("polysketch", "softmax"), ("Performer", "FlashAttention"),
                          ("polysketch", "Performer")]:
        steps = [[None if value is None else 1 / value for value in STEPS[name]] for name in (first, second)]
        ours = [[seconds(prices, name, n, 1) for n in OURS] for name in (first, second)]
        rows.append([f"{first} before {second}", ranges(CONTEXTS, *steps), ranges(OURS, *ours)])
    return table(["", "paper", "ours"], rows)


def ranges(contexts, first, second):
    """Where the first is below the second, in words; between two contexts by a straight line."""
    pairs = [(n, a - b) for n, a, b in zip(contexts, first, second) if a is not None and b is not None]
    if not pairs:
        return "–"
    begins, ends = ([0] if pairs[0][1] <= 0 else []), []
    for (n0, before), (n1, after) in zip(pairs, pairs[1:]):
        if (before <= 0) != (after <= 0):
            (begins if after <= 0 else ends).append(n0 + (n1 - n0) * before / (before - after))
    return ", ".join(span(begin, end) for begin, end in zip(begins, [*ends, None])) if begins else "nowhere"


def span(begin, end):
    if end is None:
        return f"from {begin:.0f}" if begin else "everywhere"
    return f"{begin:.0f} to {end:.0f}" if begin else f"up to {end:.0f}"


def section(prices):
    times = {method: step_times(prices, method) for method in STEPS}
    flash, rows, series = times["FlashAttention"], [], {}
    for method, (paper, ours) in times.items():
        cells = zip(beside(paper, flash[0]), beside(ours, flash[1]))
        if method != "FlashAttention":
            rows.append([method, *(f"{number(p, 0)} / {number(o, 1)}" for p, o in cells)])
        tokens = [context * batch for context, batch in zip(CONTEXTS, BATCHES)]
        series[method] = [(n, value / count) for n, value, count in zip(CONTEXTS, ours, tokens) if value is not None]
    longest = [seconds(prices, name, 32768, 1) for name in ("FlashAttention", "polysketch")]
    grown = [number(1e3 * (values[5] - values[3]), 0) for values in flash]
    forms = [form_of_sketch(prices, *shape) for shape in zip(CONTEXTS, BATCHES)]
    text = TEXT.format(device=DEVICE, forms=", ".join(f"{n} {form}" for n, form in zip(CONTEXTS, forms)),
                       table=table(["", *map(str, CONTEXTS)], rows), crossovers=crossovers(prices),
                       paper_step=grown[0], our_step=grown[1],
                       longest=number(ratio(*longest)))
    return text, {"polysketch": ("Attention of a training step, a token", "12 layers, 12 heads of 64, causal, predicted for "
                                 "an A100 of 40 GB", series, CONTEXTS)}
