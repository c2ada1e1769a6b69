"""What others compute the rows of benchmarks/gated.py with: C token by token, PyTorch's compiler on the chunked formula, ONNX Runtime.

Each function gives (run, output): a call without arguments, and what it has made as [heads, n, d]. Unavailable says why there is none.
"""

import ctypes
import pathlib
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CHUNK = 64  # of the formula in PyTorch, the usual one there
OPSET = 27


class Unavailable(Exception):
    """Why a peer is not there."""


def compiled_c(work, d):
    """gated_tokens.c for heads of that width."""
    path = work / f"tokens_{d}.so"
    if not path.exists():
        subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", f"-DM={d}", f"-DV={d}", HERE / "gated_tokens.c", "-lm", "-o", path],
                       check=True)
    return ctypes.CDLL(str(path))


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data) if array is not None else ctypes.c_void_p()


def per_token(row, given):
    """g of each token or channel, in the place of one a head."""
    if row.decay != "head":
        return given.get("g")
    return np.ascontiguousarray(np.broadcast_to(given["decay"][None, :, None], (1, row.heads, row.n)))


def c(row, given, work):
    library, g, beta = compiled_c(work, row.d), per_token(row, given), given.get("beta")
    output = np.empty_like(given["v"])

    def run(keep=(g, beta)):
        library.tokens(ctypes.c_long(row.heads), ctypes.c_long(row.n), pointer(given["q"]), pointer(given["k"]), pointer(given["v"]),
                       pointer(keep[0]), ctypes.c_int(row.decay == "channel"), pointer(keep[1]), ctypes.c_float(row.d ** -0.5),
                       pointer(output))
    return run, lambda: output[0]


def onnxruntime(row, given, work):
    try:
        import onnx
        import onnxruntime as ort
        from onnx import helper
    except ImportError as error:
        raise Unavailable(f"no module {error.name}") from error
    named = {"query": given["q"], "key": given["k"], "value": given["v"]}
    if row.decay:
        named["decay"] = per_token(row, given)
    if row.erases:
        named["beta"] = given["beta"]
    feeds = {name: packed(array) for name, array in named.items()}
    names = [name if name in feeds else "" for name in ("query", "key", "value", "past_state", "decay", "beta")]
    node = helper.make_node("LinearAttention", names, ["output", "present_state"], q_num_heads=row.heads, kv_num_heads=row.heads,
                            update_rule=row.rule)
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, array.shape) for name, array in feeds.items()]
    outputs = [helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, feeds["value"].shape),
               helper.make_tensor_value_info("present_state", onnx.TensorProto.FLOAT, (1, row.heads, row.d, row.d))]
    model = helper.make_model(helper.make_graph([node], "graph", inputs, outputs), opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # a release without the operator
        raise Unavailable(str(error).splitlines()[0][:120]) from error
    kept = []

    def run():
        kept[:] = session.run(["output"], feeds)
    return run, lambda: kept[0].reshape(row.n, row.heads, row.d).transpose(1, 0, 2)


def packed(array):
    """[1, heads, n, …] as [1, n, heads · …]."""
    return np.ascontiguousarray(np.moveaxis(array, 1, 2)).reshape(1, array.shape[2], -1)


#===----------------------------------------------------------------------------------------------------------------===#
# PyTorch
#===----------------------------------------------------------------------------------------------------------------===#


def torch_compiled(row, given, work):
    """All chunks side by side as far as they do not need each other's states, by one compiled function; the states by another one, chunk
    after chunk."""
    try:
        import torch
    except ImportError as error:
        raise Unavailable(f"no module {error.name}") from error
    torch.set_num_threads(1)
    chunks = row.n // CHUNK
    given = {name: torch.from_numpy(array) for name, array in given.items()}

    def cut(tensor):
        return tensor.reshape(row.heads, chunks, CHUNK, *tensor.shape[3:])

    q, k, v = (cut(given[name]) for name in "qkv")
    g = torch.from_numpy(per_token(row, {name: tensor.numpy() for name, tensor in given.items()})) if row.decay else None
    prologue, step = torch.compile(prologue_of(row), dynamic=False), torch.compile(step_of(row), dynamic=False)
    cut_g = cut(g) if row.decay else None
    beta = cut(given["beta"]) if row.erases else None
    kept = torch.empty(row.heads, chunks, CHUNK, row.d)

    def run():
        with torch.no_grad():
            a, w, b, values, erasing, whole = prologue(q, k, v, cut_g, beta)
            state = torch.zeros(row.heads, row.d, row.d)
            for chunk in range(chunks):
                of = lambda tensor, at=chunk: None if tensor is None else tensor[:, at]
                kept[:, chunk], state = step(state, of(a), of(w), of(b), of(values), of(erasing), of(whole))
    return run, lambda: kept.reshape(row.heads, row.n, row.d).numpy()


def prologue_of(row):
    import torch
    scale = row.d ** -0.5

    def decayed_pairs(x, b, d):
        """Σ_f x_if b_jf e^(d_if − d_jf) for j ≤ i. Of channels by blocks of 16 tokens: e^(d_i − d_c) e^(d_c − d_j), c the first of i's."""
        if d is None:
            return torch.tril(x @ b.mT)
        if row.decay != "channel":
            return torch.tril((x @ b.mT) * torch.exp(torch.tril(d[..., :, None] - d[..., None, :])))
        parts = []
        for first in range(0, CHUNK, 16):
            c = d[..., first:first + 1, :]
            parts.append((x[..., first:first + 16, :] * torch.exp(d[..., first:first + 16, :] - c)) @ (b * torch.exp(c - d)).mT)
        return torch.tril(torch.cat(parts, dim=-2))

    def prologue(q, k, v, g, beta):
        d = g.cumsum(2) if g is not None else None
        rows = None if d is None else d if row.decay == "channel" else d[..., None]
        w, a, b, whole, erasing = decayed_pairs(scale * q, k, d), scale * q, k, None, None
        if d is not None:
            a, b, whole = a * torch.exp(rows), k * torch.exp(rows[:, :, -1:] - rows), torch.exp(rows[:, :, -1])
        if beta is not None:
            x = k * beta[..., None]
            system = torch.tril(decayed_pairs(x, k, d), -1) + torch.eye(CHUNK)
            v = torch.linalg.solve_triangular(system, v * beta[..., None], upper=False, unitriangular=True)
            under = x if rows is None else x * torch.exp(rows)
            erasing = torch.linalg.solve_triangular(system, under, upper=False, unitriangular=True)
        return a, w, b, v, erasing, whole
    return prologue


def step_of(row):
    def step(state, a, w, b, values, erasing, whole):
        if erasing is not None:
            values = values - erasing @ state
        output = a @ state + w @ values
        if whole is not None:
            state = state * whole[..., None]
        return output, state + b.mT @ values
    return step


PEERS = {"C": c, "torch": torch_compiled, "ORT": onnxruntime}
