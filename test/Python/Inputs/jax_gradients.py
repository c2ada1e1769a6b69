"""Gradients through compiled attention in JAX, against JAX's own of the same formula."""

import functools
import unittest
from unittest import mock

import attune
import attune.jax as aj
import jax
import jax.numpy as jnp
import numpy as np
from support import performer

TOLERANCE = 5e-5  # the contract's for gradients in f32
SIZES = (1, 33, 130)  # a single token, and tails behind tiles and blocks


def spec(mechanism, **more):
    """Four heads of width 16."""
    return {"attention": "trained", "dtype": "f32", "batch": "?", "queries": "?", "heads": 4, "head_dim": 16,
            "gradients": "all", "mechanism": mechanism, **more}


SOFTMAX = spec({"kind": "softmax"}, kv_heads=2, causal=True, results=["lse"])
ELU1 = spec({"kind": "kernel", "feature_map": {"kind": "elu1"}}, causal=True)
LAYER = spec({"kind": "softmax"}, causal=True, projection={"model_dim": 40, "bias": True})
DECAY = spec({"kind": "kernel", "feature_map": {"kind": "identity"}, "decay": {"per": "token"}}, causal=True,
             state={"initial": True, "final": True})
PARAMETERS = ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")
PERFORMER = {**performer(), "gradients": "all", "key_lengths": True}


@functools.lru_cache(maxsize=None)
def compiled(name):
    return attune.compile(globals()[name])


def drawn(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(rng.standard_normal(shape, np.float32)) for shape in shapes]


def qkv(tokens, heads=4, batch=2):
    return drawn((batch, 4, tokens, 16), (batch, heads, tokens, 16), (batch, heads, tokens, 16))


# The formulas. What `divisor` holds constant leaves the uncancelled gradient, of which the contract speaks.

def itself(x):
    return x


def causal(weights, hidden):
    return jnp.where(jnp.tril(jnp.ones(weights.shape[-2:], bool)), weights, hidden)


def softmax_of(q, k, v, divisor=itself):
    k, v = jnp.repeat(k, q.shape[1] // k.shape[1], 1), jnp.repeat(v, q.shape[1] // v.shape[1], 1)
    logits = causal(q @ k.swapaxes(2, 3) * q.shape[-1] ** -0.5, -jnp.inf)
    lse = jax.nn.logsumexp(logits, -1)
    return [jnp.exp(logits - divisor(lse)[..., None]) @ v, lse]


def elu1_of(q, k, v, divisor=itself):
    weights = causal((jax.nn.elu(q) + 1) @ (jax.nn.elu(k) + 1).swapaxes(2, 3), 0)
    return [weights @ v / divisor(weights.sum(-1, keepdims=True))]


def layer_of(x, wq, wk, wv, wo, bq, bk, bv, bo, divisor=itself):
    heads = [(x @ w + b).reshape(*x.shape[:2], 4, 16).swapaxes(1, 2) for w, b in ((wq, bq), (wk, bk), (wv, bv))]
    return [softmax_of(*heads, divisor)[0].swapaxes(1, 2).reshape(*x.shape[:2], 64) @ wo + bo]


def decay_of(q, k, v, g, s, divisor=itself):
    """Token by token; nothing is divided."""
    def step(state, token):
        q, k, v, g = token
        state = jnp.exp(g)[..., None, None] * state + k[..., :, None] * v[..., None, :]
        return state, (q[..., None, :] @ state)[..., 0, :] / 4
    state, o = jax.lax.scan(step, s, [jnp.moveaxis(x, 2, 0) for x in (q, k, v, g)])
    return [jnp.moveaxis(o, 0, 2), state]


def performer_of(q, k, v, omega, divisor=itself):
    """With features as the paper has them, up to factors that the quotient does not see."""
    def features(x):
        x = x * x.shape[-1] ** -0.25
        return jnp.exp(x @ omega.swapaxes(1, 2) - (x * x).sum(-1, keepdims=True) / 2)
    weights = features(q) @ features(k).swapaxes(2, 3)
    return [weights @ v / divisor(weights.sum(-1, keepdims=True))]


# The same of compiled attention.

def softmax(q, k, v):
    return list(compiled("SOFTMAX")(q=q, k=k, v=v).values())


def elu1(q, k, v):
    return [compiled("ELU1")(q=q, k=k, v=v)]


def layer(x, *parameters):
    return [compiled("LAYER")(x=x, **dict(zip(PARAMETERS, parameters)))]


def decay(q, k, v, g, s):
    return [compiled("DECAY")(q=q, k=k, v=v, g=g, state_s=s)[name] for name in ("o", "final_state.s")]


def performed(q, k, v, omega):
    every = jnp.full(q.shape[:1], k.shape[2], jnp.int32)
    return [compiled("PERFORMER")(q=q, k=k, v=v, omega=omega, key_lengths=every)]


def performer_tensors(tokens, batch=2):
    return [*drawn(*[(batch, 4, tokens, 32)] * 3), jnp.asarray(attune.init(PERFORMER)["omega"])]


def loss(function):
    """A number of all outputs, which tells their elements apart."""
    return lambda *tensors: sum(jnp.sin(output + 1).sum() for output in function(*tensors))


def arguments(tensors):
    return tuple(range(len(tensors)))


def norm(array):
    return np.linalg.norm(np.asarray(array, np.float64))


class Case(unittest.TestCase):
    def near(self, got, expected, floors=None):
        """Trees of arrays, by the norms of their differences."""
        self.assertEqual(jax.tree.structure(got), jax.tree.structure(expected))
        expected = jax.tree.leaves(expected)
        for one, other, floor in zip(jax.tree.leaves(got), expected, floors or [0] * len(expected)):
            self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
            unit = max(norm(other), floor)
            self.assertGreater(unit, 0)
            self.assertLess(norm(one - other), TOLERANCE * unit)

    def same(self, function, formula, *tensors):
        """By all tensors, for a drawn cotangent of each output; eagerly and in one program."""
        cotangents = drawn(*[output.shape for output in jax.eval_shape(formula, *tensors)], seed=1)

        def pulled(function):
            return jax.vjp(function, *tensors)[1](cotangents)

        expected = jax.jit(pulled, static_argnums=0)(formula)
        uncancelled = jax.jit(pulled, static_argnums=0)(functools.partial(formula, divisor=jax.lax.stop_gradient))
        floors = [max(norm(gradient) / 5, 1e-3 * norm(cotangents[0])) for gradient in uncancelled]
        self.near(pulled(function), expected, floors)
        self.near(jax.jit(lambda *tensors: jax.vjp(function, *tensors)[1](cotangents))(*tensors), expected, floors)


class Gradients(Case):
    def test_exact_with_heads_that_share_keys_and_lse(self):
        for tokens in SIZES:
            with self.subTest(tokens=tokens):
                self.same(softmax, softmax_of, *qkv(tokens, heads=2))

    def test_kernel(self):
        for tokens in SIZES:
            with self.subTest(tokens=tokens):
                self.same(elu1, elu1_of, *qkv(tokens))

    def test_a_layer_with_its_weights(self):
        drawn_weights = attune.init(LAYER)
        parameters = [jnp.asarray(drawn_weights[name]) for name in PARAMETERS]
        for tokens in SIZES:
            with self.subTest(tokens=tokens):
                self.same(layer, layer_of, *drawn((2, tokens, 40)), *parameters)

    def test_a_state_and_gates(self):
        for tokens in SIZES:
            with self.subTest(tokens=tokens):
                gates = jax.nn.log_sigmoid(drawn((2, 4, tokens), seed=2)[0])
                self.same(decay, decay_of, *qkv(tokens), gates, *drawn((2, 4, 16, 16), seed=3))

    def test_a_parameter_of_a_map(self):
        self.same(performed, performer_of, *performer_tensors(33))

    def test_a_sequence_in_pieces(self):
        attention, tensors = compiled("DECAY"), qkv(33) + [jax.nn.log_sigmoid(drawn((2, 4, 33), seed=2)[0])]

        def pieces(*tensors):
            state, outputs = {}, []
            for span in (slice(0, 20), slice(20, 33)):
                found = attention(**state, **{name: x[:, :, span] for name, x in zip(("q", "k", "v", "g"), tensors)})
                state = {name: found[f"final_{name}"] for name in ("state.s", "state.position")}
                outputs.append(found["o"])
            return [jnp.concatenate(outputs, 2), state["state.s"]]

        whole = loss(lambda *tensors: decay_of(*tensors, jnp.zeros((2, 4, 16, 16))))
        self.near(jax.grad(loss(pieces), (0, 1, 2, 3))(*tensors), jax.grad(whole, (0, 1, 2, 3))(*tensors))

    def test_a_value_with_its_gradient(self):
        tensors = qkv(33)
        for of in (lambda f: f, jax.jit):
            self.near(of(jax.value_and_grad(loss(elu1)))(*tensors), jax.value_and_grad(loss(elu1_of))(*tensors))

    def test_half_precision_with_parameters_in_f32(self):
        fields = {**PERFORMER, "dtype": "bf16"}
        attention = attune.compile(fields)
        *tokens, omega = performer_tensors(33)
        tokens = [x.astype(jnp.bfloat16) for x in tokens]
        one = functools.partial(attention, k=tokens[1], v=tokens[2], key_lengths=jnp.full(2, 33))
        by = jax.grad(lambda q, omega: one(q=q, omega=omega).astype(jnp.float32).sum(), (0, 1))(tokens[0], omega)
        self.assertEqual([gradient.dtype for gradient in by], [jnp.bfloat16, jnp.float32])
        self.assertFalse((by[1] == by[1].astype(jnp.bfloat16)).all())  # not rounded on its way

    def test_integers_have_none(self):
        attention, (q, k, v, omega) = compiled("PERFORMER"), performer_tensors(33)
        lengths = jnp.array([20, 33])
        _, by = jax.vjp(lambda q, lengths: attention(q=q, k=k, v=v, omega=omega, key_lengths=lengths), q, lengths)
        gradient, none = by(jnp.ones_like(v))
        self.assertEqual((gradient.shape, none.shape, none.dtype), (q.shape, (2,), jax.dtypes.float0))
        one = functools.partial(attention, q=q, k=k, omega=omega, key_lengths=lengths)
        self.assertEqual(float(jnp.abs(jax.grad(lambda v: one(v=v).sum())(v)[0, :, 20:]).max()), 0)


class Asked(Case):
    """What is computed is what is asked for."""

    def calls(self, function, *tensors):
        """Which tensors calls of libraries have, by their names."""
        found, made = [], aj.function
        with mock.patch.object(aj, "function", lambda call: found.append(call) or made(call)):  # a trace asks for it
            jax.make_jaxpr(function)(*tensors)
        return [[info.name for info in (*call.inputs, *call.outputs)] for call in found]

    def test_cotangents_that_are_zero_are_not_given(self):
        attention, tensors = attune.compile(SOFTMAX), qkv(33, heads=2)
        calls = self.calls(jax.grad(lambda q, k, v: attention(q=q, k=k, v=v)["lse"].sum()), *tensors)
        self.assertEqual(calls[-1], ["q", "k", "v", "grad_lse", "saved.o", "saved.lse", "grad_q"])
        calls = self.calls(jax.grad(lambda q, k, v: attention(q=q, k=k, v=v)["o"].sum(), (1, 2)), *tensors)
        self.assertEqual(calls[-1], ["q", "k", "v", "grad_o", "saved.o", "saved.lse", "grad_k", "grad_v"])
        by = lambda function: jax.grad(lambda *tensors: function(*tensors)[1].sum())
        self.near(by(softmax)(*tensors), by(softmax_of)(*tensors))

    def test_what_is_added_up_in_gradients_that_nobody_asks_for(self):
        """Kernels of windows and of EVA add to q's gradient where that lies, if it does."""
        for mechanism in ({"kind": "softmax", "window": {"length": 32}}, {"kind": "eva", "window": {"length": 16}, "chunk": 8}):
            attention, tensors = attune.compile(spec(mechanism)), qkv(64)
            of = lambda *tensors: jnp.sin(attention(**dict(zip("qkv", tensors)))).sum()
            together = jax.grad(of, (0, 1, 2))(*tensors)
            self.near([jax.grad(of, place)(*tensors) for place in range(3)], list(together))

    def test_derivatives_of_one_program_by_different_tensors(self):
        tensors, program = qkv(33), jax.jit(loss(elu1))
        pulls = [jax.vjp(lambda x, i=i: program(*tensors[:i], x, *tensors[i + 1:]), tensors[i])[1] for i in range(3)]
        expected = jax.grad(loss(elu1_of), (0, 1, 2))(*tensors)
        self.near([pull(jnp.float32(1))[0] for pull in pulls], list(expected))

    def test_a_library_of_gradients(self):
        q, k, v = qkv(33)
        got = compiled("ELU1").backward(q=q, k=k, v=v, grad_o=jnp.ones_like(v))
        expected = jax.grad(lambda *tensors: elu1_of(*tensors)[0].sum(), (0, 1, 2))(q, k, v)
        self.near([got[f"grad_{name}"] for name in "qkv"], list(expected))

    def test_parameters_of_a_traced_call_beside_arrays_of_numpy(self):
        q, k, v, omega = performer_tensors(33)
        lengths = np.full(2, 33, np.int32)
        by = jax.grad(lambda omega: compiled("PERFORMER")(q=np.asarray(q), k=np.asarray(k), v=np.asarray(v), omega=omega,
                                                          key_lengths=lengths).sum())
        self.near(by(omega), jax.grad(lambda omega: performer_of(q, k, v, omega)[0].sum())(omega))

    def test_prepared_parameters(self):
        *tokens, omega = performer_tensors(33)
        memory, attention = np.array(omega), attune.compile(PERFORMER)

        @jax.jit
        @jax.grad
        def by(q):
            return attention(q=q, k=tokens[1], v=tokens[2], key_lengths=jnp.full(2, 33)).sum()

        for scale in (1, 0.5):  # the second time the program is there
            attention.prepare(omega=memory * np.float32(scale))
            self.near(by(tokens[0]), jax.grad(lambda q: performer_of(q, *tokens[1:], omega * scale)[0].sum())(tokens[0]))
        attention.prepare(omega=memory)
        memory[:] = 7
        self.near(by(tokens[0]), jax.grad(lambda q: performer_of(q, *tokens[1:], omega)[0].sum())(tokens[0]))


class Mapped(Case):
    def setUp(self):
        self.tensors = qkv(33, heads=2)
        self.many = [jnp.stack([x * (1 + i / 4) for i in range(3)]) for x in self.tensors]

    def both(self, function, formula, transform, *tensors):
        expected = jax.jit(transform(formula))(*tensors)
        self.near(transform(function)(*tensors), expected)
        self.near(jax.jit(transform(function))(*tensors), expected)

    def calls(self, function, *tensors):
        text = str(jax.make_jaxpr(function)(*tensors))
        return text.count("ffi_call["), text.count("scan[")

    def test_gradients_of_each(self):
        transform = lambda function: jax.vmap(jax.grad(loss(function), (0, 1, 2)))
        self.both(softmax, softmax_of, transform, *self.many)
        self.assertEqual(self.calls(transform(softmax), *self.many), (2, 0))  # one forward, one backward

    def test_gradients_of_all(self):
        transform = lambda function: jax.grad(lambda *tensors: jax.vmap(loss(function))(*tensors).sum(), (0, 1, 2))
        self.both(softmax, softmax_of, transform, *self.many)
        self.assertEqual(self.calls(transform(softmax), *self.many), (2, 0))

    def test_sums_for_what_is_not_mapped(self):
        mapped = lambda function: jax.vmap(loss(function), (0, None, 0))
        transform = lambda function: jax.grad(lambda *tensors: mapped(function)(*tensors).sum(), (0, 1, 2))
        self.both(softmax, softmax_of, transform, self.many[0], self.tensors[1], self.many[2])

    def test_twice_and_along_another_axis(self):
        transform = lambda function: jax.vmap(jax.vmap(jax.grad(loss(function)), in_axes=(1, 0, 0)), in_axes=(None, 0, 0))
        self.both(softmax, softmax_of, transform, jnp.moveaxis(self.many[0], 0, 1), *(x[None] for x in self.many[1:]))

    def test_one_by_one_where_the_batch_is_fixed(self):
        attention = attune.compile({**ELU1, "batch": 2})
        many = [jnp.stack([x, x / 2]) for x in qkv(33)]
        each = lambda function: jax.vmap(jax.grad(loss(function), (0, 1, 2)))
        total = lambda function: jax.grad(lambda *tensors: jax.vmap(loss(function))(*tensors).sum(), (0, 1, 2))
        for transform in (each, total):
            self.both(lambda q, k, v: [attention(q=q, k=k, v=v)], elu1_of, transform, *many)

    def test_parameters(self):
        q, *rest = performer_tensors(33)
        many = jnp.stack([q, q / 2])
        each = lambda function: jax.vmap(jax.grad(loss(function), (0, 3)), (0, None, None, None))
        self.both(performed, performer_of, each, many, *rest)
        total = lambda function: lambda *tensors: jax.vmap(loss(function), (0, None, None, None))(*tensors).sum()
        self.both(performed, performer_of, lambda function: jax.grad(total(function), (0, 3)), many, *rest)
        own = lambda function: jax.vmap(jax.grad(loss(function), 3), (None, None, None, 0))
        self.both(performed, performer_of, own, q, *rest[:2], jnp.stack([rest[2], rest[2] / 2]))
        tokens_alone = lambda function: jax.vmap(jax.grad(loss(function)), (0, None, None, None))
        self.assertEqual(self.calls(tokens_alone(performed), many, *rest), (2, 0))

    def test_a_jacobian(self):
        tensors, by = qkv(3, batch=1), lambda function: jax.jacrev(lambda *tensors: function(*tensors)[0][0, 0])
        self.near(by(elu1)(*tensors), by(elu1_of)(*tensors))


class Programs(Case):
    def test_checkpointed(self):
        tensors = qkv(33)
        expected = jax.grad(loss(elu1_of), (0, 1, 2))(*tensors)
        for policy in (None, jax.checkpoint_policies.dots_saveable):
            kept = jax.checkpoint(loss(elu1), policy=policy)
            self.near(jax.grad(kept, (0, 1, 2))(*tensors), expected)
            self.near(jax.jit(jax.grad(kept, (0, 1, 2)))(*tensors), expected)

    def test_in_a_branch(self):
        tensors = qkv(33)

        def by(function):
            product = lambda q, k, v: (q * k * v).sum()
            return jax.jit(jax.grad(lambda which, *tensors: jax.lax.cond(which > 0, loss(function), product, *tensors), (1, 2, 3)))

        for which in (0, 1):
            self.near(by(elu1)(which, *tensors), by(elu1_of)(which, *tensors))

    def test_in_a_loop(self):
        tensors = qkv(33)

        def repeated(function, remat=lambda step: step):
            step = lambda q, scale: (function(q, tensors[1] * scale, tensors[2])[0], None)
            return lambda q, scales: jnp.sin(jax.lax.scan(remat(step), q, scales)[0]).sum()

        scales = jnp.array([1.0, 0.5, 2.0])
        expected = jax.grad(repeated(elu1_of), (0, 1))(tensors[0], scales)
        self.near(jax.grad(repeated(elu1), (0, 1))(tensors[0], scales), expected)
        self.near(jax.jit(jax.grad(repeated(elu1, jax.checkpoint), (0, 1)))(tensors[0], scales), expected)
        # At first what the loop carries is constant.
        by = lambda function: jax.grad(lambda scales: repeated(function)(tensors[0], scales))(scales)
        self.near(by(elu1), by(elu1_of))

    def test_steps_of_training_lower_the_loss(self):
        parameters = {name: jnp.asarray(array) for name, array in attune.init(LAYER).items()}
        x, = drawn((4, 32, 40))

        @jax.jit
        @jax.value_and_grad
        def step(parameters):
            return jnp.square(compiled("LAYER")(x=x, **parameters) - jnp.roll(x, 1, 1)).mean()

        losses = []
        for _ in range(5):
            value, gradients = step(parameters)
            parameters = jax.tree.map(lambda parameter, gradient: parameter - 0.5 * gradient, parameters, gradients)
            losses.append(float(value))
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertLess(losses[-1], 0.95 * losses[0])


class Errors(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = qkv(5)

    def refused(self, kind, text, function, *tensors):
        for of in (lambda f: f, jax.jit):
            with self.assertRaisesRegex(kind, text):
                of(function)(*tensors)

    def test_a_spec_without_gradients(self):
        attention = attune.compile({name: value for name, value in ELU1.items() if name != "gradients"})
        self.refused(attune.CompileError, "expected a spec that asks for gradients.*add `gradients: all` to it",
                     jax.grad(lambda q: attention(q=q, k=self.k, v=self.v).sum()), self.q)
        free = jax.grad(lambda q: (q * attention(q=jax.lax.stop_gradient(q), k=self.k, v=self.v)).sum())
        np.testing.assert_array_equal(free(self.q), attention(q=self.q, k=self.k, v=self.v))

    def test_by_what_the_spec_does_not_name(self):
        attention = attune.compile({**ELU1, "gradients": ["q", "v"]})
        by = jax.grad(lambda q, k, v: attention(q=q, k=k, v=v).sum(), (0, 1))
        self.refused(attune.ArgumentError, "by tensors among q, v, which the spec names in `gradients`, but got one by 'k'; name it "
                     "there too, or hold it constant with jax.lax.stop_gradient", by, self.q, self.k, self.v)
        stopped = jax.grad(lambda q, k, v: attention(q=q, k=jax.lax.stop_gradient(k), v=v).sum(), (0, 1, 2))
        held = stopped(self.q, self.k, self.v)
        exact = jax.grad(lambda *tensors: elu1_of(*tensors)[0].sum(), (0, 2))(self.q, self.k, self.v)
        for one, other in zip(held[::2], exact):
            self.assertLess(norm(one - other), TOLERANCE * norm(other))
        self.assertEqual(float(jnp.abs(held[1]).max()), 0)

    def test_a_second_derivative(self):
        first = jax.grad(lambda q: loss(elu1)(q, self.k, self.v))
        for second in (jax.grad(lambda q: first(q).sum()), jax.jacrev(first)):
            self.refused(attune.CompileError, "expected one derivative of compiled attention", second, self.q)

    def test_forward_mode(self):
        one = lambda q: loss(elu1)(q, self.k, self.v)
        self.refused(TypeError, "forward-mode", lambda q: jax.jvp(one, (q,), (q,)), self.q)
        self.refused(TypeError, "forward-mode", jax.jacfwd(one), self.q)
        self.refused((TypeError, attune.CompileError), "forward-mode|expected one derivative", jax.hessian(one), self.q)

    def test_what_the_library_finds(self):
        with self.assertRaisesRegex(Exception, r"'v': expected size 5 \(keys of argument 'k'\)"):
            jax.block_until_ready(jax.jit(jax.grad(lambda q: elu1(q, self.k, self.v[:, :, :4])[0].sum()))(self.q))


if __name__ == "__main__":
    unittest.main()
