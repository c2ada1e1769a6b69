"""Every definition of benchmarks/gpu_definitions.py against the interpreter, in NumPy; where PyTorch is installed also there, with
the peers that need no GPU: the mechanism in plain PyTorch, and the Triton kernel in Triton's interpreter.

Called with an attnc and a folder.
"""

import os
import pathlib
import sys

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
SOURCE = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(SOURCE / "utils" / "python"), str(SOURCE / "benchmarks")]

import numpy as np  # noqa: E402
import yaml  # noqa: E402

import gpu_definitions  # noqa: E402
import gpu_peers  # noqa: E402
import gpu_specs  # noqa: E402
from accuracy import storage_error  # noqa: E402
from attnc import attnc  # noqa: E402
from storage import from_storage, to_storage  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

LENGTH = 64
TOLERANCE = {"f32": 2e-5, "f16": 4e-3 * 5, "bf16": 2e-2 * 5}  # peers keep intermediate results in the storage type
EXACT = 1e-6                                                  # the interpreter writes f32


class Case:
    """A family with its tensors, rounded to the storage type, and the interpreter's output."""

    def __init__(self, program, spec, folder):
        self.spec, path = spec, folder / "spec.yaml"
        folder.mkdir(parents=True)
        path.write_text(yaml.safe_dump(spec.fields, sort_keys=False), encoding="utf-8")
        attnc(program, "init", path, "--out", folder / "in", "--inputs", "--seed", 5, *spec.sizes_of(LENGTH))
        attnc(program, "run", path, "--in", folder / "in", "--out", folder, "--reference")
        self.expected = np.load(folder / "o.npy").astype(np.float64)
        arrays = {file.stem.replace(".", "_"): self.rounded(np.load(file)) for file in (folder / "in").glob("*.npy")}
        self.inputs = [arrays.pop(name) for name in "qkv"]
        self.parameters = arrays

    def rounded(self, array):
        if array.dtype == np.int32:
            return array.astype(np.int64)
        return from_storage(to_storage(array, self.spec.dtype), self.spec.dtype).astype(np.float64)

    def judge(self, what, output, tolerance):
        error = storage_error(np.asarray(output, np.float64), self.expected, self.spec.dtype)
        if not error <= tolerance:
            print(f"FAIL: {self.spec.name}: {what}: relative error {error:.1e}, tolerance {tolerance:.0e}")
        return error <= tolerance

    def check_numpy(self):
        output = gpu_definitions.reference(np, self.spec, *self.inputs, self.parameters, np.arange(LENGTH))
        return self.judge("NumPy", output, EXACT)

    def check_torch(self):
        """Whether all are right; the names of the peers that could be run."""
        parameters = {name: torch.from_numpy(array) for name, array in self.parameters.items()}
        exact = [torch.from_numpy(array) for array in self.inputs]
        output = gpu_definitions.reference(torch, self.spec, *exact, parameters, torch.arange(LENGTH))
        right = self.judge("PyTorch in float64", output, EXACT)
        dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[self.spec.dtype]
        stored, ran = [array.to(dtype) for array in exact], []
        # Triton's interpreter multiplies the bits of bf16 as integers.
        for name in ("eager", "triton") if self.spec.dtype != "bf16" else ("eager",):
            try:
                run = gpu_peers.PEERS[name](torch, self.spec, *stored, parameters)
            except gpu_peers.Unavailable:
                continue
            ran.append(name)
            right = self.judge(name, run().double().numpy(), TOLERANCE[self.spec.dtype]) and right
        return right, ran


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    families, wrong, ran = 0, 0, []
    for family in gpu_specs.FAMILIES:
        for dtype in ("f32", "f16", "bf16") if torch else ("f32",):
            spec = gpu_specs.bench_spec(family, 16, dtype, [LENGTH], tokens=2 * LENGTH, model=32, small=gpu_specs.SMALL)
            case = Case(program, spec, folder / spec.name)
            wrong += not case.check_numpy()
            if torch:
                right, some = case.check_torch()
                wrong, ran = wrong + (not right), ran + some
        families += 1
    print(f"{families} families, {wrong} wrong")
    print(f"peers: {', '.join(f'{name} {ran.count(name)}' for name in dict.fromkeys(ran))}" if torch else
          "SKIP: no PyTorch: its definitions and peers were not run")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
