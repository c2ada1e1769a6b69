"""Writes what torch-mlir's passes make of small attention modules of PyTorch: NAME.mlir for each, into the folder given.

Needs PyTorch and the package iree-base-compiler, which holds torch-mlir's importer and passes. The files beside this one
came out of it; no test runs it.
"""

import pathlib
import subprocess
import sys
from importlib import metadata

import torch
import torch.nn.functional as F
from iree.compiler.extras.fx_importer import FxImporter

PASSES = ("builtin.module(func.func(torch-decompose-complex-ops,convert-torch-to-tmtensor,convert-torch-to-linalg,"
          "convert-torch-to-scf,convert-torch-to-arith,convert-torch-to-tensor),torch-func-backend-type-conversion,"
          "canonicalize,func.func(torch-finalizing-backend-type-conversion),canonicalize,cse)")


class Scaled(torch.nn.Module):
    """scaled_dot_product_attention."""

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


class Causal(torch.nn.Module):
    """scaled_dot_product_attention with is_causal."""

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class MultiHead(torch.nn.Module):
    """nn.MultiheadAttention."""

    def __init__(self, need_weights):
        super().__init__()
        torch.manual_seed(0)
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.need_weights = need_weights

    def forward(self, x):
        return self.attention(x, x, x, need_weights=self.need_weights)[0 if not self.need_weights else slice(None)]


class Gpt2(torch.nn.Module):
    """As GPT-2 masks: the lowest number where a triangular buffer is false."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(6, 6, dtype=torch.bool))[None, None])

    def forward(self, q, k, v):
        weights = q @ k.transpose(-1, -2) / (q.shape[-1]**0.5)
        weights = torch.where(self.mask, weights, torch.finfo(weights.dtype).min)
        return torch.softmax(weights, -1) @ v


class Llama(torch.nn.Module):
    """As LLaMA: repeated heads of keys, an additive triangle made by triu, softmax in f32."""

    def forward(self, q, k, v):
        k, v = (x[:, :, None].expand(-1, -1, 2, -1, -1).reshape(1, 4, 6, 8) for x in (k, v))
        mask = torch.full((6, 6), float("-inf")).triu(1)
        weights = q @ k.transpose(2, 3) * 8**-0.5 + mask
        return F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype) @ v


class Bert(torch.nn.Module):
    """As BERT: a mask of tokens that is an input becomes 0 and −10000."""

    def forward(self, q, k, v, mask):
        weights = q @ k.transpose(-1, -2) / 8**0.5 + (1.0 - mask[:, None, None, :]) * -10000.0
        return torch.softmax(weights, -1) @ v


class Capped(torch.nn.Module):
    """As Gemma 2: logits capped by tanh."""

    def forward(self, q, k, v):
        weights = torch.tanh(q @ k.transpose(-1, -2) * 8**-0.5 / 50.0) * 50.0
        return torch.softmax(weights, -1) @ v


class Alibi(torch.nn.Module):
    """As ALiBi: a constant slope a head."""

    def forward(self, q, k, v):
        place = torch.arange(6)
        slopes = torch.tensor([0.5, 0.25])[:, None, None]
        weights = q @ k.transpose(-1, -2) * 8**-0.5 + slopes * (place[None, :] - place[:, None])
        return torch.softmax(weights, -1) @ v


class Linear(torch.nn.Module):
    """As "Transformers are RNNs": elu + 1, two einsums, the normaliser by a third."""

    def forward(self, q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = torch.einsum("nshd,nshm->nhmd", k, v)
        z = 1 / (torch.einsum("nlhd,nhd->nlh", q, k.sum(dim=1)) + 1e-6)
        return torch.einsum("nlhd,nhmd,nlh->nlhm", q, state, z)


class LinearUnnormalised(torch.nn.Module):
    """Positive features of two products, divided by nothing."""

    def forward(self, q, k, v):
        return F.relu(q) @ (F.relu(k).transpose(-1, -2) @ v)


class Efficient(torch.nn.Module):
    """As "Efficient Attention": softmax over features of queries, over the tokens of keys."""

    def forward(self, q, k, v):
        return torch.softmax(q, -1) @ (torch.softmax(k, -2).transpose(-1, -2) @ v)


def tokens(heads_, count, width=8, batch=1):
    return torch.zeros(batch, heads_, count, width)


CASES = {
    "torch_sdpa": (Scaled(), tokens(2, 5), tokens(2, 7), tokens(2, 7, 4)),
    "torch_sdpa_causal": (Causal(), tokens(2, 6), tokens(2, 6), tokens(2, 6)),
    "torch_multihead": (MultiHead(False), torch.zeros(1, 6, 8)),
    "torch_multihead_weights": (MultiHead(True), torch.zeros(1, 6, 8)),
    "torch_gpt2": (Gpt2(), tokens(2, 6), tokens(2, 6), tokens(2, 6)),
    "torch_llama": (Llama(), tokens(4, 6), tokens(2, 6), tokens(2, 6)),
    "torch_bert": (Bert(), tokens(2, 6), tokens(2, 6), tokens(2, 6), torch.ones(1, 6)),
    "torch_capped": (Capped(), tokens(2, 6), tokens(2, 6), tokens(2, 6)),
    "torch_alibi": (Alibi(), tokens(2, 6), tokens(2, 6), tokens(2, 6)),
    "torch_linear": (Linear(), *(torch.zeros(2, 6, 2, 4) for _ in range(3))),
    "torch_linear_unnormalised": (LinearUnnormalised(), tokens(2, 6), tokens(2, 9), tokens(2, 9, 4)),
    "torch_efficient": (Efficient(), tokens(2, 6), tokens(2, 9), tokens(2, 9, 4)),
}


def decompositions():
    table = torch.export.default_decompositions()
    # torch-mlir does not know this op, here of one dimension.
    table[torch.ops.aten.squeeze.dims] = lambda x, dims: torch.ops.aten.select.int(x, dims[0], 0)
    return table


def write(name, folder):
    module, *inputs = CASES[name]
    program = torch.export.export(module.eval(), tuple(inputs)).run_decompositions(decompositions())
    importer = FxImporter()
    importer.import_frozen_program(program, func_name=name)
    done = subprocess.run(["iree-opt", f"--pass-pipeline={PASSES}", "-"], input=str(importer.module), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    origin = (f"// {module.__doc__ or type(module).__name__}\n// PyTorch {torch.__version__}, torch.export, torch-mlir of "
              f"iree-base-compiler {metadata.version('iree-base-compiler')}.\n")
    (folder / f"{name}.mlir").write_text(origin + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    for case in CASES:
        write(case, pathlib.Path(sys.argv[1]))
