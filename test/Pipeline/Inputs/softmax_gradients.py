"""Gradients of softmax attention, written out: P = softmax(s Q Kᵀ), δ = Σ o ⊙ grad_o of a row, dS = P ⊙ (grad_o Vᵀ − δ + grad_lse).

softmax_gradients.py IN OUT: exits 1 if OUT/grad_q.npy … are others. Heads of a group are summed; tensors are rounded to f16 first.
"""

import pathlib
import sys

import numpy as np

given, out = map(pathlib.Path, sys.argv[1:])


def read(name):
    path = given / f"{name}.npy"
    return np.load(path).astype(np.float16).astype(np.float64) if path.exists() else 0


q, k, v, grad_o = (read(name) for name in ("q", "k", "v", "grad_o"))
grad_lse = np.load(given / "grad_lse.npy").astype(np.float64)[..., None] if (given / "grad_lse.npy").exists() else 0
group = q.shape[1] // k.shape[1]
scale = q.shape[3] ** -0.5
keys, values = np.repeat(k, group, 1), np.repeat(v, group, 1)
weights = np.exp(scale * q @ keys.swapaxes(2, 3))
weights /= weights.sum(3, keepdims=True)
delta = (weights @ values * grad_o).sum(3, keepdims=True)
logits = weights * (grad_o @ values.swapaxes(2, 3) - delta + grad_lse)


def shared(gradient):
    return gradient.reshape(k.shape[0], k.shape[1], group, *gradient.shape[2:]).sum(2)


expected = {"q": scale * logits @ keys, "k": shared(scale * logits.swapaxes(2, 3) @ q), "v": shared(weights.swapaxes(2, 3) @ grad_o)}
assert {file.stem for file in out.glob("*.npy")} == {f"grad_{name}" for name in expected}
for name, gradient in expected.items():
    got = np.load(out / f"grad_{name}.npy")
    assert got.dtype == np.float32 and got.shape == gradient.shape, name
    error = np.linalg.norm(got - gradient) / np.linalg.norm(gradient)
    assert error < 1e-7, f"grad_{name} is {error:.1e} off"
print("gradients of softmax are right")
