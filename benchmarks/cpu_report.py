"""The tables and figures of benchmarks/cpu.py, from what is stored."""

import pathlib
import re
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "utils" / "python"))

# pylint: disable=wrong-import-position
import cpu_figures
import cpu_goals
import cpu_operations
import cpu_rows
import freshness

# To times of these were fitted: in the code the passes over a window's queries (lib/Cost/SoftmaxWork.cpp); of a device that has a
# file in lib/Cost/devices the rates that it calls fitted, all three files by the libraries of the first; of any other file what
# attnc calibrate fits, product_efficiency, to a library of relu.
FITTED_CODE = {"window_7x7", "window_14x14", "window_128", "window_256", "window_512", "elfatt"}
FITTED_RATES = {"softmax", "softmax_causal", "elu1", "elu1_causal", "linformer"}
CALIBRATED = {"relu"}
NEWEST = "cpu-granite-rapids"  # the store that figures and the pages of mechanisms quote
BUSY = 0.1  # share of the processors that other programs take
BEGIN, END = "<!-- begin: goals of {}, by benchmarks/cpu.py --report -->", "<!-- end: goals -->"  # of a store, by its name


class Row:
    """What the store keeps of a point, in the terms of the tables."""

    def __init__(self, point, stored):
        self.point, self.stored = point, stored
        self.failed = stored.get("failed")
        if not self.failed:
            self.ours = statistics.median(stored["seconds"]["attune"])
            self.peers = {name: statistics.median(times) for name, times in stored["seconds"].items() if name != "attune"}

    @property
    def fraction(self):
        return self.stored["bound"] / self.ours

    @property
    def fastest(self):
        """Name of the fastest peer; none if no peer is there."""
        return min(self.peers, key=self.peers.get, default=None)

    def ratios(self, name):
        """Of each round: the peer's time to ours."""
        return [peer / ours for peer, ours in zip(self.stored["seconds"][name], self.stored["seconds"]["attune"])]

    @property
    def ratio(self):
        return statistics.median(self.ratios(self.fastest)) if self.fastest else None

    def fraction_at(self, ratio):
        """Of the limit, that it would take to be so many times as fast as the fastest peer."""
        return self.fraction * ratio / self.ratio

    @property
    def gain(self):
        """Of several threads: the time of one to theirs, round by round; none if one was not timed beside them."""
        alone = self.stored.get("alone")
        return statistics.median(one / ours for one, ours in zip(alone, self.stored["seconds"]["attune"])) if alone else None

    @property
    def error(self):
        """Of the cost model: predicted to measured, less one."""
        return self.stored["predicted"] / self.ours - 1


def spread(values):
    """Half of the distance between the quartiles, as a part of the median."""
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / statistics.median(values)


def bound_now(machine, point, stored):
    """The limit that binds by today's count of what the function needs, at the rates that were measured beside it."""
    if "limits" not in stored:
        return {}
    caches = [(name, size * (1 if name == "L3" else point.threads)) for name, size in machine["caches"].items()]
    bound, limit = cpu_operations.binding(point, stored["limits"], caches)
    return {"bound": bound, "limit": limit}


def rows_of(data, points):
    return [Row(point, stored | bound_now(data["machine"], point, stored))
            for point in points if (stored := data["points"].get(point.name))]


#===----------------------------------------------------------------------------------------------------------------===#
# Goals
#===----------------------------------------------------------------------------------------------------------------===#


def span(values, form):
    """The median, and the least and most."""
    if not values:
        return "–"
    middle = statistics.median(values)
    return form(middle) if len(values) == 1 else f"**{form(middle)}** ({form(min(values))} … {form(max(values))})"


def hundredths(value):
    return f"{value:.2f}"


def speed(goal, rows):
    """(what was measured, how many points meet each part of the goal)"""
    fractions, ratios = [row.fraction for row in rows], [row.ratio for row in rows if row.fastest]
    said = [f"{span(fractions, hundredths)} of {', '.join(sorted({row.stored['limit'] for row in rows}))}"]
    if ratios:
        names = [row.fastest for row in rows if row.fastest]
        usual = max(sorted(set(names)), key=names.count)
        said.append(f"{span(ratios, lambda r: f'{r:.1f}×')} {usual}{' and others' if len(set(names)) > 1 else ''}")
    wanted = [row.fraction_at(goal.ratio) for row in rows if row.fastest and row.ratio < goal.ratio]
    if wanted:
        said.append(f"{goal.ratio:g}× would take {span(wanted, hundredths)} of the limit where it is missed")
    return said, [count(value >= goal.fraction for value in fractions), count(value >= goal.ratio for value in ratios)]


def count(tests):
    """How many points meet a goal, of how many."""
    tests = list(tests)
    return sum(tests), len(tests)


def paired(rows, key):
    """Rows by what they share, in the order of `key`."""
    groups = {}
    for row in rows:
        groups.setdefault((row.point.family, row.point.dtype, row.point.d), []).append(row)
    return {group: sorted(both, key=key) for group, both in groups.items() if len(both) == 2}


def listed(values, wrong, form, largest_first):
    """Those that miss, the worst first."""
    missing = sorted(((value, name) for name, value in values.items() if wrong(value)), reverse=largest_first)
    return ", ".join(f"{name} {form(value)}" for value, name in missing[:6]) + (", …" if len(missing) > 6 else "")


def cores(goal, rows):
    """Seconds of one thread to those of two, by turns where they were."""
    values = {family: two.gain or one.ours / two.ours
              for (family, *_), (one, two) in paired(rows, lambda row: row.point.threads).items()}
    return pairs_said(values, lambda value: value < goal.limit, lambda value: f"{value:.2f}", largest_first=False)


def growth(goal, rows):
    """Time a token of the longer to that of the shorter."""
    values = {family: long.ours / long.point.n / (short.ours / short.point.n)
              for (family, *_), (short, long) in paired(rows, lambda row: row.point.n).items()}
    return pairs_said(values, lambda value: value > goal.limit, lambda value: f"{value:.2f}×")


def overhead(goal, rows):
    """Seconds of a call for one head less those that a head of a batch takes."""
    values = {family: one.ours - many.ours / many.point.batch
              for (family, *_), (one, many) in paired(rows, lambda row: row.point.batch).items()}
    return pairs_said(values, lambda value: value > goal.limit, lambda value: f"{value * 1e6:.1f} µs")


def pairs_said(values, wrong, form, largest_first=True):
    missing = listed(values, wrong, form, largest_first)
    said = [span(list(values.values()), form)]
    return said + ([f"missed by {missing}"] if missing else []), [count(not wrong(value) for value in values.values())]


KINDS = {"speed": speed, "cores": cores, "growth": growth, "overhead": overhead}


def asked(goal):
    if goal.kind == "speed":
        return f"≥ {goal.fraction:.2f} of the limit, ≥ {goal.ratio:g}× the fastest peer"
    return {"cores": f"≥ {goal.limit}× one core", "growth": f"time a token ≤ {goal.limit}×",
            "overhead": f"≤ {(goal.limit or 0) * 1e6:g} µs above its arithmetic"}[goal.kind]


def verdict(met, complete):
    """A row is met if each of its points is."""
    words = ["no peer" if not most else "yes" if good == most else f"**no**, {good} of {most}" for good, most in met]
    return "; ".join(words) + ("" if complete else " (incomplete)")


def goal_lines(data):
    yield "| | asked for | measured: median (least … most) | met |"
    yield "|---|---|---|---|"
    for goal in cpu_goals.GOALS:
        rows = [row for row in rows_of(data, goal.points) if not row.failed]
        if not rows or goal.kind != "speed" and not paired(rows, lambda row: row.point.name):
            yield f"| {goal.title} | {asked(goal)} | not measured yet | – |"
            continue
        said, met = KINDS[goal.kind](goal, rows)
        note = f" ({goal.without_amx})" if goal.without_amx and "amx_bf16" in data["machine"]["missing"] else ""
        yield f"| {goal.title}{note} | {asked(goal)} | {'; '.join(said)} | {verdict(met, len(rows) == len(goal.points))} |"


def spread_of(errors):
    return f"median error {statistics.median(errors):.0%}, worst {max(errors):.0%}, over {len(errors)} points"


def fitted_to(device):
    """The families that predictions for a device, a name or a file, are no predictions of."""
    return FITTED_CODE | (CALIBRATED if device.endswith(".yaml") else FITTED_RATES)


def model_line(data, points):
    """Of all families, and of those that no rate or constant of the model was fitted to."""
    device = data["machine"]["device"]
    errors = [(row.point.family, abs(row.error)) for row in rows_of(data, points) if not row.failed]
    held_out = [error for family, error in errors if family not in fitted_to(device)]
    if not held_out:
        return ""
    return (f"The cost model's prediction for `{device}`: {spread_of([error for _, error in errors])} (asked for: median ≤ 25 %); "
            f"of families to which neither its rates nor constants of the model were fitted, {spread_of(held_out)}.")


#===----------------------------------------------------------------------------------------------------------------===#
# Points
#===----------------------------------------------------------------------------------------------------------------===#


def milliseconds(times):
    middle = 1e3 * statistics.median(times)
    return f"{middle:.3g} ({1e3 * min(times):.3g} … {1e3 * max(times):.3g})"


def peer_cell(row, name):
    ratios = row.ratios(name)
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} … {max(ratios):.2f})"


def point_line(row):
    point, others = row.point, sorted((name for name in row.peers if name != row.fastest), key=row.peers.get)
    rest = ", ".join(f"{name} {statistics.median(row.ratios(name)):.2f}" for name in others)
    fastest = f"{row.fastest} {peer_cell(row, row.fastest)}" if row.fastest else "–"
    return (f"| {point.name} | {point.head_count} | {milliseconds(row.stored['seconds']['attune'])} | {row.fraction:.2f} "
            f"{row.stored['limit']} | {row.error:+.0%} | {fastest} | {rest or '–'} |")


def absent_lines(rows):
    """Why peers are not in the table: each reason once, with how often."""
    counts = {}
    for row in rows:
        for name, reason in row.stored["absent"].items():
            reason = re.sub(r"error [\d.e+-]+", "error above the tolerance", reason)
            counts[name, reason] = counts.get((name, reason), 0) + 1
    return [f"* {name}: {reason} ({count} points)" for (name, reason), count in sorted(counts.items())]


def busy_line(rows):
    """How far the machine was quiet."""
    busy = sum(row.stored["others"] > BUSY for row in rows)
    disturbed = sum(row.stored["disturbed"] > 0 for row in rows)
    halved = sum(row.stored.get("halved", 0) > BUSY for row in rows)
    return (f"Of {len(rows)} points {busy} were timed while other programs took more than a tenth of the processors; in {disturbed} "
            f"a thread had to wait for its processor in some turn, and in {halved} more than a tenth of the turns shared a core with a "
            "program that no clock of this system shows.")


def age(commits):
    """What a table says where the code has changed since; nothing where the history is not there to tell."""
    try:
        return " " + freshness.words_for(commits, freshness.KERNELS)
    except freshness.NoHistory:
        return ""


def machine_lines(machine, rows):
    caches = ", ".join(f"{name} {size >> 10} KiB" for name, size in machine["caches"].items())
    yield f"{machine['processor']}, {machine['processors']} processors, {caches}; {machine['system']}."
    yield f"It has {', '.join(machine['units'])}; it lacks {', '.join(machine['missing']) or 'none of what is asked for'}."
    if "amx_bf16" in machine["missing"]:
        yield "**Rows of AMX are left out: there is none here.**"
    peers = ", ".join(f"{name} {version}" for name, version in machine["peers"].items())
    yield f"Peers: {peers or 'none were there'}."
    commits = sorted({row.stored["commit"] for row in rows})
    yield f"Commits: {', '.join(commits)}.{age(commits)}".rstrip()
    yield busy_line(rows)


def limit_lines(rows, machine):
    bf16 = "bf16 dot" if "amx_bf16" in machine["missing"] else "AMX"
    yield "| threads | " + " | ".join(["f32 FMA", bf16, "exp", "L1", "L2", "L3", "memory"]) + " |"
    yield "|---|" + "---|" * 7
    for threads in (1, 2):
        seen = [row.stored["limits"] for row in rows if row.point.threads == threads]
        if seen:
            cells = [statistics.median(limits[name] for limits in seen if name in limits) / 1e9 if name in seen[0] else None
                     for name in ("f32", "bf16", "exp", "L1", "L2", "L3", "memory")]
            yield f"| {threads} | " + " | ".join("–" if cell is None else f"{cell:.0f}" for cell in cells) + " |"


def every_point(data):
    known = {point.name: point for point in [*cpu_goals.points(), *cpu_rows.grid(all_widths=True), *cpu_rows.quick()]}
    return [known[name] for name in data["points"] if name in known]


def result_text(data):
    points = every_point(data)
    order = {name: i for i, name in enumerate(cpu_rows.FAMILIES)}
    points.sort(key=lambda p: (p.threads, order[p.family], p.dtype != "f32", p.d, p.n, p.batch))
    rows = rows_of(data, points)
    good = [row for row in rows if not row.failed]
    lines = ["# Attention on this CPU, beside its limits and its peers", "",
             "Made by `benchmarks/cpu.py`; [how it is measured, what each column means](../../docs/Performance.md).", "",
             *machine_lines(data["machine"], good), "", "## Goals", "", *goal_lines(data), "", model_line(data, points), "",
             "## Limits", "", "Medians, 10⁹ a second, all threads together: multiply-adds, exponentials, bytes read.", "",
             *limit_lines(good, data["machine"]), "", "## Points", "",
             "ms: median (least … most). Fraction of the binding limit, and which it is. Cost model: predicted to measured, less one. "
             "Peers: their time to Attune's, round by round.", "",
             "| point | heads | ms | of its limit | cost model | fastest peer | other peers |", "|---|---|---|---|---|---|---|",
             *map(point_line, good), ""]
    failed = [f"* {row.point.name}: {row.failed}" for row in rows if row.failed]
    lines += ["## Not measured", "", *failed, *absent_lines(good), ""]
    return "\n".join(lines)


def between(page, begin, lines):
    """The page with what its generated part after `begin` holds replaced; as it is if it has no such part."""
    if begin not in page:
        return page
    head, rest = page.split(begin)
    return head + begin + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1]


def good_rows(data):
    return [row for row in rows_of(data, every_point(data)) if not row.failed]


def page_with(page, data, store):
    """The page with the goals of the store as they are, as old as its table says."""
    rows = good_rows(data)
    commits = sorted({row.stored["commit"] for row in rows})
    lines = [*goal_lines(data), "", f"{data['machine']['processor']}, commits {', '.join(commits)}. {freshness.said_by(store.with_suffix('.md'))}".rstrip(),
             model_line(data, every_point(data)), busy_line(rows)]
    return between(page, BEGIN.format(store.stem), lines)


def write(data, store, source):
    """The tables beside the store, and its part of the page. The figures are those of the newest."""
    store.with_suffix(".md").write_text(result_text(data), encoding="utf-8")
    page = source / "docs" / "Performance.md"
    page.write_text(page_with(page.read_text(encoding="utf-8"), data, store), encoding="utf-8")
    if store.stem == NEWEST:
        rows = good_rows(data)
        for name, text in cpu_figures.figures(rows).items():
            (source / "docs" / "figures" / name).write_text(text, encoding="utf-8")
