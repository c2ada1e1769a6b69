"""The table of benchmarks/python_calls.py, from what is stored: each row with the commit at which it was measured."""

import statistics

TITLES = {
    "c": "C: workspace and run",
    "numpy_out": "the package, NumPy, out=",
    "numpy": "the package, NumPy",
    "torch": "the package, PyTorch",
    "operator": "attune::attend, an operator of PyTorch",
    "nothing": "an operator of PyTorch that does nothing",
    "jax": "the package, JAX (one entry, computed)",
}
COMPILES = {
    "first": "the first in a process, which starts `attnc --version`",
    "later": "a later one",
}


def call_cells(data, name):
    """Microseconds of a call, and over the call from C in the same process."""
    if name not in data["calls"]:
        return ["not measured yet", "–"]
    row = data["calls"][name]
    return [f"{row['microseconds']:.2f}", f"{row['over_c']:.2f}"]


def compile_cells(data, name):
    """Milliseconds: median, least … most."""
    if name not in data["compiles"]:
        return ["not measured yet", "–"]
    taken = data["compiles"][name]["milliseconds"]
    return [f"{statistics.median(taken):.2f}", f"{min(taken):.2f} … {max(taken):.2f}"]


def cells(data):
    """What pages may quote, by the rows' short names."""
    return {name: call_cells(data, name) for name in TITLES} | {name: compile_cells(data, name) for name in COMPILES}


def rows(titles, of, data):
    return [f"| {title} | {' | '.join(of(data, name))} |" for name, title in titles.items()]


def text_of(data):
    commits = sorted({row["commit"] for kind in ("calls", "compiles") for row in data[kind].values()})
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    return "\n".join([
        "# A call from Python", "",
        f"Commits: {', '.join(commits)}. {versions}; `benchmarks/python_calls.py`.", "",
        "Processor time of the calling thread, median of rounds of calls, all ways by turns in one process. The inputs have no batch",
        "entry: what is measured is all that is not the computation.", "",
        "| call | µs | over C |", "|---|---|---|", *rows(TITLES, call_cells, data), "",
        "`attune.compile` of a spec that is in the cache, by the clock, since another program runs; the import is not counted:", "",
        "| `attune.compile` | ms, median | least … most |", "|---|---|---|", *rows(COMPILES, compile_cells, data), ""])
