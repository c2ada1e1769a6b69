"""Linformer: speed over exact attention by length and rank."""

from layers import feed_forward, projected, stored
from prices import number, ratio, table, total

DEVICE, BANDWIDTH, HEADS, WIDTH, HIDDEN, TOKENS = "a100-40gb", 1.4e12, 12, 64, 3072, 65536
RANKS = [128, 256, 512, 1024, 2048]
PAPER = {512: [1.5, 1.3, None, None, None], 1024: [1.7, 1.6, 1.3, None, None], 2048: [2.6, 2.4, 2.1, 1.3, None],
         4096: [3.4, 3.2, 2.8, 2.2, 1.3], 8192: [5.5, 5.0, 4.4, 3.5, 2.1], 16384: [8.6, 7.8, 7.0, 5.6, 3.3],
         32768: [13, 12, 11, 8.8, 5.0], 65536: [20, 18, 16, 14, 7.9]}

TEXT = """## Linformer, speed over exact attention

The paper's table is of inference in whole models; its machine and shapes are not in our source, so ours is a layer of 12 heads of 64 with
a feed-forward part of 3072, bf16 on `{device}`, {tokens} tokens in all, one E for keys and values. Each cell: paper / ours
where both sides store their weights / ours as compiled, where neither does.

{table}
![speed of Linformer over exact attention](figures/linformer.svg)

**Where they differ, and why.** With stored weights the model has the paper's shape: the gain grows with the length and falls with the rank, and
it is small while projections and feed-forward part are most of a layer. It grows faster than the paper's at great lengths, where the price is
the bytes of the weights and no more, and a measured layer has costs that the price leaves out on both sides. Fused exact attention, which came
after the paper, takes the traffic of n × n weights away; what is left is n against k products, so that the gain begins at larger n.
"""


def speeds(prices, tokens, rank):
    """Where both store their weights, and where neither does."""
    batch = max(1, TOKENS // tokens)
    shape = (prices, DEVICE, tokens, HEADS, WIDTH)
    rest = feed_forward(*shape, HIDDEN, batch=batch)
    exact = total(projected(*shape, {"kind": "softmax"}, batch=batch), rest)
    low_rank = total(projected(*shape, {"kind": "softmax", "low_rank": {"rank": rank}}, batch=batch), rest)
    weights = [stored(BANDWIDTH, tokens, keys, HEADS, batch) for keys in (tokens, rank)]
    return ratio(total(exact, weights[0]), total(low_rank, weights[1])), ratio(exact, low_rank)


def section(prices):
    rows, series = [], {f"k = {rank}, {kind}": [] for rank in (128, 2048) for kind in ("paper", "stored", "fused")}
    for tokens, paper in PAPER.items():
        cells = []
        for rank, figure in zip(RANKS, paper):
            if figure is None:
                cells.append("")
                continue
            plain, fused = speeds(prices, tokens, rank)
            cells.append(f"{figure} / {number(plain, 1)} / {number(fused, 1)}")
            for kind, value in (("paper", figure), ("stored", plain), ("fused", fused)):
                if rank in (128, 2048):
                    series[f"k = {rank}, {kind}"].append((tokens, value))
        rows.append([tokens, *cells])
    text = TEXT.format(device=DEVICE, tokens=TOKENS, table=table(["n \\ k", *map(str, RANKS)], rows))
    return text, {"linformer": ("Linformer: speed over exact attention", "a layer of 12 heads of 64, predicted for an A100 "
                                "of 40 GB, beside the paper's table", series, list(PAPER))}
