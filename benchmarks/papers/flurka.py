"""FLuRKA: Figures 3, 4 and 5 on the A100 of 80 GB."""

from layers import feed_forward, flurka_equations, mechanism, projected, stored
from prices import number, ratio, table, total

DEVICE, BANDWIDTH, HIDDEN, CHUNKS = "a100-80gb", 1.84e12, 512, 25
VARIANTS = {"performer": "Performer", "rnn": "RNN", "eva": "EVA"}
LENGTHS = [7050, 13050, 25050, 37050, 49050, 55500]

OPENING = """## FLuRKA, Figures 3 to 5

The paper's step is six layers of attention and a feed-forward part of 512, on an A100 of 80 GB, in JAX. Ours is the price of one such
layer in bf16 on `{device}`: projections, attention, output projection, two products of 512 · D a token. Features are as many as the head
is wide; EVA has {chunks} chunks. The columns:

* *equations*: (6) over (8), or (7) over (8), multiply-adds without the feed-forward part and W_O;
* *any width*: what attnc compiles, for an A100 whose tiles may be of any width (`fast_bytes` and `accumulators_per_thread` lifted); it
  takes the paper's order, E X and then the projections of the compressed tokens, by a law and not by hand;
* *weights stored*: the same beside a Linformer that writes and reads its N × k weights twice each, as code of its time does;
* *on the device*: for the device as it is; "–" where it has no plan.
"""


class Layer:
    """Seconds of the four layers at one shape: exact, low rank, kernel, FLuRKA; None where there is no plan."""

    def __init__(self, prices, device, tokens, slots, heads, width, variant):
        shape = (prices, device, tokens, heads, width)
        rest = feed_forward(*shape, HIDDEN)
        low_rank = {"low_rank": {"rank": slots, "tied": False}}
        self.exact = total(projected(*shape, {"kind": "softmax"}), rest)
        self.exact_stored = total(self.exact, stored(BANDWIDTH, tokens, tokens, heads))
        self.kernel = total(projected(*shape, mechanism(variant, width, tokens, CHUNKS)), rest)
        self.low_rank = total(projected(*shape, {"kind": "softmax", **low_rank}), rest)
        self.low_rank_stored = total(self.low_rank, stored(BANDWIDTH, tokens, slots, heads))
        self.fused = total(projected(*shape, {**mechanism(variant, width, slots, CHUNKS), **low_rank}), rest)

    def over_low_rank(self):
        return ratio(self.low_rank, self.fused)

    def over_kernel(self):
        return ratio(self.kernel, self.fused)

    def over_exact(self):
        return ratio(self.exact, self.fused), ratio(self.exact_stored, self.fused)


def free(prices):
    return prices.device(DEVICE, fast_bytes="1.0e9", accumulators_per_thread="1.0e6")


def end_of_sweep(prices, title, shape, paper, over):
    """The last point of a sweep: a row a variant."""
    low_rank, kernel, fused = flurka_equations(*shape)
    equations = {"over_low_rank": low_rank / fused, "over_kernel": kernel / fused}[over]
    rows = []
    for variant, name in VARIANTS.items():
        any_width = Layer(prices, free(prices), *shape, variant)
        cells = [getattr(any_width, over)(), getattr(Layer(prices, DEVICE, *shape, variant), over)()]
        if over == "over_low_rank":
            cells.insert(1, ratio(any_width.low_rank_stored, any_width.fused))
        rows.append([name, paper[name], number(equations), *map(number, cells)])
    header = ["variant", "paper", "equations", "any width", "weights stored", "on the device"]
    if over == "over_kernel":
        header.remove("weights stored")
    return f"{title}\n\n" + table(header, rows)


def length_sweep(prices):
    """Figure 3 over the length, of the RNN variant."""
    points = [(n, Layer(prices, free(prices), n, 1500, 8, 325, "rnn")) for n in LENGTHS]
    equations = {n: flurka_equations(n, 1500, 8, 325) for n in LENGTHS}
    rows = []
    for n, layer in points:
        low_rank, kernel, fused = equations[n]
        rows.append([n, number(low_rank / fused), number(layer.over_low_rank()), number(kernel / fused),
                     number(layer.over_kernel()), *map(number, layer.over_exact())])
    text = table(["N", "(6) / (8)", "over low rank", "(7) / (8)", "over kernel", "over exact, fused",
                  "over exact, stored"], rows)
    series = {"over Linformer": [(n, layer.over_low_rank()) for n, layer in points],
              "over RNN": [(n, layer.over_kernel()) for n, layer in points],
              "over exact, fused": [(n, layer.over_exact()[0]) for n, layer in points],
              "over exact, stored": [(n, layer.over_exact()[1]) for n, layer in points],
              "(6) / (8)": [(n, counts[0] / counts[2]) for n, counts in equations.items()],
              "(7) / (8)": [(n, counts[1] / counts[2]) for n, counts in equations.items()]}
    return text, series


def section(prices):
    parts = [OPENING.format(device=DEVICE, chunks=CHUNKS)]
    parts.append(end_of_sweep(prices, "**Figure 3**, N = 55500, k = 1500, 8 heads of 325: over Linformer.",
                              (55500, 1500, 8, 325), {"Performer": 1.86, "RNN": 1.83, "EVA": 1.86}, "over_low_rank"))
    parts.append(end_of_sweep(prices, "The same over the kernel method.",
                              (55500, 1500, 8, 325), {"Performer": 1.37, "RNN": 1.37, "EVA": 1.31}, "over_kernel"))
    text, series = length_sweep(prices)
    parts.append("Over the length, RNN variant, tiles of any width; the paper: up to 25.1 over full attention, which stores "
                 "its weights.\n\n"
                 + text + "\n![speed-up of FLuRKA over the length](figures/flurka-length.svg)\n")
    parts.append(end_of_sweep(prices, "**Figure 4**, top: N = 20000, k = 20000, 4 heads of 128: over Linformer.",
                              (20000, 20000, 4, 128), {"Performer": 3.39, "RNN": 3.38, "EVA": 3.12}, "over_low_rank"))
    parts.append(end_of_sweep(prices, "Bottom: N = 20000, k = 1000, D = 20000, 4 heads of 5000: over the kernel method.",
                              (20000, 1000, 4, 5000), {"Performer": 1.72, "RNN": 1.72, "EVA": 1.71}, "over_kernel"))
    layers = [(n, Layer(prices, DEVICE, n, 1000, 4, 128, "rnn")) for n in range(7500, 52501, 9000)]
    parts.append("**Figure 5**, against FlashAttention, RNN variant, 4 heads; the paper: up to 23. Its k and width are not told; "
                 "k = 1000 and heads of 128 are taken here, on the device as it is.\n\n"
                 + table(["N", "over fused exact", "attention alone"],
                         [[n, number(layer.over_exact()[0]), number(alone(prices, n))] for n, layer in layers]))
    parts.append(WHY)
    return "\n".join(parts), {"flurka-length": ("FLuRKA, RNN variant: speed-up of a layer", "k = 1500, 8 heads of 325, "
                                                "predicted for an A100 of 80 GB with tiles of any width", series, LENGTHS)}


def alone(prices, tokens):
    """Exact attention over attention to the slots, nothing around them."""
    exact = prices.seconds(DEVICE, queries=tokens, heads=4, head_dim=128, mechanism={"kind": "softmax"})
    slots = prices.seconds(DEVICE, queries=tokens, keys=1000, heads=4, head_dim=128,
                           mechanism=mechanism("rnn", 128, tokens))
    return ratio(exact, slots)


WHY = """**Where they differ, and why.**

* *The shared part.* Equations leave out W_O and the feed-forward part, which both sides have, so a layer's ratio is nearer to 1 than theirs;
  and products are not all a kernel waits for.
* *Partial sums.* A compression to k tokens is cut into pieces of 2,048 tokens, whose sums of k × D in f32 are written, read and added. The
  paper's k of 1500 and more is nearly a piece, so that these sums are larger than the tokens themselves: a cost that no equation has, and
  a reason why E X pays less against the kernel method here than there.
* *Stored weights.* At k = N, the end of Figure 4's first sweep, FLuRKA saves nothing by compressing and is a kernel method with two
  products E X on top; the operations give it less than twice Linformer's speed. A part of the paper's lead beyond that is the traffic of
  N × k weights, which a fused softmax does not have; what remains is not in our counts (a softmax of several kernels, in what JAX then
  made of it). The same holds for the lead over full attention: the paper's 25 is over N × N weights in memory. Figure 5 is over a fused
  one, and there the shape decides how much of a layer is attention; attention alone gains far more than a layer.
* *Tiles.* Heads of 325 or 5000 are wider than a tile of the device. Where it has no plan with a state, the kernel method is compiled in its
  quadratic form, and FLuRKA's lead over it "on the device" is that of another algorithm.
* *The claims.* The first points of the length sweep violate N > k (H + 2), the paper's own condition, and FLuRKA needs fewer operations there
  all the same: the region is not tight. At k = N it lies outside every region in which FLuRKA beats the kernel method
  ([corrected](Costs.md#flurkas-equations)); the paper's figure does not show that comparison.
"""
