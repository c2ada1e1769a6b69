"""Writes what IREE's input passes make of the StableHLO of small attention functions of JAX: NAME.mlir for each, into the
folder given.

Needs JAX and the package iree-base-compiler. The files beside this one came out of it; no test runs it.
"""

import pathlib
import subprocess
import sys
from importlib import metadata

import jax
import jax.numpy as jnp

INPUT = "iree-stablehlo-to-stablehlo-preprocessing,iree-stablehlo-to-iree-input,canonicalize,cse"
FUSED = f"{INPUT},func.func(linalg-fuse-elementwise-ops),canonicalize,cse"


def scaled(q, k, v):
    """jax.nn.dot_product_attention."""
    return jax.nn.dot_product_attention(q, k, v)


def causal_groups(q, k, v):
    """jax.nn.dot_product_attention, causal, with grouped queries."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def window(q, k, v):
    """jax.nn.dot_product_attention with a sliding window."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=True, local_window_size=(2, 0))


def lengths(q, k, v, count):
    """jax.nn.dot_product_attention with numbers of keys."""
    return jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=count)


def bias(q, k, v, b):
    """jax.nn.dot_product_attention with a bias."""
    return jax.nn.dot_product_attention(q, k, v, bias=b)


def einsums(q, k, v):
    """Two einsums and softmax in f32 of bf16 tensors, as Flax writes it."""
    weights = jnp.einsum("bqhd,bkhd->bhqk", q / jnp.sqrt(8).astype(q.dtype), k).astype(jnp.float32)
    weights = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), weights, jnp.finfo(jnp.float32).min)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(weights).astype(v.dtype), v)


def vmapped(q, k, v):
    """One head, mapped over heads and batch by vmap."""
    head = lambda q, k, v: jax.nn.softmax(q @ k.T / 8**0.5, axis=-1) @ v
    return jax.vmap(jax.vmap(head))(q, k, v)


def linear(q, k, v):
    """Linear attention with elu + 1."""
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    numerator = jnp.einsum("bqhd,bhdv->bqhv", q, jnp.einsum("bkhd,bkhv->bhdv", k, v))
    return numerator / jnp.einsum("bqhd,bhd->bqh", q, k.sum(1))[..., None]


def linear_relu(q, k, v):
    """Linear attention with relu and a floor under its normaliser."""
    q, k = jax.nn.relu(q), jax.nn.relu(k)
    weights = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    return jnp.einsum("bhqk,bkhv->bqhv", weights / jnp.maximum(weights.sum(-1, keepdims=True), 1e-6), v)


def linear_signed(q, k, v):
    """Two products of plain queries and keys, divided by their sum."""
    weights = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    return jnp.einsum("bhqk,bkhv->bqhv", weights / weights.sum(-1, keepdims=True), v)


def tokens(count, heads, width=8, batch=2, dtype=jnp.float32):
    return jax.ShapeDtypeStruct((batch, count, heads, width), dtype)


CASES = {
    "jax_attention": (scaled, tokens(5, 2), tokens(7, 2), tokens(7, 2)),
    "jax_attention_fused": (scaled, tokens(5, 2), tokens(7, 2), tokens(7, 2)),
    "jax_causal_groups": (causal_groups, tokens(6, 4), tokens(6, 2), tokens(6, 2)),
    "jax_window": (window, tokens(6, 2), tokens(6, 2), tokens(6, 2)),
    "jax_lengths": (lengths, tokens(6, 2), tokens(6, 2), tokens(6, 2), jax.ShapeDtypeStruct((2,), jnp.int32)),
    "jax_bias": (bias, tokens(6, 2), tokens(6, 2), tokens(6, 2), jax.ShapeDtypeStruct((1, 2, 6, 6), jnp.float32)),
    "jax_einsums": (einsums, *(tokens(6, 2, dtype=jnp.bfloat16) for _ in range(3))),
    "jax_vmap": (vmapped, *(tokens(2, 6) for _ in range(3))),
    "jax_linear": (linear, tokens(6, 2), tokens(9, 2), tokens(9, 2, 4)),
    "jax_linear_relu": (linear_relu, tokens(6, 2), tokens(9, 2), tokens(9, 2, 4)),
    "jax_linear_signed": (linear_signed, tokens(6, 2), tokens(9, 2), tokens(9, 2, 4)),
}


def write(name, folder):
    function, *inputs = CASES[name]
    passes = FUSED if name.endswith("fused") else INPUT
    program = jax.export.export(jax.jit(function))(*inputs).mlir_module()
    program = program.replace("@main", f"@{name}")
    done = subprocess.run(["iree-opt", f"--pass-pipeline=builtin.module({passes})", "-"], input=program, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    origin = (f"// {function.__doc__}\n// JAX {jax.__version__}, jax.export, input passes of iree-base-compiler "
              f"{metadata.version('iree-base-compiler')}.\n")
    (folder / f"{name}.mlir").write_text(origin + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    for case in CASES:
        write(case, pathlib.Path(sys.argv[1]))
