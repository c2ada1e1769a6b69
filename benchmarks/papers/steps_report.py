"""The tables of benchmarks/papers/steps.py, from what is stored, and the part of docs/Papers.md that quotes them."""

import statistics

from prices import SOURCE, number, ratio, table
from steps_claims import NO_GAIN, REPRODUCED, claims_table, crossings, predicted, seconds
from steps_shapes import SHAPES, VARIANTS

STORE = SOURCE / "benchmarks" / "results" / "steps.json"

HEAD = """# The papers' model steps

Commits: {commits}. {processor}, one thread, f32, batch 1, PyTorch {torch}; `benchmarks/papers/steps.py`.

A forward pass, and a step of training: forward, backward with the gradients of the input and of all parameters, the update of plain SGD.
Processor time, variants by turns in one process: medians, ± the farthest of several runs; where there is no ± it is one run. Weights are drawn,
since only time is asked for. Models without embedding and head.

* *Encoder*: what attnc compiles from a spec with projections (E X before them, where that is cheaper), then two products and GELU of PyTorch; E
  and F are two matrices, learned, and features are as many as a head is wide. "exact, PyTorch" has PyTorch's projections around its
  scaled_dot_product_attention.
* *Decoder*: PyTorch's projections around compiled attention, which knows the length, then a gated feed-forward part of PyTorch; the rotation of
  queries and keys is left out.
* *Part*: what has a price: of an encoder the layer without its feed-forward part, of a decoder attention alone; timed inside the first layer.
  *Predicted* is the price of its forward pass by `attnc explain`, which has none of a backward pass.

PyTorch's own products run at {own} GFLOP/s here, a compiled layer at {ours}: so what PyTorch computes is a larger share of a layer than its
multiply-adds are. The backward pass of a compiled layer computes its forward pass again. Compiled exact attention was held to PyTorch's in both
models, loss and gradients, to 1e-3 of their norms, before anything was timed.
"""

CROSSINGS = """**Where a layer with polysketch is faster than with exact attention**, by straight lines between the contexts that were
measured; the paper's step from 4697:

{table}"""

PAGE = """## Measured on this CPU

The models of the first and the third paper on one core ({processor}, f32, batch 1) instead of their devices: one layer at their widths, at their
lengths or shorter ones. *Measured on this CPU* is the ratio of a layer's times, of a forward pass for FLuRKA's claims, of a step of training for
PolySketchFormer's. *Part* is what has a price: a forward pass of FLuRKA's layer without its feed-forward part, or of PolySketchFormer's attention
alone. FlashAttention stands for compiled exact attention, which stores no weights either. EVA's variants were not measured.
[All times](../benchmarks/results/steps.md), and how old they are.

A whole model is as many layers: with exact attention six take {six} times the step of one (n = 7500), twelve {twelve} times (1024 tokens).

A claim is *reproduced* where a layer gains at least {reproduced} of what the paper says, *bounded* where it gains less, but more than {gain}
times, else *refuted*: for this processor, not for theirs.

{claims}
{crossings}
**Where they differ, and why.**{why}"""


WHY = """

* *E X.* FLuRKA's step is mostly the product that compresses tokens, which Linformer has too: at k = N multiply-adds allow no factor of 2, where
  the paper's Linformer also moves N × k weights. That product takes longer than its price: a layer of FLuRKA {slower_top} times its price at k =
  N and {slower_wide} at Figure 5's first length, one of the kernel method, which has no such product, {slower_kernel} times.
* *Figure 3.* There a layer of FLuRKA takes {slower_favor} times its price with FAVOR+ and {slower_elu} with elu + 1, the kernel methods
  {kernel_favor} and {kernel_elu}, Linformer {low_rank}: of the predicted gain of a third, little or nothing is left.
* *Where the kernel method is better.* At Figure 5's width, 4 heads of 128, FLuRKA takes {over_kernel} times as long as its own kernel method at n
  = 7500, and {over_kernel_long} at 52500: heads are too narrow and k too large for (8) to be far enough below (7).
* *Sketches.* Forward, r = 32 is {sketch_forward} times as fast as exact attention at 16384 tokens; but its backward pass takes {sketch_back}
  times its forward pass, where exact attention's takes {exact_back}. With exact blocks of 256, whose gradients go through pairs, a step is slower
  than with exact attention at every context.
* *Performer.* The paper's is a cumulative sum of states, one a token. Ours carries a state from chunk to chunk, and has the fastest step at every
  context.
* *What is around.* Attention is {share_short} % of a step with exact attention at 1024 tokens and {share_long} % at 16384; the rest is PyTorch's,
  and the same for all. So methods differ by little at short contexts, whatever their attention takes.
"""


def milliseconds(value):
    return "–" if value is None else f"{1e3 * value:.3g}" if value < 0.9995 else f"{1e3 * value:.0f}"


def with_spread(taken):
    """The median, and how far the farthest run is from it."""
    if not taken:
        return "–"
    middle = statistics.median(taken)
    far = max(abs(value - middle) for value in taken)
    return milliseconds(middle) + (f" ± {100 * far / middle:.0f} %" if len(taken) > 1 else "")


def shape_table(data, name):
    """A row a variant: the priced part, one layer, and all layers beside as many times one."""
    shape, rows = SHAPES[name], []
    passes = ("forward", "step") if shape.trains else ("forward",)
    counts = [str(layers) for layers in shape.rounds]
    for variant in shape.variants:
        row = data["rows"][name].get(variant)
        if row is None:
            continue
        cells = [milliseconds(predicted(data, name, variant))]
        cells += [milliseconds(seconds(data, name, variant, f"attention_{run}")) for run in passes]
        cells += [with_spread(row.get(count, {}).get(run)) for count in counts for run in passes]
        for count in counts[1:]:
            cells += [number(ratio(seconds(data, name, variant, run, count), seconds(data, name, variant, run))) for run in passes]
        rows.append([VARIANTS[variant], *cells])
    layers_of = lambda count: "a layer" if count == "1" else f"{count} layers"
    header = ["attention", "part, predicted", *(f"part, {run}" for run in passes), *(f"{layers_of(count)}, {run}" for count in counts for run in passes)]
    header += [f"{layers_of(count)} over one, {run}" for count in counts[1:] for run in passes]
    return f"## {shape.title}\n\n{shape.described()}; milliseconds:\n\n{table(header, rows)}"


def crossings_table(data):
    return CROSSINGS.format(table=table(["", "forward", "step"], [[name, *where] for name, where in crossings(data).items()]))


def rates(data, name="figure5_first"):
    """GFLOP/s of a feed-forward part, and of a compiled layer of exact attention."""
    shape = SHAPES[name]
    whole, part = (seconds(data, name, "exact", run) for run in ("forward", "attention_forward"))
    if whole is None:
        return "–", "–"
    layer = 2 * shape.tokens * shape.model * (4 * shape.model + 2 * shape.tokens)
    return number(4e-9 * shape.tokens * shape.model * shape.hidden / (whole - part), 0), number(1e-9 * layer / part, 0)


def why(data):
    """The text that explains the verdicts, with its numbers."""
    of = lambda name, variant, run="forward": seconds(data, name, variant, run)
    part = lambda name, variant, run="forward": of(name, variant, f"attention_{run}")
    times_price = lambda name, variant: number(ratio(part(name, variant), predicted(data, name, variant)), 1)
    over_kernel = lambda name: number(ratio(of(name, "flurka_rnn"), of(name, "rnn")), 1)
    back = lambda variant: number(ratio(part("context16384", variant, "step"), part("context16384", variant)) - 1, 1)
    share = lambda name: number(100 * ratio(part(name, "exact", "step"), of(name, "exact", "step")), 0)
    return WHY.format(
        slower_top=times_price("figure4_top", "flurka_rnn"), slower_wide=times_price("figure5_first", "flurka_rnn"),
        slower_kernel=times_price("figure5_first", "rnn"), slower_favor=times_price("figure3", "flurka_performer"),
        slower_elu=times_price("figure3", "flurka_rnn"), kernel_favor=times_price("figure3", "performer"),
        kernel_elu=times_price("figure3", "rnn"), low_rank=times_price("figure3", "low_rank"),
        over_kernel=over_kernel("figure5_first"), over_kernel_long=over_kernel("figure5"),
        sketch_forward=number(ratio(part("context16384", "exact"), part("context16384", "polysketch32")), 1),
        sketch_back=back("polysketch32"), exact_back=back("exact"), share_short=share("context1024"), share_long=share("context16384"))


def section(data):
    """What docs/Papers.md says."""
    whole = lambda name, count: number(ratio(seconds(data, name, "exact", "step", count), seconds(data, name, "exact", "step")), 1)
    return PAGE.format(six=whole("figure5_first", "6"), twelve=whole("context1024", "12"), processor=data["processor"],
                       reproduced=REPRODUCED, gain=NO_GAIN, claims=claims_table(data), crossings=crossings_table(data), why=why(data))


def text_of(data):
    """What steps.md says."""
    own, ours = rates(data)
    commits = sorted({row["commit"] for rows in data["rows"].values() for row in rows.values()})
    head = HEAD.format(commits=", ".join(commits), processor=data["processor"], torch=data["PyTorch"], own=own, ours=ours)
    tables = [shape_table(data, name) for name in SHAPES if name in data["rows"]]
    return "\n".join([head, *tables, "## The papers' claims\n", claims_table(data), crossings_table(data)])
