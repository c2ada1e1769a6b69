"""Writes docs/Papers.md and its figures: tables of the papers beside what the cost model says.

With `--check` nothing is written: exits 1 if the page is not what the compiler gives today, numbers aside.
"""

import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "demo"))

import elfatt  # noqa: E402
import flurka  # noqa: E402
import linformer  # noqa: E402
import polysketch  # noqa: E402
import steps_report  # noqa: E402
from chart import chart  # noqa: E402
from prices import SOURCE, Prices  # noqa: E402

PAGE = SOURCE / "docs" / "Papers.md"
FIGURES = SOURCE / "docs" / "figures"

OPENING = """# The papers, recomputed

What four papers measured beside what the [cost model](Costs.md) says of the same shapes on the description of the same device. Nothing
here was run on those machines: ours are predictions, made of counts that tests hold to work by hand and of the numbers of a device with their
sources (`lib/Cost/devices`). Absolute times would compare two code bases; ratios and crossovers are what a choice between methods needs.
[Last](#measured-on-this-cpu) come the models of two papers as a CPU runs them, and what that says of each claim.

`benchmarks/papers/papers.py` writes this page and its figures with `attnc` in the path; a test holds the text to it.
"""


LEFT_OUT = """## Left out

Quality, which nobody can compute from a paper: the tables of scores, perplexities and training FLOPs to equal loss. Times in which
attention is a small part of a network that is not in our source: detection and segmentation with ELFATT, and its Jetson AGX Orin, of which
there is a description (`attnc explain SPEC --device jetson-agx-orin`).
"""


def times_label(value):
    return f"{value:g}×"


def microseconds_label(value):
    return f"{value * 1e6:g} µs"


def draw(name, figure):
    title, subtitle, series, ticks = figure
    series = {label: [point for point in points if point[1] is not None] for label, points in series.items()}
    series = {label: points for label, points in series.items() if points}
    seconds = name == "polysketch"
    return chart(title, subtitle, series, [label for label in series if "paper" in label or "/" in label],
                 "context" if seconds else "tokens", "time a token" if seconds else "speed-up",
                 label=microseconds_label if seconds else times_label, ticks_x=ticks)


def comparable(text):
    """The page without what moves with prices."""
    text = re.sub(r"-?\d+(\.\d+)?|–|everywhere|nowhere|quadratic|chunked", "#", text)
    return re.sub(r"(# to #|from #|up to #)(, (# to #|from #))*(?= \|)", "#", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    prices, parts, figures = Prices(args.attnc), [OPENING], {}
    for paper in (flurka, linformer, polysketch, elfatt):
        text, drawn = paper.section(prices)
        parts.append(text)
        figures.update(drawn)
    parts.append(steps_report.section(json.loads(steps_report.STORE.read_text(encoding="utf-8"))))
    text = "\n".join([*parts, LEFT_OUT])
    if args.check:
        missing = [name for name in figures if not (FIGURES / f"{name}.svg").exists()]
        if missing or comparable(text) != comparable(PAGE.read_text(encoding="utf-8")):
            sys.exit("expected docs/Papers.md to show what the compiler gives, but it shows something else; "
                     "run benchmarks/papers/papers.py")
        print("docs/Papers.md is up to date")
        return
    FIGURES.mkdir(exist_ok=True)
    for name, figure in figures.items():
        (FIGURES / f"{name}.svg").write_text(draw(name, figure), encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(SOURCE)} and {len(figures)} figures")


main()
