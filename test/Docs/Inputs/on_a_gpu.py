"""README says that device code has never run on a GPU, as long as no results of one are committed, and no longer: a page
and a folder of results, where benchmarks/gpu.py names its tables gpu-DEVICE."""
import pathlib
import sys

SENTENCE = "has never run on a GPU"
page, results = map(pathlib.Path, sys.argv[1:])
if not page.is_file() or not results.is_dir():
    sys.exit(f"expected a page and a folder of results, but got {page} and {results}")
measured = sorted(path.name for path in results.glob("gpu-*"))
says = SENTENCE in " ".join(page.read_text(encoding="utf-8").split())
if says == bool(measured):
    sys.exit(f"{page.name}: expected {'no ' if measured else ''}'{SENTENCE}', as {results.name} has "
             f"{', '.join(measured) or 'no results of a GPU'}")
print(f"{page.name} and {results.name} agree: {'a GPU has run it' if measured else SENTENCE}")
