"""How widely each mechanism is spread over the sources, and how large they are: the tables of docs/Rationale/Spread.md.

    spread.py                   prints the tables
    spread.py --write           puts them into the page, as those of today's commit
    spread.py --files effatt    the files that name a mechanism, one a line
    spread.py --asking          the functions that ask which mechanism or term they have

A file names a mechanism if an identifier or a string of it has the mechanism's name as words: `buildEffatt` and "effatt" name effatt,
`evaluate` does not name eva. Comments, the descriptions of TableGen and docstrings do not count; neither do tests, docs and benchmarks.
Mechanisms are the ops of the dialect attn that have MechanismInterface, and the feature maps. Functions that ask are those with an isa,
cast, dyn_cast or Case of an op of attn, or with a comparison or case of a kind of mechanism or feature map.
"""

import argparse
import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

FOLDERS = ["lib", "include", "dialects", "tools", "runtime", "python"]
SUFFIXES = {".cpp", ".h", ".td", ".py"}
COMPILER = ("lib/", "include/", "dialects/", "tools/attnc/")
# The emulator judges what the compiler makes and is no part of it.
JUDGE = ("lib/Emulator/",)
MIDDLE = ("lib/Cost/", "lib/Kernel/", "lib/Graph/", "lib/Laws/")
# The op whose attribute every feature map is: its name is also that of what a device runs.
NOT_TELLING = {"kernel"}
# Enumerations of mechanisms and of feature maps.
KINDS = ["FeatureKind", "FeatureMapKind", "MechanismKind"]
BEGIN, END = "<!-- spread: begin -->\n", "<!-- spread: end -->\n"

# Of C++ and TableGen: a string, which is kept, a comment, or a description between [{ and }].
TOKEN = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/|\[\{.*?\}\]', re.S)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Heads of functions as clang-format lays them out: at the margin, or at the first indentation of a class; of one line or several,
# with the body on the last of them or below.
HEAD = re.compile(r"^(?P<margin>|  )(?!(?:namespace|enum|class|struct|extern|using|template|return|if|for|while|switch|else|do)\b)"
                  r"[\w~:\[][^;{}\n]*(?:\n(?P=margin) +[^;{}\n]+)*\)[^;{}()\n]*\{(?P<body>.*\})?$", re.M)


def python_code(text):
    """Names and strings, without comments and without docstrings, which are strings that begin a statement."""
    kept, begins = [], True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME or token.type == tokenize.STRING and not begins:
            kept.append(token.string)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return "\n".join(kept)


def without_comments(text, described):
    """C++, or TableGen with its descriptions (`described`); lines keep their numbers."""
    def kept(match):
        string = match.group(1) or match.group(0).startswith("[{") and not described
        return match.group(0) if string else "\n" * match.group(0).count("\n")

    return TOKEN.sub(kept, text)


def spelled(name):
    """buildEffatt -> " build effatt "."""
    return " " + " ".join(word.lower() for word in WORD.findall(name)) + " "


def folder(path):
    parts = pathlib.PurePath(path).parts
    depth = {"dialects": 3, "lib": 2, "tools": 2}.get(parts[0], 1)
    return "/".join(parts[:min(depth, len(parts) - 1)])


class Sources:
    """The sources of a checkout: text by path, and the same without comments."""

    def __init__(self, root):
        self.root = root
        listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=root, capture_output=True, text=True, check=True).stdout
        paths = [path for path in listed.splitlines() if pathlib.Path(path).suffix in SUFFIXES]
        self.texts = {path: (root / path).read_text() for path in paths if (root / path).exists()}
        self.codes = {path: python_code(text) if path.endswith(".py") else without_comments(text, path.endswith(".td"))
                      for path, text in self.texts.items()}
        self.attn = "".join(code for path, code in self.codes.items() if path.endswith(".td") and "/Attn/" in path)

    def lines(self, paths):
        return sum(self.texts[path].count("\n") for path in paths)

    def below(self, folders):
        return [path for path in self.texts if path.startswith(folders) and not path.startswith(JUDGE)]

    def mechanisms(self):
        ops = re.findall(r'Attn_(?:Executable)?Op<"(\w+)",[^{;]*Attn_MechanismInterface', self.attn)
        maps = re.search(r"def Attn_FeatureKind\b[^;]*;", self.attn).group(0)
        return sorted({*ops, *re.findall(r'"(\w+)">', maps)} - NOT_TELLING)

    def naming(self, mechanism):
        wanted = spelled(mechanism)
        return [path for path, code in self.codes.items() if any(wanted in spelled(name) for name in set(re.findall(r"\w+", code)))]

    def question(self):
        ops = "|".join(re.findall(r"^def Attn_(\w+Op)\b", self.attn, re.M))
        casts = r"(?:isa|cast|dyn_cast)(?:_and_nonnull|_and_present|_or_null|_if_present)?"
        return re.compile(rf"\b{casts}<[^>;]*(?<!tile::)\b(?:{ops})\b"
                          rf"|\bCase(?:<[^>;]*(?<!tile::)\b(?:{ops})\b|\(\[[^\]]*\]\((?:\w+::)*(?:{ops})\b)"
                          rf"|(?:\bcase|[!=]=) (?:\w+::)*(?:{'|'.join(KINDS)})::")

    def asking(self):
        """(path, line, head) of each function that asks."""
        question = self.question()
        for path, code in self.codes.items():
            if path.endswith((".cpp", ".h")):
                for head in HEAD.finditer(code):
                    begin, end = head.end(), re.compile(rf"^{head.group('margin')}\}}", re.M).search(code, head.end())
                    last = end.start() if end else len(code)
                    if head.group("body"):
                        begin, last = head.start("body"), head.end("body")
                    if question.search(code, begin, last):
                        yield path, code.count("\n", 0, head.start()) + 1, head.group(0).splitlines()[0].strip()

    def builders(self):
        """Functions of lib/Kernel/Families.h that build kernels at a site."""
        return len(re.findall(r"\bbuild\w+\(BuildSite\b", self.codes.get("lib/Kernel/Families.h", "")))

    def tables(self):
        asked = collections.Counter(folder(path) for path, _, _ in self.asking())
        folders = collections.defaultdict(list)
        for path in self.texts:
            folders[folder(path)].append(path)
        rows = ["| mechanism | files that name it |", "|---|---|"]
        rows += [f"| {name} | {len(self.naming(name))} |" for name in self.mechanisms()]
        rows += ["", "| folder | files | lines | functions that ask which mechanism or term they have |", "|---|---|---|---|"]
        rows += [f"| `{name}` | {len(files)} | {self.lines(files):,} | {asked[name]} |" for name, files in sorted(folders.items())]
        rows += ["", "| sum | |", "|---|---|"]
        rows += [f"| lines of {', '.join(f'`{name[:-1]}`' for name in names)} | {self.lines(self.below(names)):,} |" for names in (COMPILER, MIDDLE)]
        rows += [f"| functions that ask | {sum(asked.values())} |", f"| functions that build kernels at a site | {self.builders()} |"]
        return "\n".join(rows) + "\n"


def write(root, tables):
    page = root / "docs" / "Rationale" / "Spread.md"
    head, rest = page.read_text().split(BEGIN)
    commit = subprocess.run(["git", "log", "-1", "--format=%h"], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    page.write_text(f"{head}{BEGIN}\nThe sources as they stand after {commit}:\n\n{tables}\n{END}{rest.split(END)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1], help="the checkout")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/Rationale/Spread.md")
    parser.add_argument("--files", metavar="MECHANISM", help="print the files that name one")
    parser.add_argument("--asking", action="store_true", help="print the functions that ask")
    args = parser.parse_args()
    sources = Sources(args.root)
    if args.files and args.files not in sources.mechanisms():
        sys.exit(f"spread.py: expected one of {', '.join(sources.mechanisms())}, but got '{args.files}'")
    if args.files:
        print("\n".join(sources.naming(args.files)))
    elif args.asking:
        print("\n".join(f"{path}:{line}: {head}" for path, line, head in sources.asking()))
    elif args.write:
        write(args.root, sources.tables())
    else:
        print(sources.tables(), end="")


if __name__ == "__main__":
    main()
