"""ELFATT: block sizes, splits and mechanisms of CSWin-T on an H20."""

from layers import stored
from prices import number, table, total

DEVICE, BANDWIDTH, BATCH = "h20", 3.6e12, 512
# The four levels of CSWin-T at 224²: layers, side of the image of tokens, channels; heads are 32 wide.
LEVELS = [(1, 56, 64), (2, 28, 128), (21, 14, 256), (1, 7, 512)]
# Images a second without and with FlashAttention-2 in the local heads.
SIZES = {(49, 49, 49, 49): (2619, 2805), (49, 49, 196, 49): (2603, 2856), (49, 196, 196, 49): (2552, 2863),
         (196, 196, 196, 49): (2512, 2881)}
SPLITS = {0.0: (2331, 2880), 0.25: (2530, 2835), 0.5: (2512, 2881), 0.75: (2458, 2796), 1.0: (2394, 2526)}
WITHOUT_LEPE = (2801, 3271)
BACKBONE = {"softmax": (1303, 2210), "LOCAL": (2330, 2519), "EFFATT": (2394, 2526), "Agent": (2297, 2425),
            "ELFATT": (2603, 2856)}

TEXT = """## ELFATT, splits and block sizes

CSWin-T on ImageNet, images a second in batches of 512 on an H20. Images a second are mostly the rest of the network, so what is compared is
the time of a batch beside that of one row: milliseconds more (or less) than it. The paper gives two speeds, without and with
FlashAttention-2 in the local heads; ours is the price of the attention of all 25 layers in f16 on `{device}`, whose local heads are fused.

**Tokens in a window**, level by level; half of the channels global:

{sizes}
**Channels of the global part**, windows of 196, 196, 196, 49:

{splits}
**Depthwise convolution (LePE)**: milliseconds that it adds to a batch.

{lepe}
**Mechanisms**, milliseconds more than ELFATT with windows of 49, 49, 196, 49; exact attention without FlashAttention stores its weights:

{mechanisms}
**Where they differ, and why.** With FlashAttention larger windows make the paper's network a little faster, without it slower, where the stored
weights grow with the window; ours changes by little, since a fused window of 196 has more products and fewer blocks. The paper's convolution is
a kernel of its own that reads and writes an image; ours is an epilogue of the attention and costs a part of that. Of the splits the
paper's extremes are slow: all local without FlashAttention, which stores the most weights, and all global, which has no use of it; ours are nearly
equal, as attention at these lengths is little work beside moving q, k, v and o. For the same reason windows alone or EFFATT alone
are no slower than ELFATT here, as they are in the paper, whose parts are many kernels of a framework; which windows its LOCAL has
is not in our source, ours are of 7 × 7. Exact attention is the slowest in both, by less here since it is fused and half as wide in memory.
"""


def windowed(side, tokens):
    size = int(tokens ** 0.5)
    return {"kind": "softmax", "window": {"grid": [side, side], "size": [size, size]}}


def seconds(prices, side, heads, width, mechanism, lepe, layers):
    """One part of a level in all its layers."""
    if heads == 0 or width == 0:
        return 0.0
    if lepe:
        mechanism = {**mechanism, "lepe": {} if "window" in mechanism else {"grid": [side, side]}}
    forward = prices.seconds(DEVICE, queries=side * side, heads=heads, head_dim=width, batch=BATCH, dtype="f16",
                             mechanism=mechanism)
    return total(layers * forward) if forward is not None else None


def network(prices, sizes, share=0.5, lepe=True):
    """Milliseconds of the attention of a batch. A pair of heads, 64 channels, is cut into a global and a local part."""
    parts = []
    for (layers, side, channels), tokens in zip(LEVELS, sizes):
        pairs, wide = channels // 64, int(64 * share)
        parts.append(seconds(prices, side, pairs, wide, {"kind": "effatt"}, lepe, layers))
        parts.append(seconds(prices, side, pairs, 64 - wide, windowed(side, tokens), lepe, layers))
    return milliseconds(parts)


def whole(prices, mechanism_of, with_weights=False):
    """The same with one mechanism for all heads of 32."""
    parts = []
    for layers, side, channels in LEVELS:
        parts.append(seconds(prices, side, channels // 32, 32, mechanism_of(side), True, layers))
        if with_weights:
            parts.append(layers * stored(BANDWIDTH, side * side, side * side, channels // 32, BATCH))
    return milliseconds(parts)


def milliseconds(parts):
    value = total(*parts)
    return None if value is None else 1e3 * value


def batch_time(images_a_second):
    return 1e3 * BATCH / images_a_second


def beside(rows, paper, ours, base):
    """Rows of differences from the row `base`: the paper's two, and ours."""
    result = []
    for name, key in rows:
        differences = [batch_time(paper[key][i]) - batch_time(paper[base][i]) for i in (0, 1)]
        mine = None if ours[key] is None or ours[base] is None else ours[key] - ours[base]
        result.append([name, *(number(value, 1) for value in differences), number(mine, 1), number(ours[key], 1)])
    return result


HEADER = ["", "paper, plain", "paper, FlashAttention", "ours", "ours, attention alone"]


def section(prices):
    by_size = {size: network(prices, size) for size in SIZES}
    by_split = {share: network(prices, (196, 196, 196, 49), share) for share in SPLITS}
    last = (196, 196, 196, 49)
    lepe = [batch_time(SIZES[last][i]) - batch_time(WITHOUT_LEPE[i]) for i in (0, 1)]
    without = network(prices, last, lepe=False)
    own_lepe = None if by_size[last] is None or without is None else by_size[last] - without
    agents = {56: 49, 28: 49, 14: 49, 7: 49}
    ours = {"softmax": whole(prices, lambda side: {"kind": "softmax"}),
            "LOCAL": whole(prices, lambda side: windowed(side, 49)),
            "EFFATT": whole(prices, lambda side: {"kind": "effatt"}),
            "Agent": whole(prices, lambda side: {"kind": "agent", "agents": agents[side]}),
            "ELFATT": network(prices, (49, 49, 196, 49))}
    plain = whole(prices, lambda side: {"kind": "softmax"}, with_weights=True)
    mechanisms = beside([(name, name) for name in BACKBONE], BACKBONE, ours, "ELFATT")
    mechanisms.insert(0, ["softmax, weights stored", number(batch_time(1303) - batch_time(2603), 1), "",
                          number(None if plain is None else plain - ours["ELFATT"], 1), number(plain, 1)])
    names = [("-".join(map(str, size)), size) for size in SIZES]
    text = TEXT.format(
        device=DEVICE,
        sizes=table(HEADER, beside(names, SIZES, by_size, (49, 49, 49, 49))),
        splits=table(HEADER, beside([(f"{share:g}", share) for share in SPLITS], SPLITS, by_split, 0.5)),
        lepe=table(HEADER[:-1], [["LePE", *(number(value, 1) for value in lepe), number(own_lepe, 1)]]),
        mechanisms=table(HEADER, mechanisms))
    return text, {}
