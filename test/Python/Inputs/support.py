"""What the tests of the package share."""

import atexit
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

SOURCE = pathlib.Path(os.environ["ATTUNE_TEST_SOURCE"])
TOLERANCE = {"f32": 2e-5, "f16": 4e-3, "bf16": 2e-2}  # of the spec, §6


def linear(**more):
    """A spec of four heads with elu + 1."""
    return {"attention": "linear", "dtype": "f32", "batch": "?", "queries": "?", "heads": 4, "head_dim": 32,
            "mechanism": {"kind": "kernel", "feature_map": {"kind": "elu1"}}, **more}


def performer(**more):
    """A spec with a parameter, omega [1, 24, 32]."""
    return linear(attention="performer", mechanism={"kind": "kernel", "feature_map": {"kind": "favor", "features": 24}},
                  **more)


def tokens(length=70, batch=2, seed=0, heads=4, width=32):
    """q, k, v by name."""
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal((batch, heads, length, width), np.float32) for name in "qkv"}


class Spy:
    """The library of spy.c, and an attention that calls it."""

    def __init__(self):
        from attune._attention import Attention
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        path = pathlib.Path(folder) / "libspy.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-I", str(SOURCE / "runtime" / "include"), "-o", str(path),
                        str(SOURCE / "test" / "Python" / "Inputs" / "spy.c")], check=True)
        self.library = ctypes.CDLL(str(path))
        self.attention = Attention(path, "spy", (1, 0), 1, None)

    def seen(self):
        """Where the tensors of the last run lay: q, k, o, lse."""
        return list((ctypes.c_void_p * 4).in_dll(self.library, "spy_seen"))

    def prepared(self):
        return ctypes.c_void_p.in_dll(self.library, "spy_prepared").value

    def waits(self):
        return ctypes.c_int.in_dll(self.library, "spy_waits")

    def runs(self):
        return ctypes.c_int.in_dll(self.library, "spy_runs")
