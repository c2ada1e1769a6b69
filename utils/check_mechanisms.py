"""Checks the pages of mechanisms and the gallery against the compiler and the examples.

Every yaml block of docs/mechanisms must be a spec that `attnc` takes; every example must be in the gallery, with an excerpt that is
in its file; every link and every file that a page names must exist.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
DOCS = SOURCE / "docs"
PAGES = sorted((DOCS / "mechanisms").glob("*.md"))
GALLERY = DOCS / "Gallery.md"
ROW = re.compile(r"^\| \[(\w+)\]\(\.\./examples/(\w+)\.yaml\) \| `([^`]+)` \|", re.M)


def specs(text):
    """(line, code) of every yaml block."""
    for block in re.finditer(r"^```yaml\n(.*?)^```", text, re.S | re.M):
        yield text.count("\n", 0, block.start()) + 2, block.group(1)


def refused_specs(page):
    for line, code in specs(page.read_text(encoding="utf-8")):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(code)
            file.flush()
            run = subprocess.run(["attnc", "compile", file.name, "--emit", "attn"], capture_output=True, text=True)
        if run.returncode != 0 or "func.func" not in run.stdout:
            yield f"{page.name}:{line}: expected a spec that compiles, but got: {run.stderr.strip()}"


def pages_without_specs(page):
    if page.name != "README.md" and not any(specs(page.read_text(encoding="utf-8"))):
        yield f"{page.name}: expected a spec, but got none"


def anchors(page):
    """The names that links to the headings of a page have."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page.name}: expected a file at the link {target}, but got none"
        elif anchor and anchor not in anchors(file):
            yield f"{page.name}: expected a heading for the link {target}, but got none"
    for name in re.findall(r"`((?:lib|test|examples)/[\w/]+\.\w+)`", text):
        if not (SOURCE / name).exists():
            yield f"{page.name}: expected the file {name}, but got none"


def without_layout(text):
    """A spec without comments and white space."""
    return re.sub(r"\s+", "", re.sub(r"#.*", "", text))


def gallery_faults():
    rows = ROW.findall(GALLERY.read_text(encoding="utf-8"))
    examples = {file.stem: file.read_text(encoding="utf-8") for file in (SOURCE / "examples").glob("*.yaml")}
    for name in sorted(examples.keys() - {row[1] for row in rows}):
        yield f"Gallery.md: expected a row of examples/{name}.yaml, but got none"
    for title, name, excerpt in rows:
        if title != name:
            yield f"Gallery.md: expected the title {name}, but got {title}"
        if name in examples and without_layout(excerpt) not in without_layout(examples[name]):
            yield f"Gallery.md: expected an excerpt of {name}, but got {excerpt}"


def main():
    faults = [fault for page in PAGES for check in (refused_specs, pages_without_specs) for fault in check(page)]
    faults += [fault for page in [SOURCE / "README.md", *sorted(DOCS.rglob("*.md"))] for fault in broken_links(page)]
    faults += gallery_faults()
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{sum(len(list(specs(page.read_text(encoding='utf-8')))) for page in PAGES)} specs of mechanisms compile")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
