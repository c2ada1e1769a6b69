"""attnc import of a model that ends early or has a wrong byte: status 0 or 2, and a message that names the file."""

import pathlib
import random
import subprocess
import sys


def changed(content, random_source):
    """A beginning, or one with a bit changed."""
    place = random_source.randrange(len(content))
    if random_source.random() < 0.3:
        return content[:place]
    return content[:place] + bytes([content[place] ^ 1 << random_source.randrange(8)]) + content[place + 1:]


def main():
    content, path, random_source = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path("changed.onnx"), random.Random(0)
    statuses = []
    for _ in range(100):
        path.write_bytes(changed(content, random_source))
        run = subprocess.run(["attnc", "import", path], capture_output=True, check=False)
        said = run.stderr.decode()  # which must be UTF-8
        if run.returncode not in (0, 2) or (run.returncode == 2) != said.startswith("changed.onnx: error: expected" if "node '" not in said
                                                                                   else "changed.onnx: error: node"):
            sys.exit(f"expected status 0, or 2 with a message, but got {run.returncode} and {said!r}; see {path.resolve()}")
        statuses.append(run.returncode)
    assert 0 in statuses and 2 in statuses, statuses


if __name__ == "__main__":
    main()
