"""Creates and runs a library of softmax_bf16 on the CPU, then asks it for a GPU that is not there."""
import pathlib
import sys

import numpy as np

import reference
from library import LibraryError, opened
from memory import Host
from storage import from_storage, to_storage


class Gpu(Host):
    device_type = 2


folder = pathlib.Path(sys.argv[1])
q, k, v = (to_storage(np.random.default_rng(i).standard_normal((1, 4, 20, 64)), "bf16") for i in range(3))
for name, memory in (("cpu: ", Host()), ("", Gpu())):
    try:
        with opened(folder, "softmax_bf16", "bf16", threads=1, memory=memory) as library:
            got = from_storage(library(q, k, v), "bf16")
            expected = reference.attention({"kind": "softmax"}, *(from_storage(x, "bf16") for x in (q, k, v)))
            print(name + ("right" if reference.relative_error(got, expected) < 2e-2 else "wrong"))
    except LibraryError as error:
        print(name + str(error).removeprefix("create: "))
