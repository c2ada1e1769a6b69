"""Takes a key out of a journal."""
import json
import pathlib
import sys

path = pathlib.Path(sys.argv[1])
lines = path.read_text(encoding="utf-8").splitlines()
path.write_text("".join(f"{line}\n" for line in lines if json.loads(line).get("key") != sys.argv[2]), encoding="utf-8")
