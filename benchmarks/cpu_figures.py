"""The figures of docs/Performance.md: SVG written by hand, on a white ground as the others."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "demo"))

# pylint: disable=wrong-import-position
import cpu_rows
from chart import COLOURS, line, text

WIDTH, LEFT, RIGHT, TOP, BAR = 960, 190, 60, 92, 15
OURS, PEER = COLOURS[2], COLOURS[3]
DRAWN = {"f32": 0, "bf16": 1}


def usual(rows, threads=1):
    """Rows of the usual width and length, by family and type."""
    return {(row.point.family, row.point.dtype): row for row in rows
            if row.point.threads == threads and row.point.d == cpu_rows.USUAL_WIDTH and row.point.batch == 1
            and row.point.n == cpu_rows.usual_length(row.point.family)}


def frame(title, subtitle, height):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" fill="#222">')
    yield f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    yield text(24, 30, title, anchor="start", size=17)
    yield text(24, 52, subtitle, anchor="start", extra=' fill="#555"')


def legend(names):
    for i, (name, colour) in enumerate(names):
        yield f'<rect x="{LEFT + 150 * i}" y="64" width="12" height="12" fill="{colour}"/>'
        yield text(LEFT + 150 * i + 18, 75, name, anchor="start")


def bars(title, subtitle, groups, names, most, ticks, label):
    """Horizontal bars: `groups` maps a title to the values of each of `names` (or none)."""
    step = BAR * len(names) + 8
    height = TOP + step * len(groups) + 40
    scale = (WIDTH - LEFT - RIGHT) / most
    bottom = height - 32
    parts = [*frame(title, subtitle, height), *legend(names)]
    for tick in ticks:
        parts += [line(LEFT + tick * scale, TOP - 6, LEFT + tick * scale, bottom, "#e4e4e4"),
                  text(LEFT + tick * scale, bottom + 18, label(tick))]
    for i, (group, values) in enumerate(groups.items()):
        y = TOP + step * i
        parts.append(text(LEFT - 8, y + step / 2, group, anchor="end"))
        for j, value in enumerate(values):
            if value is not None:
                width, colour = min(value, most) * scale, names[j][1]
                parts.append(f'<rect x="{LEFT}" y="{y + BAR * j:.1f}" width="{width:.1f}" height="{BAR - 2}" fill="{colour}"/>')
                parts.append(text(LEFT + width + 5, y + BAR * j + 11, label(value), anchor="start", size=11))
    return "\n".join([*parts, "</svg>", ""])


def grouped(rows, value):
    """Of each family that was measured: the value in f32 and in bf16."""
    found = usual(rows)
    groups = {}
    for family in cpu_rows.FAMILIES:
        pair = [found.get((family, dtype)) for dtype in DRAWN]
        if any(pair):
            groups[family] = [row and value(row) for row in pair]
    return groups


TYPES = [("f32", OURS), ("bf16", PEER)]
SIZES = "head width 64, n = 4096 (images 56 × 56), one thread, medians"


def fractions(rows):
    ticks = [0, .2, .4, .6, .8, 1]
    return bars("Part of the binding limit that is reached", SIZES, grouped(rows, lambda row: row.fraction), TYPES, 1.0, ticks,
                lambda value: f"{value:.2f}".lstrip("0") if value else "0")


def ratios(rows):
    groups = {family: values for family, values in grouped(rows, lambda row: row.ratio).items() if any(values)}
    most = max((value for values in groups.values() for value in values if value), default=1)
    step = 1 if most <= 8 else 2
    return bars("Times as fast as the fastest peer", SIZES, groups, TYPES, most * 1.05, range(0, int(most) + 1, step),
                lambda value: f"{value:.2g}×")


def two_cores(rows):
    one, two = usual(rows, 1), usual(rows, 2)
    groups = {family: [two[family, dtype].gain or one[family, dtype].ours / two[family, dtype].ours
                       if (family, dtype) in one and (family, dtype) in two else None for dtype in DRAWN]
              for family in cpu_rows.FAMILIES}
    groups = {family: values for family, values in groups.items() if any(values)}
    return bars("Two cores against one", SIZES.replace("one thread, ", ""), groups, TYPES, 2.1, [0, .5, 1, 1.5, 2],
                lambda value: f"{value:.2g}")


def figures(rows):
    """The text of each file."""
    return {"cpu-limit.svg": fractions(rows), "cpu-peers.svg": ratios(rows), "cpu-cores.svg": two_cores(rows)}


