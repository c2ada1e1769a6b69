"""Tables that say this and that of their age, and what is said of each."""

import pathlib
import subprocess
import sys

source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "utils" / "python"))

import freshness  # noqa: E402

OLD = "f8d9bf3"  # since when much has changed
head = subprocess.run(["git", "-C", str(source), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
folder.mkdir(parents=True, exist_ok=True)
table = folder / "table.md"
for what, commit, stale in (("as it is", OLD, True), ("no commit", "", False), ("unknown", "0000000", False), ("as if new", OLD, False),
                            ("as if old", head, True)):
    table.write_text(f"# Times\n\n{freshness.STALE if stale else ''}\n\nA machine, commit {commit}.\n", encoding="utf-8")
    print(f"{what}: {freshness.wrong_with(table)}")
freshness.mend(table)
print(f"mended: {freshness.wrong_with(table)}")
