"""The image classifier of the examples, small: compiled exact attention learns what PyTorch's does, step for step, and every kind learns to read."""

import argparse
import functools
import math
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import image_classifier as example  # noqa: E402

STEPS = 120
# By chance the loss is ln 10 = 2.30 nats an image, and one digit of ten is right.
LEARNED, READ = 1.0, 0.7


@functools.lru_cache
def run(attention):
    return example.train(argparse.Namespace(attention=attention, layers=2, width=32, heads=2, grid=8, batch=32, steps=STEPS, seed=0, rate=6e-3))


class ImageTraining(unittest.TestCase):
    def test_exact_learns_as_in_pytorch(self):
        compiled, plain = run("exact"), run("plain")
        self.assertLess(max(abs(a - b) for a, b in zip(compiled["losses"], plain["losses"])), 1e-3)
        self.assertAlmostEqual(compiled["losses"][0], math.log(10), delta=0.5)

    def test_every_kind_learns(self):
        for attention in example.ATTENTION:
            with self.subTest(attention):
                self.assertLess(run(attention)["held_out"], LEARNED)
                self.assertGreater(run(attention)["accuracy"], READ)


if __name__ == "__main__":
    unittest.main()
