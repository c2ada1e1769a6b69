"""A worker that ends at one piece of work, hangs at another, and does the rest."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "utils" / "python"))
from journal import Journal, supervise  # noqa: E402

path = pathlib.Path(sys.argv[1])
if len(sys.argv) > 2:
    journal = Journal(path, "stamp")
    for key in "abcde":
        if key not in journal.results:
            journal.begin(key)
            if key == "b":
                os.abort()
            if key == "d":
                time.sleep(600)
            journal.finish(key, "right")
    sys.exit(0)
print(supervise([sys.executable, __file__, path, "work"], path, "stamp", 20, lambda key, reason: reason))
for key, value in Journal(path, "stamp").results.items():
    print(f"{key}: {value}")
print("anew:", Journal(path, "another").results)
for key in "abc":
    Journal(path, "stamp").finish(key, "right")
print(supervise([sys.executable, __file__, path, "work"], path, "stamp", 20, None, time.time() + 2))
print("the rest is left:", *Journal(path, "stamp").results)
