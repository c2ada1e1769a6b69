"""Brings the numbers on pages up to the tables in benchmarks/results; with --check only says which are behind.

A comment before a table names the results and the rows that its own rows quote, in order; the line below it says how old they
are (utils/python/freshness.py):

    <!-- cpu-granite-rapids.md: softmax softmax_causal -->
    Commits 803c2c3. Stale: code that is measured here has changed in at least 40 commits since 803c2c3.

A row's first cell is the page's own, and so are the cells after those that are quoted. With --ages the tables themselves are held
to the history: each names its commits, and says in how many commits the code has changed since. Without --check that is mended too.
"""

import argparse
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
RESULTS = SOURCE / "benchmarks" / "results"
sys.path[:0] = [str(SOURCE / folder) for folder in ("utils/python", "benchmarks/papers", "benchmarks")]

# pylint: disable=wrong-import-position
import cpu_report  # noqa: E402
import freshness  # noqa: E402
import python_report  # noqa: E402
import save_report  # noqa: E402
import steps_report  # noqa: E402
from cpu_rows import Point, usual_length  # noqa: E402

QUOTE = re.compile(r"^<!-- ([\w-]+\.md): ([\w ]+) -->\n(?:Commits .*\n)?\n?(\|.*\n\|[-|]+\n)((?:\|.*\n)+)", re.M)

MARKER = re.compile(r"^<!-- [\w-]+\.md:", re.M)
TABLE = re.compile(r"^\|[-|]+\|$", re.M)


def unmarked(page, text):
    """What is wrong with a page's markers, if anything: one without its table, or a table of what was measured without one."""
    if len(MARKER.findall(text)) != len(QUOTE.findall(text)):
        return "expected a table below each marker"
    section = text.partition("\n## Measured\n")[2].partition("\n## ")[0]
    if page.parent.name == "mechanisms" and len(TABLE.findall(section)) != len(MARKER.findall(section)):
        return "expected a marker above each table of what was measured"
    return ""


def three_digits(value):
    return f"{value:.3g}" if value < 99.95 else f"{value:.0f}"


def times(ratio):
    return f"{ratio:.1f}" if ratio < 20 else f"{ratio:.0f}"


def fixed(row):
    """Of a row, what does not depend on the length: the same heads at every one."""
    return not cpu_report.cpu_rows.FAMILIES[row.point.family].quadratic and not row.failed


def growth(rows):
    """Milliseconds at four and sixteen times the usual length, where they were measured, and what each step grew by, over its
    growth of n: 1 is linear."""
    later = [row for row in rows[1:] if fixed(row)]
    if not later:
        return ["–", "–"]
    steps = [f"{new.ours / old.ours / (new.point.n / old.point.n):.2f}" for old, new in zip(rows, later)]
    return [", ".join(three_digits(1e3 * row.ours) for row in later), ", ".join(steps)]


def speeds():
    """{family: milliseconds at its usual length, part of its limit, times as fast as exact attention of that length, growth}"""
    data = json.loads((RESULTS / f"{cpu_report.NEWEST}.json").read_text(encoding="utf-8"))
    row_of = lambda family, n: next(iter(cpu_report.rows_of(data, [Point(family, "f32", 64, n, 1)])), None)
    cells = {}
    for family in cpu_report.cpu_rows.FAMILIES:
        usual = usual_length(family)
        row, *later = (row_of(family, times * usual) for times in (1, 4, 16))
        exact = row_of("softmax_causal" if row.point.causal else "softmax", usual)
        is_same = exact and exact.point.family != family and not cpu_report.cpu_rows.FAMILIES[family].layer
        ratio = times(exact.ours / row.ours) if is_same else "–"
        cells[family] = [three_digits(1e3 * row.ours), f"{row.fraction:.2f}", ratio, *growth([row, *filter(None, later)])]
    return cells


def plans(table):
    """{all, one, two (threads): points, taken over best, worst, rank correlations, pairs in order}, and {spec_n: milliseconds of
    one thread by grouped chunks, by chunks, and their ratio} of the specs that have both."""
    lines = table.read_text(encoding="utf-8").splitlines()
    names = {"all": "all", "1 thread": "one", "2 threads": "two"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    cells = {names[row[0]]: row[1:] for row in rows if row[0] in names}
    for key, point in json.loads(table.with_suffix(".json").read_text(encoding="utf-8")).items():
        best = {form: min((seconds for forms, seconds in point["plans"].items() if f"linearize: {form}," in forms), default=None)
                for form in ("grouped", "chunked")}
        if point["threads"] == 1 and all(best.values()):
            cells["_".join(key.split()[:2])] = [*(three_digits(1e3 * seconds) for seconds in best.values()),
                                                f"{best['grouped'] / best['chunked']:.2f}"]
    return cells


def sources():
    """What pages may quote: rows by the name of the table."""
    cells = {f"{cpu_report.NEWEST}.md": speeds()}
    for table in RESULTS.glob("plans*.md"):
        cells[table.name] = plans(table)
    cells["python.md"] = python_report.cells(json.loads((RESULTS / "python.json").read_text(encoding="utf-8")))
    return cells


def renewed(text, results):
    """The page with the numbers of today."""
    def table(match):
        source, names, head, body = match.group(1), match.group(2).split(), match.group(3), match.group(4)
        lines = body.splitlines()
        if len(lines) != len(names):
            sys.exit(f"expected {len(names)} rows of {', '.join(names)}, but got {len(lines)}")
        rows = []
        for name, line in zip(names, lines):
            if name not in results[source]:
                sys.exit(f"expected a row of {source}, but got {name}")
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            quoted = results[source][name]
            rows.append("| " + " | ".join([cells[0], *quoted, *cells[1 + len(quoted):]]) + " |\n")
        return f"<!-- {source}: {' '.join(names)} -->\n{freshness.state_of(RESULTS / source)}\n\n{head}" + "".join(rows)
    return with_goals(QUOTE.sub(table, text))


def with_goals(text):
    """The page with the goals of each store that it quotes."""
    for store in sorted(RESULTS.glob("cpu*.json")):
        if cpu_report.BEGIN.format(store.stem) in text:
            text = cpu_report.page_with(text, json.loads(store.read_text(encoding="utf-8")), store)
    return text


def figures_behind():
    """Names of the figures that are not those of the newest store."""
    rows = cpu_report.good_rows(json.loads((RESULTS / f"{cpu_report.NEWEST}.json").read_text(encoding="utf-8")))
    return [name for name, text in cpu_report.cpu_figures.figures(rows).items()
            if text != (SOURCE / "docs" / "figures" / name).read_text(encoding="utf-8")]


def reports_behind():
    """Stores whose tables are not what their programs write; ages are another test's."""
    plain = freshness.without_age
    for store in sorted(RESULTS.glob("cpu*.json")):
        data = json.loads(store.read_text(encoding="utf-8"))
        if plain(cpu_report.result_text(data)) != plain(store.with_suffix(".md").read_text(encoding="utf-8")):
            yield f"{store.name} (benchmarks/cpu.py --store {store.relative_to(SOURCE)} --report)"
    if behind := figures_behind():
        yield f"{', '.join(behind)} (benchmarks/cpu.py --store benchmarks/results/{cpu_report.NEWEST}.json --report)"
    for name, report, program in (("python.json", python_report, "python_calls.py"), ("steps.json", steps_report, "papers/steps.py"),
                                  ("save.json", save_report, "save.py")):
        store = RESULTS / name
        table = store.with_suffix(".md").read_text(encoding="utf-8")
        if plain(report.text_of(json.loads(store.read_text(encoding="utf-8")))) != plain(table):
            yield f"{name} (benchmarks/{program} --report)"


def check_ages():
    """1 if a table looks newer than it is."""
    tables = sorted(RESULTS.glob("*.md"))
    wrong = {table.name: said for table in tables if (said := freshness.wrong_with(table))}
    for name, said in wrong.items():
        print(f"FAIL: {name}: {said}")
    print(f"{len(tables) - len(wrong)} of {len(tables)} tables say how old they are")
    return 1 if wrong or not tables else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--ages", action="store_true")
    args = parser.parse_args()
    if args.ages:
        return check_ages()
    if not args.check:
        for table in sorted(RESULTS.glob("*.md")):
            if freshness.wrong_with(table):
                freshness.mend(table)
    check, results, quotes, behind = args.check, sources(), 0, []
    behind += reports_behind()
    for page in sorted((SOURCE / "docs").rglob("*.md")):
        old = page.read_text(encoding="utf-8")
        if wrong := unmarked(page, old):
            sys.exit(f"{page.relative_to(SOURCE)}: {wrong}")
        new = renewed(old, results)
        quotes += len(QUOTE.findall(old))
        if new != old:
            behind.append(str(page.relative_to(SOURCE)))
        if new != old and not check:
            page.write_text(new, encoding="utf-8")
    if behind:
        print(f"{'behind benchmarks/results, run utils/measured.py' if check else 'renewed'}: {', '.join(behind)}")
    print(f"{quotes} tables quote benchmarks/results")
    return 1 if check and (behind or not quotes) else 0


if __name__ == "__main__":
    sys.exit(main())
