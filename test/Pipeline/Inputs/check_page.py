"""Is a page of `attnc explain --html` whole, and are its numbers those of --json?

  check_page.py PAGE JSON [CHROMIUM]

Every element is closed, every picture is XML, nothing comes from the network, and no script runs. Each number of the page stands
beside its exact value: both must be those of the JSON. With a browser: the page that it builds has the same elements, and what it
paints follows the reader's light or dark colours.
"""

import base64
import html.parser
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

VOID = {"meta", "img", "br"}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
         "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


class Page(html.parser.HTMLParser):
    """The elements of a page in their order: name, attributes, text inside."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {[each['tag'] for each in self.open]}"

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", "parent": self.open[-1] if self.open else None, **dict(attrs)}
        self.elements.append(element)
        if tag not in VOID:
            self.handle_data(" ")
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1]["tag"] == tag, f"</{tag}> closes {[each['tag'] for each in self.open]}"
        self.open.pop()
        self.handle_data(" ")

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def having(self, test):
        return [element for element in self.elements if test(element)]

    def rows(self, table):
        return self.having(lambda each: each["tag"] == "tr" and "data-seconds" in each
                           and each["parent"].get("id") == table)


def seconds(elements):
    return [float(element["data-seconds"]) for element in elements]


def printed(text, exact):
    """Whether a text has the number, to its three digits."""
    for number, unit in re.findall(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) ?([a-zA-Z]*)", text):
        if abs(float(number) * UNITS.get(unit, 1) - exact) <= 6e-3 * abs(exact):
            return True
    return exact == 0 and "0" in text


def check_numbers(page, told):
    assert len(told["functions"]) == len(page.having(lambda each: each["tag"] == "section"))
    functions = told["functions"]
    kernels = page.having(lambda each: each.get("class", "").startswith("kernel "))
    assert seconds(kernels) == [kernel["seconds"] for function in functions for kernel in function["kernels"]]
    for table, key in (("decisions", "decisions"), ("rejected", "rejected"), ("consent", "consent")):
        wanted = [each["seconds"] for function in functions for each in function[key] if "seconds" in each]
        assert seconds(page.rows(table)) == wanted, (table, seconds(page.rows(table)), wanted)
    work = functions[0]["work"]
    figures = {"data-seconds": functions[0]["seconds"], "data-multiply-adds": work["multiply_adds"],
               "data-exps": work["exps"], "data-main-bytes": work["main_bytes"], "data-launches": work["launches"]}
    for name, wanted in figures.items():
        figure = page.having(lambda each: name in each and (each["parent"] or {}).get("class") == "figures")[0]
        assert float(figure[name]) == wanted, (name, figure[name], wanted)
        assert printed(figure["text"], wanted), (name, figure["text"], wanted)
    for element in kernels + page.rows("decisions") + page.rows("rejected") + page.rows("consent"):
        assert printed(element["text"], float(element["data-seconds"])), (element["text"], element["data-seconds"])


def check_whole(text, page, told):
    script, = page.having(lambda each: each["tag"] == "script")
    assert script["type"] == "application/json" and json.loads(script["text"]) == told
    outside = page.having(lambda each: each["tag"] in ("link", "iframe") or "http" in each.get("src", "")
                          or "http" in each.get("href", ""))
    assert not outside and "@import" not in text and "url(http" not in text, [each["tag"] for each in outside]
    for picture in re.findall(r"<svg .*?</svg>", text, re.S):
        xml.etree.ElementTree.fromstring(picture)
    for picture in page.having(lambda each: each["tag"] == "img"):
        xml.etree.ElementTree.fromstring(base64.b64decode(picture["src"].split(",", 1)[1]))
    assert page.having(lambda each: each.get("class") == "op changed"), "no op was changed by a law"


def brightness(path):
    """The mean of a PNG's samples of 8 bits, unfiltered."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    channels = {2: 3, 6: 4}[colour]
    raw, stride = zlib.decompress(packed), width * channels
    last, total, kinds = bytearray(stride), 0, set()
    for row in range(height):
        kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - channels] if i >= channels else 0
            up, corner = last[i], last[i - channels] if i >= channels else 0
            guess = (left, up, (left + up) // 2)
            if kind in (1, 2, 3):
                line[i] = (line[i] + guess[kind - 1]) & 255
            elif kind == 4:
                base = left + up - corner
                line[i] = (line[i] + min((left, up, corner), key=lambda each: abs(base - each))) & 255
        total, last = total + sum(line[0::channels]), line
        kinds.update(line[0::channels])
    return total / (width * height), len(kinds)


def check_browser(path, page, browser):
    def run(*arguments):
        with tempfile.TemporaryDirectory() as profile:
            return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                                   *arguments, path.resolve().as_uri()], check=True, capture_output=True, timeout=120).stdout
    built = Page(run("--dump-dom").decode())
    tags = lambda which: [each["tag"] for each in which.elements if each["tag"] not in ("tbody",)]
    assert tags(built) == tags(page), "the browser builds another page"
    shades = []
    for scheme in (1, 0):  # light, dark
        with tempfile.TemporaryDirectory() as folder:
            shot = pathlib.Path(folder) / "page.png"
            run(f"--blink-settings=preferredColorScheme={scheme}", "--window-size=640,400", f"--screenshot={shot}")
            shades.append(brightness(shot))
    (light, many), (dark, few) = shades
    assert light > 200 and dark < 60 and many > 20 and few > 20, shades


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    told = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    page = Page(text)
    check_whole(text, page, told)
    check_numbers(page, told)
    if len(sys.argv) > 3:
        check_browser(path, page, sys.argv[3])


if __name__ == "__main__":
    main()
