"""Whether a table of measurements is as old as the code that it measures.

Each table of benchmarks/results names the commits at which it was measured, and, where code of its subject has changed
since, says so in the words of STALE, near its head. Nobody has to measure again with every commit; but no table may look newer
than it is.
"""

import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RESULTS = SOURCE / "benchmarks" / "results"
STALE = "Stale: code that is measured here has changed since."
# What makes compiled code, and what runs it; tables of other things name folders of their own.
KERNELS = ["lib/Graph", "lib/Kernel", "lib/Lowering/CPU", "lib/Cost", "runtime/Common", "runtime/CPU"]
SUBJECTS = {"compile_time.md": ["lib", "dialects", "tools/attnc"], "python.md": ["python", "runtime/Common", "runtime/CPU"]}
HEAD_LINES = 16


class NoHistory(Exception):
    """A copy without the commits that tables name."""


def git(*words):
    run = subprocess.run(["git", "-C", str(SOURCE), *words], capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else None


def check_history():
    if git("rev-parse", "--is-shallow-repository") != "false":
        raise NoHistory("no git history here")


def changed_since(commits, subjects):
    """Whether any of the folders has changed since the oldest of the commits; a commit must be in the history."""
    check_history()
    for commit in commits:
        if git("merge-base", "--is-ancestor", commit, "HEAD") is None:
            raise ValueError(f"expected a commit of the history, but got {commit}")
    return any(git("log", "-1", "--format=%h", f"{commit}..HEAD", "--", *subjects) for commit in commits)


def head_of(table):
    return "\n".join(table.read_text(encoding="utf-8").splitlines()[:HEAD_LINES])


def commits_of(table):
    """The commits that the head of a table names."""
    named = re.search(r"[Cc]ommits?:? ((?:[0-9a-f]{7}(?:, )?)+)", head_of(table))
    return named.group(1).rstrip(", ").split(", ") if named else []


def says_stale(table):
    return STALE in head_of(table)


def state_of(table):
    """What a page that quotes the table says of its age."""
    return f"Commits {', '.join(commits_of(table))}." + (f" {STALE}" if says_stale(table) else "")


def is_stale(table):
    return changed_since(commits_of(table), SUBJECTS.get(table.name, KERNELS))


def wrong_with(table):
    """What is wrong with what a table says of its age, if anything."""
    if not commits_of(table):
        return "expected the commits at which it was measured, but got none"
    try:
        stale = is_stale(table)
    except ValueError as error:
        return str(error)
    if stale != says_stale(table):
        return f"expected {'' if stale else 'no '}'{STALE}' near its head, but got {'none' if stale else 'one'}; run utils/measured.py"
    return ""


def mend(table):
    """Lets a table say how old it is, below its title."""
    text = table.read_text(encoding="utf-8").replace(f"{STALE}\n\n", "").replace(f" {STALE}", "")
    if is_stale(table):
        text = text.replace("\n\n", f"\n\n{STALE}\n\n", 1)
    table.write_text(text, encoding="utf-8")
