"""The tables of benchmarks/plans.py."""

import statistics
import subprocess


class Row:
    """A point: measured and predicted seconds of each plan, the predicted order first."""

    def __init__(self, point, prices):
        self.spec, self.n, self.threads = point["spec"], point["n"], point["threads"]
        self.plans = [(forms, price, point["plans"][forms]) for forms, price in prices.items() if forms in point["plans"]]
        self.plans.sort(key=lambda plan: plan[1])
        self.missing = [forms for forms in prices if forms not in point["plans"]]

    @property
    def taken(self):
        return self.plans[0]

    @property
    def best(self):
        """Of the ten cheapest by price."""
        return min(self.plans[:10], key=lambda plan: plan[2])

    @property
    def ratio(self):
        return self.taken[2] / self.best[2]


def ranks(values):
    """From 1; equal values share the mean of their places."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in range(start, end + 1):
            result[order[place]] = (start + end) / 2 + 1
        start = end + 1
    return result


def spearman(pairs):
    """The correlation of ranks of (predicted, measured)."""
    a, b = (ranks([pair[i] for pair in pairs]) for i in (0, 1))
    return statistics.correlation(a, b)


def ordered(row, least=1.05):
    """Pairs of plans of a point whose times differ by 5 % or more, and how many of them are in the predicted order."""
    pairs = [(a, b) for i, a in enumerate(row.plans) for b in row.plans[i + 1:]
             if max(a[2], b[2]) >= least * min(a[2], b[2])]
    return len(pairs), sum(a[2] <= b[2] for a, b in pairs)


def within(rows):
    """Mean of the rank correlations within points of at least three plans."""
    several = [row for row in rows if len(row.plans) >= 3]
    return statistics.mean(spearman([plan[1:] for plan in row.plans]) for row in several) if several else float("nan")


def summary(rows):
    ratios = [row.ratio for row in rows]
    pairs = [sum(column) for column in zip(*map(ordered, rows))]
    return [f"{len(rows)}", f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}",
            f"{spearman([plan[1:] for row in rows for plan in row.plans]):.3f}", f"{within(rows):.2f}",
            f"{pairs[1]} of {pairs[0]}"]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def table(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def misses(rows, least):
    lines = []
    for row in sorted(rows, key=lambda row: -row.ratio):
        if row.ratio >= least:
            lines.append([row.spec, str(row.n), str(row.threads), f"{row.ratio:.2f}", row.taken[0] or "the only form",
                          row.best[0], f"{row.best[1] / row.taken[1]:.2f}"])
    return lines


def text_of(rows, args):
    version = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    text = [f"# Plans: what is taken beside what is fastest\n\n{processor()}, device `{args.device or 'x86-64-avx512'}`, "
            f"commit {version}; `benchmarks/plans.py`. f32, heads of 64.\n"]
    groups = [("all", rows)] + [(f"{t} thread{'s' * (t > 1)}", [r for r in rows if r.threads == t])
                                for t in sorted({r.threads for r in rows})]
    text.append(table(["", "points", "taken / best, median", "worst", "rank correlation", "within points",
                       "pairs in order"], [[name, *summary(group)] for name, group in groups]))
    body = [[r.spec, str(r.n), str(r.threads), str(len(r.plans)), f"{r.taken[2] * 1e3:.3f}", f"{r.ratio:.2f}",
             f"{r.taken[1] / r.taken[2]:.2f}", r.taken[0] or "the only form"] for r in rows]
    text.append(table(["spec", "n", "threads", "plans", "ms", "taken / best", "predicted / measured", "taken"], body))
    lines = misses(rows, 1.1)
    if lines:
        text.append("Taken 1.1 times as slow as the best, or worse:\n")
        text.append(table(["spec", "n", "threads", "taken / best", "taken", "best", "its price / the taken one's"], lines))
    return "\n".join(text)
