"""Workspaces: bounded for exact attention, and for linear attention not above the size of its inputs."""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

from attnc import compile_spec
from library import opened
from storage import DTYPES

# Room for a fixed number of partial results; more would mean that something of size n·N is kept.
EXACT_LIMIT = 2 ** 28


def check_length(library, fields, n):
    dtype = DTYPES[fields["dtype"]]
    q, k, v = (np.zeros((1, fields["heads"], n, fields["head_dim"]), dtype) for _ in range(3))
    used = library.workspace_bytes(library.bind(q=q, k=k, v=v, o=np.empty_like(q)))
    limit = EXACT_LIMIT if fields["mechanism"]["kind"] == "softmax" else q.nbytes + k.nbytes + v.nbytes
    print(f"{fields['attention']} n = {n}: workspace {used} bytes, limit {limit}")
    return used <= limit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="+", type=pathlib.Path)
    parser.add_argument("--attnc", default="attnc")
    args = parser.parse_args()
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        for spec in args.specs:
            fields = compile_spec(args.attnc, spec, folder)
            with opened(folder, fields["attention"], fields["dtype"]) as library:
                passed = all([check_length(library, fields, n) for n in (1, 64, 1000, 4096, 65536)]) and passed
    sys.exit(not passed)


if __name__ == "__main__":
    main()
