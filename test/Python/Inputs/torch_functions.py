"""Functions with the arguments that people know, against PyTorch's own attention and a recurrence in f64."""

import unittest

import attune
import attune.torch as at
import torch
from support import TOLERANCE
from torch.nn.functional import logsigmoid, scaled_dot_product_attention as exact


def drawn(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def recurrence(q, k, v, g=None, beta=None, scale=None, l2=False):
    """o and the last state, in f64; q, k [batch, tokens, qk_heads, width], v [.., heads, dv], g [.., heads(, width)]."""
    q, k, v = (x.double().transpose(1, 2) for x in (q, k, v))
    if l2:
        q, k = (x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt() for x in (q, k))
    q, k = (x.repeat_interleave(v.shape[1] // q.shape[1], 1) for x in (q, k))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    rows = []
    for t in range(q.shape[2]):
        if g is not None:
            decay = g[:, t].double().exp()
            state = state * (decay[..., None, None] if decay.dim() == 2 else decay[..., None])
        key, value = k[:, :, t], v[:, :, t]
        if beta is not None:
            value = beta[:, t].double()[..., None] * (value - torch.einsum("bhkv,bhk->bhv", state, key))
        state = state + key[..., None] * value[..., None, :]
        rows.append(scale * torch.einsum("bhkv,bhk->bhv", state, q[:, :, t]))
    return torch.stack(rows, 1), state


class Close(unittest.TestCase):
    def close(self, got, expected, dtype="f32"):
        self.assertEqual(got.shape, expected.shape)
        error = (got.double() - expected.double()).norm() / expected.double().norm()
        self.assertLess(error, TOLERANCE[dtype])


class Softmax(Close):
    def setUp(self):
        self.q, self.k, self.v = drawn((2, 8, 50, 32), (2, 8, 70, 32), (2, 8, 70, 40))

    def same_as_pytorch(self, q, k, v, **more):
        self.close(at.scaled_dot_product_attention(q, k, v, **more), exact(q, k, v, **more))

    def test_plain_and_scaled(self):
        self.same_as_pytorch(self.q, self.k, self.v)
        self.same_as_pytorch(self.q, self.k, self.v, scale=0.3)

    def test_causal_from_the_first_key_on(self):
        for queries, keys in ((50, 50), (50, 70), (50, 20), (1, 70)):
            self.same_as_pytorch(self.q[:, :, :queries], self.k[:, :, :keys], self.v[:, :, :keys], is_causal=True)

    def test_dimensions(self):
        q = self.q
        for one in (q[0], q[0, 0], q[None], q[:, None]):
            self.same_as_pytorch(one, one, one)

    def test_heads_that_share_keys(self):
        k, v = self.k[:, ::2], self.v[:, ::2]
        shared = [x.repeat_interleave(2, 1) for x in (k, v)]
        self.close(at.scaled_dot_product_attention(self.q, k, v, enable_gqa=True), exact(self.q, *shared))
        for queries in (1, 5):  # rows of one head of keys
            few = self.q[:, :, :queries]
            self.close(at.scaled_dot_product_attention(few, k, v, enable_gqa=True), exact(few, *shared))
        with self.assertRaisesRegex(attune.ArgumentError, "expected 8 heads.*got 4; give enable_gqa=True"):
            at.scaled_dot_product_attention(self.q, k, v)

    def test_masks_of_lengths(self):
        seen = torch.arange(70) < torch.tensor([30, 70])[:, None]
        added = torch.zeros(2, 70).masked_fill(~seen, -torch.inf)
        for mask in (seen, added):
            self.same_as_pytorch(self.q, self.k, self.v, attn_mask=mask[:, None, None])
        self.same_as_pytorch(self.q, self.k, self.v, attn_mask=seen[:1].expand(50, 70))

    def test_causal_masks(self):
        triangle = torch.ones(50, 50, dtype=torch.bool).tril()
        lengths = torch.arange(50) < torch.tensor([30, 50])[:, None]
        self.same_as_pytorch(self.q, self.q, self.q, attn_mask=triangle)
        self.same_as_pytorch(self.q, self.q, self.q, attn_mask=triangle & lengths[:, None, None])
        behind = torch.ones(50, 70, dtype=torch.bool).tril(20)
        self.same_as_pytorch(self.q, self.k, self.v, attn_mask=behind)

    def test_what_is_refused(self):
        holes = torch.ones(50, 70, dtype=torch.bool)
        holes[3, 5] = False
        head = torch.ones(1, 8, 1, 70, dtype=torch.bool)
        head[0, 3, 0, 60:] = False
        wrong = [("a bias", {"attn_mask": torch.rand(50, 70)}, "0 and -inf"), ("holes", {"attn_mask": holes}, "another one"),
                 ("of one head", {"attn_mask": head}, "another one"),
                 ("no shape", {"attn_mask": holes[:, :9]}, r"broadcasts to \[2, 8, 50, 70\], but got \[50, 9\]"),
                 ("both", {"attn_mask": holes, "is_causal": True}, "give one of the two"),
                 ("dropout", {"dropout_p": 0.1}, "'dropout_p': expected 0")]
        for what, more, text in wrong:
            with self.subTest(what), self.assertRaisesRegex(attune.ArgumentError, text):
                at.scaled_dot_product_attention(self.q, self.k, self.v, **more)
        with self.assertRaisesRegex(attune.ArgumentError, "'query': expected float32, float16 or bfloat16"):
            at.scaled_dot_product_attention(*(x.double() for x in (self.q, self.k, self.v)))
        with self.assertRaisesRegex(attune.ArgumentError, "'key': expected torch.float32, but got torch.float16"):
            at.scaled_dot_product_attention(self.q, self.k.half(), self.v)

    def test_compiled(self):
        lengths = (torch.arange(70) < torch.tensor([30, 70])[:, None])[:, None, None]
        function = torch.compile(lambda q, k, v, mask: at.scaled_dot_product_attention(q, k, v, mask), fullgraph=True)
        self.close(function(self.q, self.k, self.v, lengths), exact(self.q, self.k, self.v, lengths))

    def test_one_compilation_serves_any_length(self):
        torch._dynamo.reset()
        counter = torch._dynamo.testing.CompileCounter()
        function = torch.compile(lambda q, k, v: at.scaled_dot_product_attention(q, k, v, is_causal=True), fullgraph=True,
                                 dynamic=True, backend=counter)
        for length in (50, 33, 41):
            given = [x[:, :, :length].clone() for x in (self.q, self.k, self.v)]
            self.close(function(*given), exact(*given, is_causal=True))
        self.assertEqual(counter.frame_count, 1)


class Flash(Close):
    """The layout [batch, tokens, heads, width]."""

    def setUp(self):
        self.q, self.k, self.v = drawn((2, 50, 8, 32), (2, 70, 4, 32), (2, 70, 4, 32))
        self.logits = torch.einsum("bihd,bjhd->bhij", self.q, self.k.repeat_interleave(2, 2)).double() / 32 ** 0.5
        self.distance = torch.arange(50)[:, None] + 20 - torch.arange(70)

    def attended(self, logits):
        return torch.einsum("bhij,bjhd->bihd", logits.softmax(-1), self.v.repeat_interleave(2, 2).double())

    def test_causal_to_the_last_key(self):
        logits = self.logits.masked_fill(self.distance < 0, -torch.inf)
        o, lse, probabilities = at.flash_attn_func(self.q, self.k, self.v, causal=True, return_attn_probs=True)
        self.close(o, self.attended(logits))
        self.close(lse, logits.logsumexp(-1))
        self.assertIsNone(probabilities)
        self.assertTrue(o.is_contiguous())

    def test_windows(self):
        logits = self.logits.masked_fill((self.distance < 0) | (self.distance > 9), -torch.inf)
        self.close(at.flash_attn_func(self.q, self.k, self.v, causal=True, window_size=(9, 0)), self.attended(logits))
        for window, causal in (((9, 9), False), ((9, 3), True), ((-1, 0), False)):
            with self.assertRaisesRegex(attune.ArgumentError, "'window_size'"):
                at.flash_attn_func(self.q, self.k, self.v, causal=causal, window_size=window)

    def test_softcap_slopes_and_scale(self):
        self.close(at.flash_attn_func(self.q, self.k, self.v, softcap=2.0), self.attended(2 * (self.logits / 2).tanh()))
        slopes = torch.rand(8)
        self.close(at.flash_attn_func(self.q, self.k, self.v, softmax_scale=1.0, alibi_slopes=slopes),
                   self.attended(self.logits * 32 ** 0.5 - slopes[:, None, None] * self.distance.abs()))
        with self.assertRaisesRegex(attune.ArgumentError, r"'alibi_slopes': expected \[8\]"):
            at.flash_attn_func(self.q, self.k, self.v, alibi_slopes=torch.rand(2, 8))

    def test_sequences_end_to_end(self):
        q, k, v = drawn((61, 8, 32), (90, 4, 32), (90, 4, 40))
        ends, key_ends = [0, 1, 1, 40, 61], [0, 3, 9, 50, 90]
        offsets, key_offsets = (torch.tensor(each, dtype=torch.int32) for each in (ends, key_ends))
        for more in ({}, {"causal": True}, {"causal": True, "window_size": (5, 0)}):
            o, lse, _ = at.flash_attn_varlen_func(q, k, v, offsets, key_offsets, 39, 41, return_attn_probs=True, **more)
            for s in range(4):
                span, keys = slice(ends[s], ends[s + 1]), slice(key_ends[s], key_ends[s + 1])
                if ends[s] == ends[s + 1]:
                    continue
                alone, alone_lse, _ = at.flash_attn_func(q[None, span], k[None, keys], v[None, keys], return_attn_probs=True,
                                                         **more)
                self.close(o[span], alone[0])
                self.close(lse[:, span], alone_lse[0])
        together = at.flash_attn_varlen_func(q, k[:61], v[:61], offsets, offsets, causal=True)
        self.close(together[40:], at.flash_attn_func(*(x[None, 40:61] for x in (q, k, v)), causal=True)[0])
        with self.assertRaisesRegex(attune.ArgumentError, "'offsets': expected offsets from 0 to 61"):
            at.flash_attn_varlen_func(q, k[:61], v[:61], offsets - 1, offsets - 1)

    def test_half_precision(self):
        q, k, v = (x.bfloat16() for x in (self.q, self.k, self.v))
        self.assertEqual(at.flash_attn_func(q, k, v).dtype, torch.bfloat16)
        self.close(at.flash_attn_func(q, k, v), self.attended(self.logits), "bf16")


class Linear(Close):
    def setUp(self):
        self.q, self.k, self.v = drawn((2, 50, 2, 32), (2, 50, 2, 32), (2, 50, 4, 40))
        g, beta, channels = drawn((2, 50, 4), (2, 50, 4), (2, 50, 4, 32), seed=1)
        self.g, self.beta, self.channels = logsigmoid(g), beta.sigmoid(), logsigmoid(channels)

    def test_each_is_its_recurrence(self):
        tokens, fixed = (self.q, self.k, self.v), torch.log(1 - 2.0 ** (-5 - torch.arange(4)))
        norm = {"use_qk_l2norm_in_kernel": True}
        cases = {
            "linear_attn": (at.linear_attn(*tokens), {}),
            "retention": (at.retention(*tokens), {"g": fixed.expand(2, 50, 4)}),
            "simple_gla": (at.simple_gla(*tokens, self.g, scale=0.7), {"g": self.g, "scale": 0.7}),
            "simple_gla, fixed": (at.simple_gla(*tokens, g_gamma=fixed), {"g": fixed.expand(2, 50, 4)}),
            "gla": (at.gla(*tokens, self.channels), {"g": self.channels}),
            "delta_rule": (at.delta_rule(*tokens, self.beta, **norm), {"beta": self.beta, "l2": True}),
            "gated_delta_rule": (at.gated_delta_rule(*tokens, self.g, self.beta, **norm),
                                 {"g": self.g, "beta": self.beta, "l2": True}),
            "kda": (at.kda(*tokens, self.channels, self.beta, **norm),
                    {"g": self.channels, "beta": self.beta, "l2": True}),
        }
        for name, ((o, state), gates) in cases.items():
            with self.subTest(name):
                self.close(o, recurrence(*tokens, **gates)[0])
                self.assertIsNone(state)

    def test_sequences_end_to_end(self):
        q, k, v, g, beta = (x.flatten(0, 1)[None] for x in (self.q, self.k / 6, self.v, self.g, self.beta))
        ends = [0, 7, 7, 60, 100]
        o, _ = at.gated_delta_rule(q, k, v, g, beta, cu_seqlens=torch.tensor(ends, dtype=torch.int32))
        for begin, end in zip(ends, ends[1:]):
            if begin < end:
                self.close(o[:, begin:end], recurrence(*(x[:, begin:end] for x in (q, k, v, g, beta)))[0])

    def test_states_of_sequences(self):
        q, k, v, g, beta = (x.flatten(0, 1)[None] for x in (self.q, self.k / 6, self.v, self.g, self.beta))
        ends, cuts = [0, 7, 7, 60, 100], [3, 7, 59, 60]  # a prompt in chunks, none, one token that is left, a prompt that begins
        state = None
        def take(runs):
            return torch.cat([torch.arange(begin, end) for begin, end in runs])
        o = torch.empty(1, 100, *self.v.shape[2:])
        for runs in (list(zip(ends, cuts)), list(zip(cuts, ends[1:]))):
            tokens, offsets = take(runs), torch.tensor([0] + [end - begin for begin, end in runs]).cumsum(0)
            o[:, tokens], state = at.gated_delta_rule(*(x[:, tokens] for x in (q, k, v, g, beta)), initial_state=state,
                                                      output_final_state=True, cu_seqlens=offsets)
        for s, (begin, end) in enumerate(zip(ends, ends[1:])):
            if begin < end:
                expected, last = recurrence(*(x[:, begin:end] for x in (q, k, v, g, beta)))
                self.close(o[:, begin:end], expected)
                self.close(state[s:s + 1], last)
            else:
                self.assertFalse(state[s].any())

    def in_two(self, function, cut, given):
        """Of the first `cut` tokens, and of the rest with their state: o, and the last state."""
        first, state = function(*(x[:, :cut] for x in given), output_final_state=True)
        rest, state = function(*(x[:, cut:] for x in given), initial_state=state, output_final_state=True)
        return torch.cat([first, rest], 1), state

    def test_states(self):
        k = self.k / self.k.norm(dim=-1, keepdim=True)
        tokens = (self.q, k, self.v)
        cases = {at.linear_attn: {}, at.simple_gla: {"g": self.g}, at.gla: {"g": self.channels},
                 at.delta_rule: {"beta": self.beta}, at.gated_delta_rule: {"g": self.g, "beta": self.beta},
                 at.kda: {"g": self.channels, "beta": self.beta}}
        for function, gates in cases.items():
            expected, last = recurrence(*tokens, **gates)
            for cut in (0, 1, 33, 49, 50):
                with self.subTest(function.__name__, cut=cut):
                    o, state = self.in_two(function, cut, (*tokens, *gates.values()))
                    self.close(o, expected)
                    self.close(state, last)
                    self.assertEqual(state.dtype, torch.float32)

    def test_a_token_at_a_time(self):
        given, state, rows = (self.q, self.k / 6, self.v, self.g, self.beta), None, []
        step = torch.compile(at.gated_delta_rule, fullgraph=True, backend="eager")
        for t in range(9):
            o, state = step(*(x[:, t:t + 1] for x in given), initial_state=state, output_final_state=True)
            rows.append(o)
        expected, last = recurrence(*(x[:, :9] for x in given))
        self.close(torch.cat(rows, 1), expected)
        self.close(state, last)

    def test_half_precision(self):
        tokens = [x.bfloat16() for x in (self.q, self.k, self.v)]
        o, _ = at.gated_delta_rule(*tokens, self.g, self.beta, use_qk_l2norm_in_kernel=True)
        self.assertEqual(o.dtype, torch.bfloat16)
        self.close(o, recurrence(*tokens, self.g, self.beta, l2=True)[0], "bf16")

    def test_compiled(self):
        function = torch.compile(at.gated_delta_rule, fullgraph=True, dynamic=True, backend="eager")
        k = self.k / self.k.norm(dim=-1, keepdim=True)
        for length in (50, 33):
            given = [x[:, :length] for x in (self.q, k, self.v, self.g, self.beta)]
            self.close(function(*given)[0], recurrence(*given)[0])

    def test_what_is_refused(self):
        with self.assertRaisesRegex(attune.ArgumentError, "'g', 'g_gamma': expected one of the two, but got none"):
            at.simple_gla(self.q, self.k, self.v)
        with self.assertRaisesRegex(attune.ArgumentError, r"'v': expected \[batch, tokens, heads, width\]"):
            at.linear_attn(self.q, self.k, self.v[0])
        with self.assertRaisesRegex(attune.ArgumentError, r"divide those of values \(3\), but got 2"):
            at.linear_attn(self.q, self.k, self.v[:, :, :3])


if __name__ == "__main__":
    unittest.main()
