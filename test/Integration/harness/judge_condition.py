"""The judge of outputs with conditioned rows judged: its bounds by sketches that are moved, its rules by outputs made for them, and
both by specs that were once accepted with wrong outputs."""

import sys
import tempfile

import numpy as np

import random_condition
import random_mutants
from accuracy import judge
from random_draw import Drawn
from random_grammar import Limits
from server import Server, npy

STEP = 1e-9


#===------------------------------------------------------------------------------------------------------------------===#
# Bounds
#===------------------------------------------------------------------------------------------------------------------===#


class Moved:
    """S with each entry off by a relative error of at most STEP; by chance, or all the same way in each feature."""

    def __init__(self, rng, sketch, aligned):
        self.rng, self.sketch, self.aligned, self.calls = rng, sketch, aligned, 0

    def __call__(self, rows, mechanism, matrix):
        exact = self.sketch(rows, mechanism, matrix)
        return exact * (1 + STEP * self.rng.choice([-1, 1], exact.shape[-1:] if self.aligned else exact.shape))


def moves_of(rng, mechanism, matrix, q, k, v, visible):
    """(bound of each row, the largest of what drawn moves do to it), both over STEP."""
    arguments = (mechanism, matrix, q, k, v, np.arange(len(q)), visible)
    o, bound = random_condition.head_bound(*arguments)
    exact, most = random_condition.sketch, np.zeros(len(q))
    for i in range(200):
        random_condition.sketch = Moved(rng, exact, i % 2)
        most = np.maximum(most, np.linalg.norm(random_condition.head_bound(*arguments)[0] - o, axis=1) / STEP)
    random_condition.sketch = exact
    return bound, most


def bounds_hold():
    """No drawn move passes a bound, and some come near: a bound that is too large would excuse what is wrong."""
    rng, shares = np.random.default_rng(6), []
    for guard, local in [({}, {}), ({"bias": 0.5}, {}), ({"floor": 4.0}, {}), ({}, {"local_exact": 2})]:
        for n, keys in [(1, 1), (6, 2), (4, 4)]:
            made = {}
            matrix = lambda name, side: made.setdefault((name, side), random_condition.signs(
                rng.choice([-1, 1], 8), rng.integers(0, 8, 8)))
            mechanism = {"kind": "polysketch", "degree": 4, "size": 8, "denominator": guard} | local
            rows = [rng.standard_normal((count, 8)) for count in (n, keys, keys)]
            visible = np.tril(np.ones((n, keys), bool)) if n == keys else np.ones((n, keys), bool)
            bound, most = moves_of(rng, mechanism, matrix, *rows, visible)
            if not (most <= 1.001 * bound + 1e-6).all():
                print(f"expected moves up to {bound}, but got {most}")
                return False
            shares += list(most[bound > 1e-3] / bound[bound > 1e-3])
    print(f"{len(shares)} rows moved: the median by {np.median(shares):.2f} of its bound, the most by {max(shares):.2f}")
    return len(shares) > 30 and max(shares) > 0.8 and np.median(shares) > 0.2


def cancelled_weights_have_no_bound():
    """Where all weights of a row are 0 only because they cancel, nobody can say what it is; where sketches are 0, it is 0."""
    sums = lambda name, side: np.ones((2, 2)) if name == "leaf1" else np.eye(2)  # S(x) = (x0 + x1) x
    mechanism = {"kind": "polysketch", "degree": 4, "size": 2}
    bound = lambda q, k: random_condition.head_bound(mechanism, sums, np.array([q]), np.array([k]), np.ones((1, 1)),
                                                     np.arange(1), np.ones((1, 1), bool))
    cancelled, missing = bound([1.0, 2.0], [2.0, -1.0]), bound([1.0, -1.0], [2.0, -1.0])
    return cancelled[0] == 0 and np.isinf(cancelled[1]) and missing[0] == 0 and missing[1] == 0


#===------------------------------------------------------------------------------------------------------------------===#
# Rules
#===------------------------------------------------------------------------------------------------------------------===#


def right(errors, bounds, tolerance=1e-3):
    """Whether rows with these relative errors are."""
    expected = np.ones((len(errors), 4))
    return not judge(expected * (1 + np.array(errors))[:, None], expected, "f32", tolerance, np.array(bounds)).wrong


def rules_hold():
    inf, nan = np.inf, np.nan
    return (right([9e-4, 0], [0, 0]) and right([1.3e-3, 0], [0, 0])      # of the whole output, where no row is conditioned
            and not right([1.3e-3, 0], [0, 2e-3]) and right([9e-4, 0], [0, 2e-3])  # by itself, where one is
            and right([0, 7e-3], [0, 2e-3]) and not right([0, 9e-3], [0, 2e-3])    # four times its bound
            and right([0, 0.2], [0, 1]) and not right([0, 0.26], [0, 1])           # a quarter of its norm
            and right([0, 0.2], [0, inf]) and not right([0, 0.26], [0, inf]) and not right([0, 0.26], [0, nan])
            and not right([0, nan], [0, inf]) and not right([0, inf], [0, inf]) and not right([nan, 0], [0, inf])
            and not right([nan, 0], [0, 0]))


#===------------------------------------------------------------------------------------------------------------------===#
# Specs
#===------------------------------------------------------------------------------------------------------------------===#


def draw(server, seed, kinds, folder):
    def call(*words):
        status, said = server.call(*words)
        if status != 0:
            sys.exit(f"{words[0]} ended with {status}: {said}")
    init = lambda spec, where, sizes: call("init", spec, "--out", where, "--seed", seed, *sizes)
    drawn = Drawn(seed, 0, Limits(kinds), f"{folder}/{seed}", init)
    result = npy(drawn.folder, "result")
    call("reference", drawn.spec, drawn.folder, result)
    drawn.expected = np.load(result)
    return drawn


def refused(drawn, wrong):
    """Whether the judge refuses each of the outputs, and takes what is expected."""
    unit = drawn.storage_unit()
    names = [name for name, output in wrong if not drawn.judge(output, unit).wrong]
    exact = drawn.judge(drawn.rounded(drawn.expected), unit).wrong
    print(f"seed {drawn.seed}: {len(wrong)} wrong outputs, accepted: {', '.join(names) or 'none'}; the exact one: {exact or 'right'}")
    return not names and not exact and not drawn.disagreement()


def sketches_refused(server, folder):
    """Zero, negated, NaN."""
    passed = True
    for seed in (128, 172, 178, 183):
        drawn = draw(server, seed, ["polysketch"], folder)
        exempt = np.zeros(drawn.expected.shape[:-1], bool)
        wrong = [(name, output) for name, output in random_mutants.mutants(drawn.expected, exempt)
                 if random_mutants.differs(output, drawn.expected, drawn.case.fields["dtype"], drawn.tolerance, exempt)]
        passed &= {"zero", "negated", "all NaN", "one row NaN"} <= {name for name, _ in wrong} and refused(drawn, wrong)
    return passed


def heads_refused(server, folder):
    """Softmax heads beside sketched ones, a quarter wrong."""
    drawn = draw(server, 395, ["polysketch", "softmax"], folder)
    parts = drawn.case.parts()
    place = [mechanism["kind"] for _, mechanism in parts].index("softmax")
    first = sum(heads for heads, _ in parts[:place])
    output = drawn.expected.copy()
    output[:, first:first + parts[place][0]] *= 1.26
    return "polysketch" in [mechanism["kind"] for _, mechanism in parts] and refused(drawn, [("softmax heads", output)])


def main():
    np.seterr(all="ignore")
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        checks = {"bounds": bounds_hold(), "cancelled weights": cancelled_weights_have_no_bound(), "rules": rules_hold(),
                  "sketches": sketches_refused(server, folder), "heads": heads_refused(server, folder)}
    server.close()
    print(", ".join(f"{name}: {'pass' if passed else 'FAIL'}" for name, passed in checks.items()))
    sys.exit(not all(checks.values()))


main()
