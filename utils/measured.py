"""Brings the numbers on pages up to the tables in benchmarks/results; with --check only says which are behind.

A comment before a table names the results and the rows that its own rows quote, in order:

    <!-- mechanisms.md: softmax softmax_causal -->

A row's first cell is the page's own, and so are the cells after those that are quoted.
"""

import argparse
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
RESULTS = SOURCE / "benchmarks" / "results"
QUOTE = re.compile(r"^<!-- (\w+\.md): ([\w ]+) -->\n(\|.*\n\|[-|]+\n)((?:\|.*\n)+)", re.M)


def three_digits(value):
    return f"{value:.3g}" if value < 99.95 else f"{value:.0f}"


def times(ratio):
    return f"{ratio:.1f}" if ratio < 20 else f"{ratio:.0f}"


def kibibytes(value):
    return "–" if value == 0 else f"{value / 1024:.1f} MiB" if value >= 1024 else f"{value:.0f} KiB"


def speeds():
    """{row: milliseconds, fraction of the peak, times as fast as exact attention}"""
    rows = re.findall(r"^(\w+) +\d+ +([\d.]+) .*? … +[\d.]+ +[\d.]+ +([\d.]+) +([\d.]+)$",
                      (RESULTS / "mechanisms.md").read_text(encoding="utf-8"), re.M)
    return {name: [three_digits(float(ms)), peak, "–" if name in ("softmax", "softmax_causal") else times(float(ratio))]
            for name, ms, peak, ratio in rows}


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
        return f"<!-- {source}: {' '.join(names)} -->\n{head}" + "".join(rows)
    return QUOTE.sub(table, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    results, quotes, behind = {"mechanisms.md": speeds(), "growth.md": growth()}, 0, []
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
