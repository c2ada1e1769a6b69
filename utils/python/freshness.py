"""Whether a table of measurements is as old as the code that it measures.

Each table of benchmarks/results names the commits at which it was measured, and, where code of its subject has changed
since, says near its head in how many commits, as git's history has it. Nobody has to measure again with every commit, nor to
count again: "at least" so many holds until there are twice as many. But no table may look newer than it is.
"""

import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RESULTS = SOURCE / "benchmarks" / "results"
STALE = re.compile(r"Stale: code that is measured here has changed in at least (\d+) commits? since ([0-9a-f]{7})\.")
# All that makes and runs code for a CPU: folders, without what is for GPUs alone and without the commands, which time it. Tables of
# other things name folders of their own.
COMPILER = ["dialects", "include", "lib", ":!lib/Emulator", ":!include/attune/Emulator"]
COMMANDS = ["lib/Commands", "include/attune/Commands", "tools/attnc"]
KERNELS = [*COMPILER, "runtime", ":!lib/Commands", ":!include/attune/Commands", ":!lib/Lowering/GPU", ":!include/attune/Lowering/GPU",
           ":!runtime/CUDA"]
SUBJECTS = {"compile_time.md": [*COMPILER, "tools/attnc"],
            "compile_time_gradients.md": [*COMPILER, "tools/attnc"],
            "python.md": ["python", *COMMANDS, "runtime/Common", "runtime/CPU", "runtime/include"]}
HEAD_LINES = 16


class NoHistory(Exception):
    """A copy without the commits that tables name."""


def git(*words):
    run = subprocess.run(["git", "-C", str(SOURCE), *words], capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else None


def check_history():
    if git("rev-parse", "--is-shallow-repository") != "false":
        raise NoHistory("no git history here")


def commits_since(commit, subjects=()):
    """How many commits have changed any of the folders since; a commit must be in the history."""
    if git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        raise ValueError(f"expected a commit of the history, but got {commit}")
    return int(git("rev-list", "--count", "--no-merges", f"{commit}..HEAD", "--", *subjects))


def age_of(commits, subjects):
    """The oldest of the commits, and how many commits have changed any of the folders since."""
    check_history()
    oldest = max(commits, key=commits_since)
    return oldest, commits_since(oldest, subjects)


def words_for(commits, subjects):
    """What a table that was measured at these commits says of its age; nothing if nothing has changed."""
    oldest, count = age_of(commits, subjects)
    return f"Stale: code that is measured here has changed in at least {count} commit{'s' * (count > 1)} since {oldest}." if count else ""


def without_age(text):
    """A text without what it says of its age."""
    return re.sub(rf"(?: |\n\n)?{STALE.pattern}", "", text)


def head_of(table):
    return "\n".join(table.read_text(encoding="utf-8").splitlines()[:HEAD_LINES])


def commits_of(table):
    """The commits that the head of a table names."""
    named = re.search(r"[Cc]ommits?:? ((?:[0-9a-f]{7}(?:, )?)+)", without_age(head_of(table)))
    return named.group(1).rstrip(", ").split(", ") if named else []


def said_by(table):
    """What a table says of its age; nothing if it says that it is of today."""
    found = STALE.search(head_of(table))
    return found.group(0) if found else ""


def state_of(table):
    """What a page that quotes the table says of its age."""
    return " ".join(filter(None, [f"Commits {', '.join(commits_of(table))}.", said_by(table)]))


def subjects_of(table):
    return SUBJECTS.get(table.name, KERNELS)


def wrong_with(table):
    """What is wrong with what a table says of its age, if anything."""
    if not commits_of(table):
        return "expected the commits at which it was measured, but got none"
    try:
        oldest, count = age_of(commits_of(table), subjects_of(table))
    except ValueError as error:
        return str(error)
    found = STALE.search(head_of(table))
    said, since = (int(found.group(1)), found.group(2)) if found else (0, oldest)
    if since != oldest or not said <= count <= 2 * said:
        return f"expected it to say {count} commits since {oldest} near its head, but got {said} since {since}; run utils/measured.py"
    return ""


def mend(table):
    """Lets a table say how old it is: where it did, else below its title."""
    text, words = table.read_text(encoding="utf-8"), words_for(commits_of(table), subjects_of(table))
    found = STALE.search(head_of(table))
    if found and words:
        text = text.replace(found.group(0), words, 1)
    elif found:
        text = without_age(text)
    elif words:
        text = text.replace("\n\n", f"\n\n{words}\n\n", 1)
    table.write_text(text, encoding="utf-8")
