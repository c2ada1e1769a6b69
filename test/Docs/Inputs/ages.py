"""Tables that say this and that of their age, and what is said of each."""

import pathlib
import subprocess
import sys

source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "utils" / "python"))

import freshness  # noqa: E402

OLD, OLDER = "f8d9bf3", "5104836"  # since when much has changed
head = subprocess.run(["git", "-C", str(source), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
folder.mkdir(parents=True, exist_ok=True)
table = folder / "table.md"


def words(count, commit):
    return f"Stale: code that is measured here has changed in at least {count} commits since {commit}."


def judge(what, commits, said):
    table.write_text(f"# Times\n\n{said}\n\nA machine, commits {commits}.\n", encoding="utf-8")
    print(f"{what}: {freshness.wrong_with(table)}")


oldest, count = freshness.age_of([OLD], freshness.KERNELS)
judge("as it is", OLD, words(count, OLD))
judge("of some commits ago", OLD, words(count - count // 3, OLD))
judge("no commit", "", "")
judge("unknown", "0000000", "")
judge("as if new", OLD, "")
judge("as if half as old", OLD, words((count - 1) // 2, OLD))
judge("as if older", OLD, words(count + 1, OLD))
judge("as if old", head, words(7, head))
first, last = sorted([OLD, OLDER], key=freshness.commits_since, reverse=True)
judge("of the newer of two", f"{last}, {first}", words(freshness.commits_since(last, freshness.KERNELS), last))
freshness.mend(table)
print(f"mended: {freshness.wrong_with(table)}{freshness.said_by(table) == words(freshness.commits_since(first, freshness.KERNELS), first)}")
judge("old words", OLD, "Stale: code that is measured here has changed since.")
files = freshness.git("ls-files", "--", *freshness.KERNELS).splitlines()
for part in ("lib/Target", "lib/Pipeline", "lib/Frontend", "dialects", "include", "runtime/include", "lib/Lowering/GPU"):
    print(f"a change of {part} counts: {any(file.startswith(part + '/') for file in files)}")
