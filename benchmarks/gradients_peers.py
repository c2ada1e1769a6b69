"""What PyTorch computes the rows of benchmarks/gradients.py with, forward and backward: its scaled_dot_product_attention, and the formulas
of the other benchmarks by torch.compile.

A peer is a function of a row, its inputs and what attnc drew; it gives a function of q, k and v. Unavailable says why there is none.
"""

import cpu_arrays
import cpu_formulas
from cpu_peers import Unavailable, has_chunks, has_exact_softmax, torch_module, torch_parameters, torch_tensor
from gated_peers import CHUNK, per_token, prologue_of, step_of


def formula(row, drawn, ops, in_chunks=False):
    parameters = torch_parameters(row, drawn)
    return lambda q, k, v: cpu_formulas.run(ops, row, {"q": q, "k": k, "v": v}, parameters, in_chunks)


def sdpa(row, inputs, drawn):
    """For every exact softmax of the formula; the rest eager."""
    if not has_exact_softmax(row):
        raise Unavailable("no exact softmax")
    return formula(row, drawn, cpu_arrays.TorchOps(fused=True))


def gated(row, inputs, drawn):
    """The chunked formula of benchmarks/gated.py: one compiled function for all chunks, another one for each chunk's state."""
    torch, peer = torch_module(), row.gated
    given = inputs | {"decay": drawn["log_decay"]} if "log_decay" in drawn else inputs
    prologue, step = torch.compile(prologue_of(peer), dynamic=False), torch.compile(step_of(peer), dynamic=False)

    def cut(tensor):
        return tensor.reshape(peer.heads, peer.n // CHUNK, CHUNK, *tensor.shape[3:])

    g = cut(torch_tensor(per_token(peer, given)))
    beta = cut(torch_tensor(given["beta"])) if peer.erases else None

    def run(q, k, v):
        parts = prologue(cut(q), cut(k), cut(v), g, beta)
        state, outputs = torch.zeros(peer.heads, peer.d, peer.d), []
        for chunk in range(peer.n // CHUNK):
            output, state = step(state, *(None if part is None else part[:, chunk] for part in parts))
            outputs.append(output)
        return torch.stack(outputs, 1).reshape(v.shape)
    return run


def compiled(row, inputs, drawn):
    """In chunks where the formula has them."""
    if row.group == "exact":
        raise Unavailable("all weights at once")
    if row.gated:
        return gated(row, inputs, drawn)
    return torch_module().compile(formula(row, drawn, cpu_arrays.TorchOps(batched=True), has_chunks(row)), dynamic=False)


PEERS = {"sdpa": sdpa, "compile": compiled}


def gradients(make, row, inputs, drawn, grad_o):
    """A function that runs forward and backward and returns the gradients of q, k and v."""
    torch = torch_module()
    torch.set_grad_enabled(True)
    function, cotangent = make(row, inputs, drawn), torch_tensor(grad_o)
    tensors = [torch_tensor(inputs[name]).requires_grad_() for name in "qkv"]
    return lambda: torch.autograd.grad(function(*tensors), tensors, cotangent)
