"""A log-log chart of lines as SVG, written by hand so that the demo needs no plotting library."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 84, 250, 56, 64
COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#e08e1b", "#3c3c3c", "#17a2b8", "#a0522d", "#7f8c1f", "#e377c2"]


class LogAxis:
    """Maps positive values onto a stretch of pixels, logarithmically."""

    def __init__(self, low, high, start, end):
        self.low, self.high = math.log(low), math.log(high)
        self.start, self.end = start, end

    def __call__(self, value):
        return self.start + (math.log(value) - self.low) / (self.high - self.low) * (self.end - self.start)


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


def grid(x_axis, y_axis, ticks_x, decades):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for n in ticks_x:
        yield line(x_axis(n), TOP, x_axis(n), bottom, "#e4e4e4")
        yield text(x_axis(n), bottom + 18, str(n))
    for exponent in decades:
        y = y_axis(10.0 ** exponent)
        yield line(LEFT, y, right, y, "#e4e4e4")
        yield text(LEFT - 8, y + 4, seconds_label(10.0 ** exponent), anchor="end")
    yield line(LEFT, bottom, right, bottom, "#333")
    yield line(LEFT, TOP, LEFT, bottom, "#333")


def curve(points, x_axis, y_axis, colour):
    path = " ".join(f"{x_axis(n):.1f},{y_axis(t):.1f}" for n, t in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for n, t in points:
        yield f'<circle cx="{x_axis(n):.1f}" cy="{y_axis(t):.1f}" r="3" fill="{colour}"/>'


def legend(names):
    x = WIDTH - RIGHT + 16
    for i, name in enumerate(names):
        y = TOP + 12 + 22 * i
        yield line(x, y, x + 24, y, COLOURS[i % len(COLOURS)], 2.5)
        yield text(x + 30, y + 4, name, anchor="start")


def chart(title, series, x_label, y_label):
    """The SVG text of `series`, a mapping from a name to its points (n, seconds)."""
    points = [point for line_points in series.values() for point in line_points]
    ticks_x = sorted({n for n, _ in points})
    decades = range(math.floor(math.log10(min(t for _, t in points))),
                    math.ceil(math.log10(max(t for _, t in points))) + 1)
    x_axis = LogAxis(ticks_x[0], ticks_x[-1], LEFT, WIDTH - RIGHT)
    y_axis = LogAxis(10.0 ** decades[0], 10.0 ** decades[-1], HEIGHT - BOTTOM, TOP)
    middle_y = (TOP + HEIGHT - BOTTOM) / 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 30, title, anchor="start", size=16),
             *grid(x_axis, y_axis, ticks_x, decades)]
    for i, line_points in enumerate(series.values()):
        parts += curve(line_points, x_axis, y_axis, COLOURS[i % len(COLOURS)])
    parts += legend(series)
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, x_label))
    parts.append(text(20, middle_y, y_label, extra=f' transform="rotate(-90 20 {middle_y:.1f})"'))
    return "\n".join([*parts, "</svg>", ""])
