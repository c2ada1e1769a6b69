# Every reason that a law can give for a refusal is in a test of the graph, word for word.
# RUN: %python %s %source
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
LAWS = [path for path in source.glob("lib/Laws/*.cpp") if path.name != "LawList.cpp"]
LAWS += [source / "lib/Graph/CancelFactors.cpp", source / "lib/Graph/KernelsFit.cpp", source / "dialects/attune/Attn/Folded.h"]
# No op that the law speaks of has such a map: it has no omega to fold.
UNREACHED = {"the map has no ω"}


def reasons(text):
    """Literals that a refusal returns, or a condition chooses among: sentences, and so more than one word."""
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("//", "#", "return all")))
    strings = re.findall(r'(?:return|reason =|\?|:)\s+"((?:[^"\\]|\\.)*)"', text)
    return {string for string in strings if " " in string and not string.startswith(" ")}


tests = "\n".join(path.read_text(encoding="utf-8") for path in sorted((source / "test/Graph").rglob("*.mlir")))
wanted = set().union(*(reasons(path.read_text(encoding="utf-8")) for path in LAWS)) - UNREACHED
if len(wanted) < 20:
    sys.exit(f"expected the reasons of {len(LAWS)} files, but got {len(wanted)}")
missing = sorted(reason for reason in wanted if reason not in tests)
sys.exit("\n".join(["expected a test of each reason, but got none of"] + missing) if missing else 0)
