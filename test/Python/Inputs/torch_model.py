"""The model of examples/programs/gated_delta_model.py with its core exchanged, against itself in float64 with the core in plain
PyTorch."""

import sys
import unittest

import attune.torch as at
import torch
from support import SOURCE, TOLERANCE

sys.path.insert(0, str(SOURCE / "examples" / "programs"))
import gated_delta_model as example  # noqa: E402

VOCABULARY = 199
SIZES = ({}, {"heads": 6, "qk_heads": 1, "head_dim": 17, "value_dim": 9, "layers": 2})


class Model(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch.set_num_threads(1)  # beside other tests, threads that wait for each other take minutes
        self.tokens = torch.randint(VOCABULARY, (2, 133))

    def pair(self, sizes):
        """One model with the compiled core; the same numbers in float64 with its own."""
        model, exact = (example.Decoder(VOCABULARY, **sizes).eval().requires_grad_(False) for _ in range(2))
        exact.load_state_dict(model.state_dict())
        return example.with_core(model, at.gated_delta_rule), exact.double()

    def pairs(self):
        for sizes in SIZES:
            with self.subTest(**sizes):
                yield self.pair(sizes)

    def close(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (torch.float32, expected.shape))
        self.assertLess((got - expected).norm(), TOLERANCE["f32"] * expected.norm())

    def caches_close(self, got, expected):
        for pair in zip(got, expected, strict=True):
            for own, exact in zip(*pair, strict=True):
                self.close(own, exact)

    def prompts_close(self, model, exact):
        for length in (1, 2, 64, 65, 133):
            logits, caches = model(self.tokens[:, :length])
            expected, exact_caches = exact(self.tokens[:, :length])
            self.close(logits, expected)
            self.caches_close(caches, exact_caches)

    def test_a_prompt(self):
        for model, exact in self.pairs():
            self.prompts_close(model, exact)

    def test_as_many_heads_of_queries(self):
        self.prompts_close(*self.pair({"qk_heads": 4}))

    def test_token_by_token(self):
        for model, exact in self.pairs():
            expected = exact(self.tokens)[0]
            for prompt in (1, 2, 100):
                self.close(example.token_by_token(model, self.tokens, prompt), expected)

    def test_a_prompt_in_chunks(self):
        for model, exact in self.pairs():
            expected = exact(self.tokens)[0]
            caches, rows = None, []
            for begin, end in ((0, 64), (64, 66), (66, 133)):
                logits, caches = model(self.tokens[:, begin:end], caches)
                rows.append(logits)
            self.close(torch.cat(rows, 1), expected)

    def test_sequences_end_to_end(self):
        ends = [0, 1, 1, 4, 70, 133]
        offsets = torch.tensor(ends, dtype=torch.int32)
        for model, exact in self.pairs():
            logits, _ = model(self.tokens[:1], cu_seqlens=offsets)
            self.close(logits, exact(self.tokens[:1], cu_seqlens=offsets)[0])
            for begin, end in zip(ends, ends[1:]):
                if begin < end:
                    self.close(logits[:, begin:end], exact(self.tokens[:1, begin:end])[0])

    def test_compiled(self):
        """Each of the three ways is one graph; sizes are open."""
        offsets = torch.tensor([0, 9, 133], dtype=torch.int32)
        model, exact = self.pair({})
        compiled = torch.compile(model, fullgraph=True, dynamic=True, backend="aot_eager")
        for length in (133, 70):
            self.close(compiled(self.tokens[:, :length])[0], exact(self.tokens[:, :length])[0])
        self.close(example.token_by_token(compiled, self.tokens, 128), exact(self.tokens)[0])
        self.close(compiled(self.tokens[:1], cu_seqlens=offsets)[0], exact(self.tokens[:1], cu_seqlens=offsets)[0])

    def test_the_core_counts(self):
        """The tolerance would not hide a core that forgets its state, or its gates."""
        def forgets(*given, initial_state=None, **more):
            return at.gated_delta_rule(*given, **more)

        def keeps(q, k, v, g, beta, **more):
            return at.gated_delta_rule(q, k, v, 0 * g, beta, **more)

        model, exact = self.pair({})
        expected = exact(self.tokens)[0]
        for wrong in (forgets, keeps):
            logits = example.token_by_token(example.with_core(model, wrong), self.tokens, 100)
            self.assertGreater((logits - expected).norm(), 100 * TOLERANCE["f32"] * expected.norm())


if __name__ == "__main__":
    unittest.main()
