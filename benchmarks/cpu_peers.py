"""What benchmarks/cpu.py times beside the compiled libraries: PyTorch and JAX. A peer is a function of a point, its inputs
and what attnc drew; it gives a function that runs once and returns the output. One that is not there, or cannot do a point,
says so with `Unavailable`.

PyTorch's products are oneDNN's in bf16 and MKL's in f32; `torch.__config__.show()` says which.
"""

import functools
import os

import numpy as np

import cpu_arrays
import cpu_formulas
import cpu_goals
import cpu_rows
from storage import from_storage

# A peer that would hold more than this is not asked to.
MOST_BYTES = 3 << 30
SECONDS_OF_COMPILATION = "takes seconds to compile: only at the points of the goals"


class Unavailable(Exception):
    """Why a peer cannot do a point."""


@functools.cache
def torch_module():
    try:
        import torch
    except ImportError as error:
        raise Unavailable("no PyTorch") from error
    torch.set_grad_enabled(False)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return torch


def torch_tensor(array):
    """A tensor on the array's memory; uint16 is how NumPy keeps bf16."""
    torch = torch_module()
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if array.dtype == np.uint16 else torch.from_numpy(array)


def torch_parameters(point, drawn):
    kind = torch_module().bfloat16 if point.dtype == "bf16" else torch_module().float32
    return [{name: torch_tensor(array).to(kind) for name, array in own.items()} for own in cpu_formulas.prepared(point, drawn)]


def torch_array(tensor):
    torch = torch_module()
    return tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def has_exact_softmax(point):
    return any(mechanism["kind"] in ("softmax", "agent") for _, mechanism in point.parts)


def has_chunks(point):
    """Causal, with a state, and whole chunks."""
    return point.causal and point.n % cpu_formulas.CHUNK == 0 and any(mechanism["kind"] in ("kernel", "polysketch") and "local_exact" not in mechanism
                                for _, mechanism in point.parts)


def all_weights(point):
    """Numbers of all weights at once, where the formula makes them."""
    _, mechanism = point.parts[0]
    quadratic = cpu_rows.FAMILIES[point.family].quadratic or point.causal and mechanism["kind"] != "eva"
    return point.batch * point.head_count * point.n * point.n if quadratic else 0


def fits(number_of, point):
    """Three arrays of so many numbers are held at once."""
    size = 3 * number_of * (2 if point.dtype == "bf16" else 4)
    if size > MOST_BYTES:
        raise Unavailable(f"would hold {size / 2**30:.0f} GiB")


def state_numbers(point):
    """Numbers of the states of all chunks, or of the features of all tokens."""
    _, mechanism = point.parts[0]
    m = mechanism["size"] ** 2 if mechanism["kind"] == "polysketch" else mechanism["feature_map"].get("features", 2 * point.d)
    return point.batch * point.head_count * point.n * m * max(1, point.d / cpu_formulas.CHUNK)


def torch_run(point, inputs, drawn, ops, in_chunks=False):
    tensors = {name: torch_tensor(array) for name, array in inputs.items()}
    parameters = torch_parameters(point, drawn)
    return lambda: cpu_formulas.run(ops, point, tensors, parameters, in_chunks)


def convolves_windows(point):
    return any("lepe" in mechanism and "window" in mechanism for _, mechanism in point.parts)


def only_batched(point):
    if not convolves_windows(point):
        raise Unavailable("no convolution inside windows")


def eager(point, inputs, drawn, batched=False):
    """The formula in plain PyTorch."""
    torch_module()
    fits(all_weights(point), point)
    return torch_run(point, inputs, drawn, cpu_arrays.TorchOps(batched=batched))


def eager_batched(point, inputs, drawn):
    """The same with one convolution for all heads and windows."""
    only_batched(point)
    return eager(point, inputs, drawn, batched=True)


def sdpa(point, inputs, drawn):
    """PyTorch's scaled_dot_product_attention for every exact softmax of the formula."""
    torch_module()
    if not has_exact_softmax(point):
        raise Unavailable("no exact softmax")
    return torch_run(point, inputs, drawn, cpu_arrays.TorchOps(fused=True))


def chunked(point, inputs, drawn):
    """Causal linear attention in chunks of 128 in plain PyTorch."""
    torch_module()
    if not has_chunks(point):
        raise Unavailable("not causal and linear")
    fits(state_numbers(point), point)
    return torch_run(point, inputs, drawn, cpu_arrays.TorchOps(), in_chunks=True)


@functools.cache
def goal_points():
    return {point.name for point in cpu_goals.points()}


def is_compiled(point):
    """Whether torch.compile is asked for a point: at all of the goals, and at the usual sizes."""
    usual = point.d == cpu_rows.USUAL_WIDTH and point.n == cpu_rows.usual_length(point.family) and point.batch == 1
    return usual or point.name in goal_points()


def compiled(point, inputs, drawn, batched=False):
    """The formula by torch.compile; in chunks where it has them."""
    torch = torch_module()
    if not is_compiled(point):
        raise Unavailable(SECONDS_OF_COMPILATION)
    torch._dynamo.reset()
    in_chunks = has_chunks(point)
    fits(0 if in_chunks else all_weights(point), point)
    run = torch_run(point, inputs, drawn, cpu_arrays.TorchOps(batched=batched), in_chunks)
    return torch.compile(run, dynamic=False)


def compiled_batched(point, inputs, drawn):
    """The same with one convolution for all heads and windows."""
    only_batched(point)
    return compiled(point, inputs, drawn, batched=True)


@functools.cache
def jax_ops(batched=False):
    try:
        import jax
    except ImportError as error:
        raise Unavailable("no JAX") from error
    jax.config.update("jax_platforms", "cpu")
    return cpu_arrays.JaxOps(batched)


def jitted_batched(point, inputs, drawn):
    """The formula by XLA with one convolution for all heads and windows."""
    only_batched(point)
    return jitted(point, inputs, drawn, batched=True)


def jitted(point, inputs, drawn, batched=False):
    """The formula by XLA; in chunks where it has them."""
    ops = jax_ops(batched)
    in_chunks = has_chunks(point)
    fits(state_numbers(point) if in_chunks else all_weights(point), point)
    kind = ops.numpy.bfloat16 if point.dtype == "bf16" else ops.numpy.float32
    arrays = {name: ops.numpy.asarray(from_storage(array, point.dtype), kind) for name, array in inputs.items()}
    parameters = [{name: ops.numpy.asarray(array, kind) for name, array in own.items()}
                  for own in cpu_formulas.prepared(point, drawn)]
    function = ops.jax.jit(lambda arrays, parameters: cpu_formulas.run(ops, point, arrays, parameters, in_chunks))
    return lambda: function(arrays, parameters).block_until_ready()


def array_of(output):
    """A peer's output as f32."""
    if type(output).__module__.startswith("torch"):
        return torch_array(output)
    return np.asarray(output).astype(np.float32)


PEERS = {"sdpa": sdpa, "eager": eager, "chunked": chunked, "compile": compiled, "jax": jitted, "eager batched": eager_batched,
         "compile batched": compiled_batched, "jax batched": jitted_batched}
# Whose work is done by threads of their own while the caller sleeps.
TOGETHER = {"jax", "jax batched"}
