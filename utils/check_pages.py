"""Checks the pages against the compiler, the examples and the files of the repository.

Every yaml block of a page must be a spec that compiles and runs: with one batch entry, 64 tokens where the length is open, and
finite numbers in the output. Every python block runs, after the commands in the comments at its head; those that
import the package attune run in the package's own test. Every example must be in the gallery, with an excerpt that is in
its file; every link, the anchor in it, and every file that a page names must exist.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[1]
GALLERY = SOURCE / "docs" / "Gallery.md"
FOLDERS = ["benchmarks", "cmake", "dialects", "docs", "examples", "include", "lib", "python", "runtime", "test", "tools",
           "utils"]
PAGES = [*sorted(SOURCE.glob("*.md")), *sorted(page for folder in FOLDERS for page in (SOURCE / folder).rglob("*.md"))]
MECHANISMS = [page for page in PAGES if page.parent.name == "mechanisms" and page.name != "README.md"]
GALLERY_ROW = re.compile(r"^\| \[(\w+)\]\(\.\./examples/(\w+)\.yaml\) \| `([^`]+)` \|", re.M)
NAMED_PATH = re.compile(r"`((?:%s)/[\w./-]*\w)`" % "|".join(FOLDERS))
NAMED_SOURCE = re.compile(r"`(\w+\.(?:cpp|h|td))`")
SOURCES = {file.name for folder in FOLDERS for file in (SOURCE / folder).rglob("*") if file.suffix in (".cpp", ".h", ".td")}
# What a block leaves out that shows only `mechanism` or `parts`.
HEAD = "attention: fragment\ndtype: f32\nbatch: '?'\nqueries: 3136\nheads: 8\nhead_dim: 32\n"
SECTIONS = ["How it is computed", "What it costs", "When it wins, when it loses", "Measured", "Pitfalls", "Precision"]


def name_of(page):
    return str(page.relative_to(SOURCE))


def prose(page):
    """The text of a page without its code blocks, which have brackets of their own."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def blocks(page, language):
    """(line, code) of every block of a language."""
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(rf"^```{language}\n(.*?)^```", text, re.S | re.M):
        yield text.count("\n", 0, block.start()) + 2, block.group(1)


#===----------------------------------------------------------------------===#
# Specs and programs
#===----------------------------------------------------------------------===#


def specs(page):
    """(line, code) of every yaml block."""
    for line, code in blocks(page, "yaml"):
        yield line, code if re.search(r"^attention:", code, re.M) else HEAD + code


def fault_of(code, folder):
    """Why a spec does not run; nothing if it does."""
    spec, drawn, out = folder / "spec.yaml", folder / "in", folder / "out"
    spec.write_text(re.sub(r"^batch: \d+", "batch: 1", code, flags=re.M), encoding="utf-8")
    # Of what the interpreter alone has.
    backward = bool(re.search(r"^gradients:", code, re.M))
    for command in (["init", spec, "--out", drawn, "--inputs", "--batch", 1, "--queries", 64, "--keys", 64, "--sequences", 5, *["--backward"] * backward],
                    ["run", spec, "--in", drawn, "--out", out, *["--reference", "--backward"] * backward]):
        # What the spec fixes is not given again.
        fixed = [key for key in ("queries", "keys") if not re.search(rf"^{key}: '\?'", code, re.M)]
        fixed += [] if re.search(r"^batch: '\?'", code, re.M) else ["batch"]
        if command[0] == "init":
            for key in fixed:
                at = command.index(f"--{key}")
                del command[at:at + 2]
        run = subprocess.run(["attnc", *map(str, command)], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return run.stderr.strip()
    outputs = [np.load(file) for file in out.glob("*.npy")]
    return "" if outputs and all(np.isfinite(o).all() and o.any() for o in outputs) else "an output that is not finite, or 0"


def program_faults(page):
    path = os.pathsep.join([str(SOURCE / "utils" / "python"), os.environ.get("PYTHONPATH", "")])
    for line, code in blocks(page, "python"):
        if re.search(r"^import attune", code, re.M):
            continue
        commands = [shlex.split(command) for command in re.findall(r"^# (attnc .*)$", code, re.M)]
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(SOURCE / "examples", pathlib.Path(folder) / "examples")
            for command in [*commands, [sys.executable, "-c", code]]:
                run = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                                     text=True, check=False)
                if run.returncode != 0:
                    yield f"{name_of(page)}:{line}: expected a program that runs, but got: {run.stderr.strip()}"
                    break


def spec_faults(page):
    for line, code in specs(page):
        with tempfile.TemporaryDirectory() as folder:
            fault = fault_of(code, pathlib.Path(folder))
        if fault:
            yield f"{name_of(page)}:{line}: expected a spec that runs, but got: {fault}"


#===----------------------------------------------------------------------===#
# Links, names of files, sections
#===----------------------------------------------------------------------===#


def anchors(page):
    """The names that links to the headings of a page have."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_faults(page):
    text = prose(page)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{name_of(page)}: expected a file at the link {target}, but got none"
        elif anchor and anchor not in anchors(file):
            yield f"{name_of(page)}: expected a heading for the link {target}, but got none"
    for name in NAMED_PATH.findall(text):
        if not (SOURCE / name).exists():
            yield f"{name_of(page)}: expected the file {name}, but got none"
    for name in sorted(set(NAMED_SOURCE.findall(text)) - SOURCES):
        yield f"{name_of(page)}: expected a file of the name {name}, but got none"


def section_faults(page):
    """A page of a mechanism has all its sections, and a spec."""
    text = page.read_text(encoding="utf-8")
    if not any(specs(page)):
        yield f"{name_of(page)}: expected a spec, but got none"
    if page.name != "Layer.md":
        for section in SECTIONS:
            if f"\n## {section}" not in text:
                yield f"{name_of(page)}: expected a section '{section}', but got none"


#===----------------------------------------------------------------------===#
# The gallery
#===----------------------------------------------------------------------===#


def without_layout(text):
    """A spec without comments and white space."""
    return re.sub(r"\s+", "", re.sub(r"#.*", "", text))


def gallery_faults():
    rows = GALLERY_ROW.findall(GALLERY.read_text(encoding="utf-8"))
    examples = {file.stem: file.read_text(encoding="utf-8") for file in (SOURCE / "examples").glob("*.yaml")}
    for name in sorted(examples.keys() - {row[1] for row in rows}):
        yield f"Gallery.md: expected a row of examples/{name}.yaml, but got none"
    for title, name, excerpt in rows:
        if title != name:
            yield f"Gallery.md: expected the title {name}, but got {title}"
        if name in examples and without_layout(excerpt) not in without_layout(examples[name]):
            yield f"Gallery.md: expected an excerpt of {name}, but got {excerpt}"


def main():
    faults = [fault for page in PAGES for check in (spec_faults, program_faults, link_faults) for fault in check(page)]
    faults += [fault for page in MECHANISMS for fault in section_faults(page)]
    faults += gallery_faults()
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{sum(len(list(specs(page))) for page in PAGES)} specs on pages run")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
