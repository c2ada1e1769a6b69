"""Brings the numbers on pages up to the tables in benchmarks/results; with --check only says which are behind.

A comment before a table names the results and the rows that its own rows quote, in order; the line below it says how old they
are (utils/python/freshness.py):

    <!-- cpu-emerald-rapids.md: softmax softmax_causal -->
    Commits 803c2c3. Stale: code that is measured here has changed since.

A row's first cell is the page's own, and so are the cells after those that are quoted. With --ages the tables themselves are held
to the history: each names its commits, and says whether the code has changed since. Without --check that is mended too.
"""

import argparse
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
RESULTS = SOURCE / "benchmarks" / "results"
sys.path[:0] = [str(SOURCE / "utils" / "python"), str(SOURCE / "benchmarks")]

# pylint: disable=wrong-import-position
import cpu_report  # noqa: E402
import freshness  # noqa: E402
from cpu_rows import Point, usual_length  # noqa: E402

QUOTE = re.compile(r"^<!-- ([\w-]+\.md): ([\w ]+) -->\n(?:Commits .*\n)?\n?(\|.*\n\|[-|]+\n)((?:\|.*\n)+)", re.M)
FASTEST = "cpu-emerald-rapids"  # the newest of the tables of speeds


def three_digits(value):
    return f"{value:.3g}" if value < 99.95 else f"{value:.0f}"


def times(ratio):
    return f"{ratio:.1f}" if ratio < 20 else f"{ratio:.0f}"


def kibibytes(value):
    return "–" if value == 0 else f"{value / 1024:.1f} MiB" if value >= 1024 else f"{value:.0f} KiB"


def speeds():
    """{family: milliseconds at its usual length, part of its limit, times as fast as exact attention of that length}"""
    data = json.loads((RESULTS / f"{FASTEST}.json").read_text(encoding="utf-8"))
    row_of = lambda family, n: next(iter(cpu_report.rows_of(data, [Point(family, "f32", 64, n, 1)])), None)
    cells = {}
    for family in cpu_report.cpu_rows.FAMILIES:
        row = row_of(family, usual_length(family))
        exact = row_of("softmax_causal" if row.point.causal else "softmax", usual_length(family))
        ratio = times(exact.ours / row.ours) if exact and exact.point.family != family else "–"
        cells[family] = [three_digits(1e3 * row.ours), f"{row.fraction:.2f}", ratio]
    return cells


def growth():
    """{row: milliseconds at three lengths, growth of time, growth of memory, workspace at the last}"""
    lines = (RESULTS / "growth.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| \w+ \| [\d.]+ ", line)]
    return {row[0]: [", ".join(three_digits(float(ms)) for ms in row[1:4]), ", ".join(row[4:6]), ", ".join(row[9:11]),
                     kibibytes(float(row[13]))] for row in cells}


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
    return QUOTE.sub(table, text)


def reports_behind():
    """Stores whose tables, or whose goals on the page, are not what benchmarks/cpu.py --report writes; ages are another test's."""
    plain = lambda text: text.replace(f" {freshness.STALE}", "")
    page = (SOURCE / "docs" / "Performance.md").read_text(encoding="utf-8")
    for store in sorted(RESULTS.glob("cpu*.json")):
        data = json.loads(store.read_text(encoding="utf-8"))
        same = plain(cpu_report.result_text(data)) == plain(store.with_suffix(".md").read_text(encoding="utf-8"))
        if not same or plain(cpu_report.page_with(page, data, store)) != plain(page):
            yield f"{store.name} (benchmarks/cpu.py --report)"


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
    check, results, quotes, behind = args.check, {f"{FASTEST}.md": speeds(), "growth.md": growth()}, 0, []
    behind += reports_behind()
    for page in sorted((SOURCE / "docs").rglob("*.md")):
        old = page.read_text(encoding="utf-8")
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
