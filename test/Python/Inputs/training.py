"""The example of training, small: compiled exact attention learns what PyTorch's does, step for step, and the others learn."""

import argparse
import math
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import language_model as example  # noqa: E402

STEPS = 40
# The entropy of a byte alone is 3.16 nats in this text, a byte of 256 equally likely ones has 5.55.
LEARNED = 3.4


def run(attention):
    return example.train(argparse.Namespace(attention=attention, layers=2, width=64, heads=2, context=128, batch=8, steps=STEPS, seed=0, rate=3e-3))


class Training(unittest.TestCase):
    def test_exact_learns_as_in_pytorch(self):
        compiled, plain = run("exact"), run("plain")
        self.assertLess(max(abs(a - b) for a, b in zip(compiled["losses"], plain["losses"])), 1e-3)
        self.assertAlmostEqual(compiled["losses"][0], math.log(256), delta=0.2)
        self.assertLess(compiled["held_out"], LEARNED)

    def test_the_others_learn(self):
        for attention in ("linear", "performer", "gated_delta", "polysketch"):
            with self.subTest(attention):
                self.assertLess(run(attention)["held_out"], LEARNED)

    def test_curves_are_drawn(self):
        runs = [{"attention": name, "losses": [5.5, 4.0 + number, 3.0]} for number, name in enumerate(("exact", "plain"))]
        page = example.drawn(runs)
        self.assertEqual(page.count("<polyline"), 2)
        self.assertIn(">exact</text>", page)

    def test_seeds_are_a_curve_and_a_band(self):
        runs = [{"attention": "linear", "losses": [5.0, 4.0 - seed, 3.0]} for seed in range(3)]
        self.assertEqual(example.bands(runs), {"linear": ([0, 1, 2], [5.0, 2.0, 3.0], [5.0, 3.0, 3.0], [5.0, 4.0, 3.0])})
        page = example.drawn(runs)
        self.assertEqual((page.count("<polyline"), page.count("<polygon")), (1, 1))

    def test_a_table_has_what_all_runs_say(self):
        runs = [{"attention": "linear", "losses": [2.0], "held_out": 2.5, "peak_bytes": 2**30, **more} for more in ({"tokens_per_second": 10}, {})]
        self.assertEqual(example.table(runs).splitlines()[0], "| attention | seeds | loss | held out | peak GiB |")
        self.assertIn("tokens a second", example.table(runs[:1]))


if __name__ == "__main__":
    unittest.main()
