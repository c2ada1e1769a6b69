"""The rows of benchmarks/save.py, and its table from what is stored."""

import statistics

import freshness
from cpu_report import spread

LAYERS, MOST_BYTES = 12, 1200
HEADS, WIDTH = 4, 64
MECHANISMS = {
    "softmax": {"mechanism": {"kind": "softmax"}},
    "window": {"causal": True, "mechanism": {"kind": "softmax", "window": {"last": 256}}},
    "linformer": {"mechanism": {"kind": "softmax", "low_rank": {"rank": 256}}},
}
# (mechanism, batch, tokens, width of the model)
ROWS = {"softmax_long": ("softmax", 1, 2048, 128), "softmax_wide": ("softmax", 16, 128, 1024),
        "window_long": ("window", 1, 4096, 64), "window_wide": ("window", 1, 4096, 1024),
        "linformer_long": ("linformer", 1, 4096, 64), "linformer_wide": ("linformer", 1, 4096, 1024)}
SLOTS = ("slots_k", "slots_v")
CHOICES = {"nothing": (), "attention": ("o", "lse", *SLOTS), "queries": ("q", *SLOTS), "everything": ("q", "k", "v", "o", "lse", *SLOTS)}


def choice_of(taken):
    """The choice that prices make: the one of the two within the limit whose tensors they take."""
    return next((name for name in ("attention", "queries") if set(taken) - set(SLOTS) == set(CHOICES[name]) - set(SLOTS)), " and ".join(taken))


def price_of(saved, choice):
    """Seconds that the choice saves, by prices."""
    return sum(each["again_seconds"] - each["read_seconds"] for each in saved if set(each["names"]) & set(CHOICES[choice]))


def line_of(name, stored):
    mechanism, batch, tokens, model = ROWS[name]
    median = {choice: statistics.median(seconds) for choice, seconds in stored["seconds"].items()}
    best = min(("attention", "queries"), key=median.get)
    cells = [mechanism, f"{batch} × {tokens}", str(model), *(f"{1e3 * price_of(stored['saved'], choice):.2f}" for choice in ("attention", "queries")),
             choice_of(stored["taken"]), *(f"{1e3 * median[choice]:.2f} ({spread(stored['seconds'][choice]):.0%})" for choice in CHOICES),
             "yes" if choice_of(stored["taken"]) == best else "**no**"]
    return f"| {' | '.join(cells)} |"


def text_of(data):
    rows = {name: data["points"][name] for name in ROWS if name in data["points"]}
    commits = sorted({stored["commit"] for stored in rows.values()})
    lines = ["# What is left for gradients", "",
             f"By `benchmarks/save.py`, commits {', '.join(commits)}, {data['machine']['processor']}.", "",
             f"Layers of {HEADS} heads of {WIDTH}, f32, one thread, processor time of a layer's forward and backward pass in a model of {LAYERS} of them, median of rounds in which",
             "all choices take turns, and in brackets the half of the distance between the quartiles, as a part of the median. *Attention*: its output and the sums of its rows,",
             f"{4 * HEADS * (WIDTH + 1)} bytes a token; *queries*: x W_q, {4 * HEADS * WIDTH}; compressed keys and values beside both where there are some. With the pin",
             f"`save: {MOST_BYTES}` prices choose between the two, which do not fit together.", "",
             "| | batch × tokens | model | attention saves, predicted ms | queries save, predicted ms | chosen | nothing left, ms | attention left, ms | queries left, ms | everything left, ms | the faster of the two |",
             "|---|---|---|---|---|---|---|---|---|---|---|", *(line_of(name, stored) for name, stored in rows.items()), ""]
    return "\n".join(lines)


def write(data, store):
    table = store.with_suffix(".md")
    table.write_text(text_of(data), encoding="utf-8")
    freshness.mend(table)
