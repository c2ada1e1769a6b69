"""A log-log chart of lines as SVG, written by hand so that the demo needs no plotting library.

Every line has a name at its end, a colour that the colour-blind can tell (Okabe and Ito's and two more) and a mark.
"""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 600
LEFT, RIGHT, TOP, BOTTOM = 84, 236, 74, 64
# The two exact ones are both black.
COLOURS = ["#000000", "#000000", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#808080", "#882255"]
# Points of a mark of radius 1.
MARKS = [[(math.cos(a * math.pi / 8), math.sin(a * math.pi / 8)) for a in range(16)],
         [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)], [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
         [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)], [(0, 1.2), (1.1, -0.8), (-1.1, -0.8)]]
LABEL_STEP = 19


class LogAxis:
    """Maps positive values onto a stretch of pixels, logarithmically."""

    def __init__(self, low, high, start, end):
        self.low, self.high = math.log(low), math.log(high)
        self.start, self.end = start, end

    def __call__(self, value):
        return self.start + (math.log(value) - self.low) / (self.high - self.low) * (self.end - self.start)


class Style:
    """Colour and mark of line number `index`; dashes if it is `dashed`."""

    def __init__(self, index, dashed):
        self.colour = COLOURS[index % len(COLOURS)]
        self.mark = MARKS[index % len(MARKS)]
        self.dashes = ' stroke-dasharray="7 4"' if dashed else ""


def seconds_label(value):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size * 0.999:
            return f"{value / size:g} {unit}"
    return f"{value / 1e-9:g} ns"


def text(x, y, content, anchor="middle", size=13, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}>{escape(content)}</text>'


def line(x1, y1, x2, y2, colour, width=1.0):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>')


def mark(x, y, style, radius=4):
    points = " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in style.mark)
    return f'<polygon points="{points}" fill="{style.colour}"/>'


def grid(x_axis, y_axis, ticks_x, ticks_y, label):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for n in ticks_x:
        yield line(x_axis(n), TOP, x_axis(n), bottom, "#e4e4e4")
        yield text(x_axis(n), bottom + 18, f"{n:,}")
    for value in ticks_y:
        yield line(LEFT, y_axis(value), right, y_axis(value), "#e4e4e4")
        yield text(LEFT - 8, y_axis(value) + 4, label(value), anchor="end")
    yield line(LEFT, bottom, right, bottom, "#333")
    yield line(LEFT, TOP, LEFT, bottom, "#333")


def curve(points, x_axis, y_axis, style):
    path = " ".join(f"{x_axis(n):.1f},{y_axis(t):.1f}" for n, t in points)
    yield f'<polyline points="{path}" fill="none" stroke="{style.colour}" stroke-width="2"{style.dashes}/>'
    for n, t in points:
        yield mark(x_axis(n), y_axis(t), style)


def spread(heights):
    """The heights, in the same order, moved apart so that names do not lie on each other."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    result, place = list(heights), -math.inf
    for i in order:
        place = result[i] = max(heights[i], place + LABEL_STEP)
    place = HEIGHT - BOTTOM + LABEL_STEP
    for i in reversed(order):
        place = result[i] = min(result[i], place - LABEL_STEP)
    return result


def names(series, styles, x_axis, y_axis):
    """The name of each line at the height of its end, and a thin line to it."""
    ends = [points[-1] for points in series.values()]
    left = WIDTH - RIGHT + 26
    for name, (n, t), style, y in zip(series, ends, styles, spread([y_axis(t) for _, t in ends])):
        yield line(x_axis(n) + 6, y_axis(t), left - 6, y, "#b0b0b0", 0.8)
        yield mark(left, y, style)
        yield text(left + 10, y + 4, name, anchor="start")


def fitted(low, high):
    """The range, a little wider, and the powers of ten in it; three times those too where they alone would be few."""
    low, high = low / 1.5, high * 1.5
    decades = [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    ticks = decades if math.log10(high / low) > 2 else sorted(decades + [3 * value for value in decades])
    return low, high, [value for value in ticks if low <= value <= high]


def chart(title, subtitle, series, dashed, x_label, y_label, label=seconds_label, ticks_x=None):
    """The SVG text of `series`, a mapping from a name to its points (n, value); the lines of `dashed` are dashed.
    `label` writes a value, by default as seconds; `ticks_x` are the n to mark, by default all."""
    points = [point for line_points in series.values() for point in line_points]
    ticks_x = ticks_x or sorted({n for n, _ in points})
    low, high, ticks_y = fitted(min(t for _, t in points), max(t for _, t in points))
    x_axis = LogAxis(ticks_x[0], max(ticks_x[-1], ticks_x[0] + 1), LEFT, WIDTH - RIGHT)
    y_axis = LogAxis(low, high, HEIGHT - BOTTOM, TOP)
    styles = [Style(i, name in dashed) for i, name in enumerate(series)]
    middle_y = (TOP + HEIGHT - BOTTOM) / 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" fill="#222">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 30, title, anchor="start", size=17),
             text(LEFT, 52, subtitle, anchor="start", extra=' fill="#555"'),
             *grid(x_axis, y_axis, ticks_x, ticks_y, label)]
    for line_points, style in zip(series.values(), styles):
        parts += curve(line_points, x_axis, y_axis, style)
    parts += names(series, styles, x_axis, y_axis)
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, x_label))
    parts.append(text(20, middle_y, y_label, extra=f' transform="rotate(-90 20 {middle_y:.1f})"'))
    return "\n".join([*parts, "</svg>", ""])
