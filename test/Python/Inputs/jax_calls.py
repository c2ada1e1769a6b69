"""JAX: eagerly, under jit and vmap, without copies; its errors."""

import pathlib
import subprocess
import unittest

import attune
import jax
import jax.numpy as jnp
import numpy as np
from support import SOURCE, Spy, linear, performer, tokens


def arrays(**more):
    return {name: jnp.asarray(array) for name, array in tokens(**more).items()}


def stacked(given, count=3):
    """Each with `count` entries before its own axes, all different."""
    return {name: jnp.stack([array * (1 + i / 4) for i in range(count)]) for name, array in given.items()}


class Calls(unittest.TestCase):
    def setUp(self):
        self.attend = attune.compile(linear())

    def same(self, got, expected):
        self.assertIsInstance(got, jax.Array)
        np.testing.assert_array_equal(np.asarray(got), expected)

    def test_eager_and_jitted(self):
        expected = self.attend(**tokens())
        self.same(self.attend(**arrays()), expected)
        self.same(jax.jit(lambda **given: self.attend(**given))(**arrays()), expected)

    def test_inside_a_program(self):
        given = arrays()
        program = jax.jit(lambda q, k, v: jnp.sin(self.attend(q=q * 2, k=k, v=v)).sum())
        expected = np.sin(self.attend(**{**tokens(), "q": tokens()["q"] * 2})).sum()
        self.assertAlmostEqual(float(program(**given)), float(expected), places=1)

    def test_half_precision(self):
        attend = attune.compile(linear(dtype="bf16"))
        given = {name: array.astype(jnp.bfloat16) for name, array in arrays().items()}
        self.assertEqual(attend(**given).dtype, jnp.bfloat16)
        self.same(attend(**given), attend(**{name: np.asarray(array) for name, array in given.items()}))

    def test_mapped_as_a_larger_batch(self):
        many = stacked(arrays())
        expected = np.stack([self.attend(**{n: np.asarray(a[i]) for n, a in many.items()}) for i in range(3)])
        mapped = jax.jit(jax.vmap(lambda q, k, v: self.attend(q=q, k=k, v=v)))
        self.same(mapped(**many), expected)
        self.assertEqual(str(jax.make_jaxpr(mapped)(**many)).count("ffi_call["), 1)
        self.assertNotIn("scan", str(jax.make_jaxpr(mapped)(**many)))
        twice = jax.vmap(jax.vmap(lambda q, k, v: self.attend(q=q, k=k, v=v)))
        self.same(twice(**{name: array[None] for name, array in many.items()}), expected[None])

    def test_mapped_in_part(self):
        given, many = arrays(), stacked(arrays())
        got = jax.vmap(lambda q: self.attend(q=q, k=given["k"], v=given["v"]))(many["q"])
        one = {name: np.asarray(array) for name, array in given.items()}
        self.same(got, np.stack([self.attend(**{**one, "q": np.asarray(q)}) for q in many["q"]]))

    def test_mapped_one_by_one_where_the_batch_is_fixed(self):
        attend, many = attune.compile(linear(batch=2)), stacked(arrays())
        expected = np.stack([attend(**{n: np.asarray(a[i]) for n, a in many.items()}) for i in range(3)])
        self.same(jax.vmap(lambda q, k, v: attend(q=q, k=k, v=v))(**many), expected)

    def test_further_results(self):
        attend, many = attune.compile(linear(mechanism={"kind": "softmax"}, results=["lse"])), stacked(arrays())
        expected = [attend(**{n: np.asarray(a[i]) for n, a in many.items()}) for i in range(3)]
        got = jax.jit(jax.vmap(lambda q, k, v: attend(q=q, k=k, v=v)))(**many)
        for name in ("o", "lse"):
            self.same(got[name], np.stack([one[name] for one in expected]))

    def test_parameters(self):
        attend, drawn = attune.compile(performer()), attune.init(performer())
        with self.assertRaisesRegex(attune.StateError, "expected the parameters omega"):
            attend(**arrays())
        expected = attend(**tokens(), **drawn)
        self.same(jax.jit(lambda omega: attend(**arrays(), omega=omega))(drawn["omega"]), expected)
        self.same(attend.prepare(drawn)(**arrays()), expected)
        omegas = jnp.stack([drawn["omega"], drawn["omega"] * 2])
        got = jax.vmap(lambda omega: attend(**arrays(), omega=omega))(omegas)
        self.same(got[1], attend(**tokens(), omega=drawn["omega"] * 2))

    def test_errors(self):
        given = arrays()
        with self.assertRaisesRegex(attune.ArgumentError, "'q': expected dtype f32, but got bfloat16"):
            self.attend(**{**given, "q": given["q"].astype(jnp.bfloat16)})
        with self.assertRaisesRegex(Exception, r"'v': expected size 7 \(keys of argument 'k'\)"):
            self.attend(**{**given, "k": given["k"][:, :, :7]}).block_until_ready()
        with self.assertRaisesRegex(attune.ArgumentError, "got none; give v="):
            self.attend(q=given["q"], k=given["k"])


class Memory(unittest.TestCase):
    def test_nothing_is_copied(self):
        spy = Spy()
        q, k = jnp.zeros((2, 8)), jnp.ones((2, 8))
        spy.attention.prepare(omega=np.zeros((2, 8), np.float32))
        out = spy.attention(q=q, k=k)
        self.assertEqual(spy.seen(), [array.unsafe_buffer_pointer() for array in (q, k, out["o"], out["lse"])])

    def test_into_memory_of_numpy(self):
        spy = Spy()
        q, out = jnp.zeros((2, 8)), np.zeros((2, 8), np.float32)
        spy.attention.prepare(omega=q)
        self.assertIs(spy.attention(q=q, k=q, out=out), out)
        self.assertEqual(spy.seen()[:3], [q.unsafe_buffer_pointer()] * 2 + [out.ctypes.data])

    def test_into_memory_of_jax(self):
        q = jnp.zeros((2, 8))
        spy = Spy()
        spy.attention.prepare(omega=q)
        with self.assertRaisesRegex(attune.ArgumentError, "may be written"):
            spy.attention(q=q, k=q, out=jnp.zeros((2, 8)))


class Interface(unittest.TestCase):
    def test_declarations_are_those_of_xla(self):
        command = ["c++", "-std=c++20", "-fsyntax-only", f"-I{jax.ffi.include_dir()}", f"-I{SOURCE / 'python' / 'src'}",
                   str(pathlib.Path(__file__).parent / "xla_layout.cpp")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
