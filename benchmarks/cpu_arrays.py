"""The functions of PyTorch and of JAX that the formulas of cpu_formulas.py are written in, by the same names."""


class TorchOps:
    """PyTorch's functions; `fused` takes scaled_dot_product_attention for every exact softmax, `batched` one convolution for
    all heads and windows."""

    def __init__(self, fused=False, batched=False):
        import torch
        self.torch, self.functional, self.fused, self.batched = torch, torch.nn.functional, fused, batched
        self.exp, self.relu, self.where, self.einsum = torch.exp, torch.relu, torch.where, torch.einsum
        self.softmax, self.cumsum, self.concatenate, self.stack = torch.softmax, torch.cumsum, torch.cat, torch.stack
        self.amax, self.sin, self.cos, self.tril = torch.amax, torch.sin, torch.cos, torch.tril

    def elu1(self, x):
        return self.functional.elu(x) + 1

    def softplus(self, x):
        return self.functional.softplus(x)

    def at_least(self, x, floor):
        return x.clamp_min(floor)

    def arange(self, count):
        return self.torch.arange(count)

    def constant(self, array, like):
        return self.torch.from_numpy(array).to(like.dtype)

    def index(self, array):
        return self.torch.from_numpy(array)

    def take(self, x, index):
        return x.index_select(2, index)

    def exact(self, q, k, v, causal):
        return self.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def convolution(self, x, weight):
        """x [batch, channels, rows, columns], weight [channels, 3, 3]."""
        return self.functional.conv2d(x, weight[:, None], padding=1, groups=x.shape[1])


class JaxOps:
    fused = False

    def __init__(self, batched=False):
        import jax
        self.jax, self.batched = jax, batched
        numpy = self.numpy = jax.numpy
        self.exp, self.relu, self.where, self.einsum = numpy.exp, jax.nn.relu, numpy.where, numpy.einsum
        self.concatenate, self.stack, self.sin, self.cos, self.tril = (
            numpy.concatenate, numpy.stack, numpy.sin, numpy.cos, numpy.tril)

    def softmax(self, x, axis):
        return self.jax.nn.softmax(x, axis=axis)

    def cumsum(self, x, axis):
        return self.numpy.cumsum(x, axis=axis)

    def amax(self, x, axis, keepdims):
        return self.numpy.max(x, axis=axis, keepdims=keepdims)

    def elu1(self, x):
        return self.jax.nn.elu(x) + 1

    def softplus(self, x):
        return self.jax.nn.softplus(x)

    def at_least(self, x, floor):
        return self.numpy.maximum(x, floor)

    def arange(self, count):
        return self.numpy.arange(count)

    def constant(self, array, like):
        return self.numpy.asarray(array, like.dtype)

    def index(self, array):
        return array

    def take(self, x, index):
        return x[:, :, index]

    def convolution(self, x, weight):
        return self.jax.lax.conv_general_dilated(x, weight[:, None], (1, 1), "SAME", feature_group_count=x.shape[1])
