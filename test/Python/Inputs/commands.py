"""explain, init, suggest; and what is in the package."""

import os
import pathlib
import unittest

import attune
import numpy as np
from support import linear, performer, tokens


class Commands(unittest.TestCase):
    def test_explain(self):
        self.assertIn("exact softmax, another function, would take", attune.explain(linear()))
        plan = attune.explain(linear(), json=True, queries=4096, batch=1)
        self.assertEqual((len(plan["functions"]), plan["functions"][0]["batch"]), (1, 1))
        with self.assertRaises(attune.SpecError):
            attune.explain(linear(heads=0))

    def test_explain_for_a_gpu(self):
        self.assertNotEqual(attune.explain(linear(), target="sm_80"), attune.explain(linear()))

    def test_init(self):
        drawn = attune.init(performer(), inputs=True, batch=2, queries=5, seed=3)
        self.assertEqual({name: a.shape for name, a in drawn.items()},
                         {"omega": (1, 24, 32), **{name: (2, 4, 5, 32) for name in "qkv"}})
        np.testing.assert_array_equal(attune.init(performer(), seed=3)["omega"], drawn["omega"])
        self.assertEqual(attune.init(linear()), {})

    def test_suggest(self):
        spec = linear(mechanism={"kind": "softmax"})
        found = attune.suggest(spec, tokens(64, 1), json=True, threads=1)
        self.assertIsInstance(found, dict)
        self.assertIn("softmax", attune.suggest(spec, tokens(64, 1), threads=1))
        with self.assertRaisesRegex(attune.SpecError, "'?q'?"):
            attune.suggest(spec, {})
        with self.assertRaisesRegex(attune.ArgumentError, "expected names of tensors of letters"):
            attune.suggest(spec, {"../q": tokens(64, 1)["q"]})


class Package(unittest.TestCase):
    def test_what_is_inside(self):
        package = pathlib.Path(attune.__file__).parent
        for name in ("py.typed", "_native.pyi", "bin/attnc", "lib/libattune_rt.a"):
            self.assertTrue((package / name).exists(), name)
        self.assertTrue(os.access(package / "bin" / "attnc", os.X_OK))
        self.assertIn("site-packages", str(package))

    def test_everything_public_is_described(self):
        for name in attune.__all__:
            self.assertTrue(getattr(attune, name).__doc__, name) if name != "SpecLike" else None

    def test_what_an_attention_says_of_itself(self):
        attend = attune.compile(performer(), threads=1)
        self.assertEqual(attend.tensors["q"].shape, ("batch", 4, "queries", 32))
        self.assertEqual(attend.tensors["o"].role, "output")
        self.assertEqual(list(attend.parameters), ["omega"])
        self.assertEqual((attend.info["threads"], attend.name), (1, "performer"))
        self.assertIn("performer(q: f32[batch, 4, queries, 32]", repr(attend))
        self.assertIn("attune_status performer_run", attend.header.read_text())


if __name__ == "__main__":
    unittest.main()
