"""The judge of outputs with conditioned rows judged: its bounds by sketches that are moved, its rules by outputs made for them, and
both by specs that were once accepted with wrong outputs."""

import sys
import tempfile

import numpy as np

import random_mutants
import sketch_bounds
from accuracy import judge, says_nothing
from random_draw import MOST_NOISE, Drawn
from random_grammar import KINDS, Limits
from server import Server, npy

STEP = 1e-7


#===------------------------------------------------------------------------------------------------------------------===#
# Bounds
#===------------------------------------------------------------------------------------------------------------------===#


class Moved:
    """S with one entry of one row off by STEP of the row's norm; the calls are for q and k in turn."""

    def __init__(self, sketch, side, row, entry):
        self.sketch, self.side, self.row, self.entry, self.calls = sketch, side, row, entry, 0

    def __call__(self, rows, mechanism, matrix, step):
        value, error = self.sketch(rows, mechanism, matrix, step)
        if self.calls == self.side:
            value = value.copy()
            value[self.row, self.entry] += STEP * np.linalg.norm(value[self.row])
        self.calls += 1
        return value, error


def steepness(arguments, o, side, row, r):
    """How far the rows of the output go for a row of S(q) (side 0) or S(k) that moves by its norm in the worst direction."""
    exact, moved = sketch_bounds.sketch, []
    for entry in range(r):
        sketch_bounds.sketch = Moved(exact, side, row, entry)
        moved.append((sketch_bounds.attend_head(*arguments).o - o) / STEP)
    sketch_bounds.sketch = exact
    return np.linalg.norm(np.array(moved).swapaxes(0, 1), 2, axis=(1, 2))


def bounds_hold():
    """Bounds are those of derivatives that are measured: a smaller one refuses what is right, a larger one excuses what is wrong."""
    rng, apart, rows = np.random.default_rng(6), 0.0, 0
    for guard, local in [({}, {}), ({"bias": 0.5}, {}), ({"floor": 4.0}, {}), ({}, {"local_exact": 2})]:
        for n, keys in [(1, 1), (6, 2), (4, 4)]:
            made = {}
            matrix = lambda name, side: made.setdefault((name, side), sketch_bounds.signs(
                rng.choice([-1, 1], 8 if "leaf" in name else 4), rng.integers(0, 4, 4)))
            mechanism = {"kind": "polysketch", "degree": 4, "size": 4, "denominator": guard} | local
            q, k, v = (rng.standard_normal((count, width)) for count, width in ((n, 8), (keys, 8), (keys, 3)))
            visible = np.tril(np.ones((n, keys), bool)) if n == keys else np.ones((n, keys), bool)
            arguments = (mechanism, matrix, (q, 0 * q), (k, 0 * k), v, np.arange(n), visible)
            head = sketch_bounds.attend_head(*arguments)
            measured = sum(steepness(arguments, head.o, side, row, 4) for side, count in ((0, n), (1, keys)) for row in range(count))
            apart = max(apart, np.abs(measured - head.bound).max() / (1e-3 + head.bound.max()))
            rows += n
    print(f"{rows} rows: bounds and what is measured differ by {apart:.0e}")
    return apart < 1e-4


def cancelled_weights_have_no_bound():
    """Where all weights of a row are 0 only because they cancel, nobody can say what it is; where sketches are 0, it is 0."""
    sums = lambda name, side: np.ones((2, 2)) if name == "leaf1" else np.eye(2)  # S(x) = (x0 + x1) x
    mechanism = {"kind": "polysketch", "degree": 4, "size": 2}
    number = lambda row: (np.array([row]), np.zeros((1, 2)))
    head = lambda q, k: sketch_bounds.attend_head(mechanism, sums, number(q), number(k), np.ones((1, 1)), np.arange(1),
                                                     np.ones((1, 1), bool))
    cancelled, missing = head([1.0, 2.0], [2.0, -1.0]), head([1.0, -1.0], [2.0, -1.0])
    return cancelled.o == 0 and np.isinf(cancelled.bound) and missing.o == 0 and missing.bound == 0


#===------------------------------------------------------------------------------------------------------------------===#
# Rules
#===------------------------------------------------------------------------------------------------------------------===#


def right(errors, bounds, noise=None, tolerance=1e-3):
    """Whether rows with these relative errors are."""
    expected = np.ones((len(errors), 4))
    return not judge(expected * (1 + np.array(errors))[:, None], expected, "f32", tolerance, np.array(bounds), noise).wrong


def rules_hold():
    inf, nan = np.inf, np.nan
    return (right([9e-4, 0], [0, 0]) and right([1.3e-3, 0], [0, 0])      # of the whole output, where no row is conditioned
            and not right([1.3e-3, 0], [0, 2e-3]) and right([9e-4, 0], [0, 2e-3])  # by itself, where one is
            and right([0, 7e-3], [0, 2e-3]) and not right([0, 9e-3], [0, 2e-3])    # four times its bound
            and right([0, 0.2], [0, 1]) and not right([0, 0.26], [0, 1])           # a quarter of its norm
            and right([0, 0.2], [0, inf]) and not right([0, 0.26], [0, inf]) and not right([0, 0.26], [0, nan])
            and not right([0, nan], [0, inf]) and not right([0, inf], [0, inf]) and not right([nan, 0], [0, inf])
            and not right([nan, 0], [0, 0])
            and right([7e-3, 0], [1e-9, 2e-3], [2e-3, 0]) and not right([9e-3, 0], [1e-9, 2e-3], [2e-3, 0])  # four times what f32 misses it by
            and right([0, 7e-3], [0, 1.1e-3], [0, 2e-3]) and not right([0, 9e-3], [0, 1.1e-3], [0, 2e-3])  # of a conditioned row too
            and right([9e-4, 0], [1e-9, 2e-3], [1e-5, 0]) and not right([1.1e-3, 0], [1e-9, 2e-3], [1e-5, 0])
            and not right([0.26, 0], [1e-9, 1], [inf, 0]) and not right([nan, 0], [1e-9, 1], [inf, 0])
            and right([6.9e-3, 0, 0, 0], [0, 5e-3, 0, 0], [2e-3, 0, 0, 0], 4e-3)    # and those without a bound together
            and not right([7.5e-3, 0, 0, 0], [0, 5e-3, 0, 0], [2e-3, 0, 0, 0], 4e-3)
            and right([7.5e-3, 0, 0, 0], [1e-9, 5e-3, 0, 0], [2e-3, 0, 0, 0], 4e-3)
            and not right([7e-3, 0], [0, 0], [2e-3, 0])                            # where no row is conditioned, the whole output
            and not says_nothing(np.array([1] + 4 * [0]), 1e-3) and says_nothing(np.array([1] * 2 + 7 * [0]), 1e-3))


def f32_holds_powers():
    """The definition in f32 loses digits, whatever the length of the rows: their powers leave f32."""
    rng, worst = np.random.default_rng(3), 0.0
    matrix = lambda name, side, made={}: made.setdefault((name, side), sketch_bounds.signs(
        rng.choice([-1, 1], 16 if "leaf" in name else 8), rng.integers(0, 8, 8)))
    for length in (1e-3, 1.0, 1e3):
        for local in ({}, {"local_exact": 2}):
            mechanism = {"kind": "polysketch", "degree": 32, "size": 8} | local
            q, k, v = (rng.uniform(.5, 1, (count, width)) * length for count, width in ((6, 16), (6, 16), (6, 3)))
            arguments = (mechanism, matrix, q, k, v, np.arange(6), np.tril(np.ones((6, 6), bool)))
            exact, rounded = sketch_bounds.evaluate(*arguments), sketch_bounds.evaluate_in_f32(*arguments)
            error = np.linalg.norm(rounded - exact) / np.linalg.norm(exact)
            worst = max(worst, error if error > 0 else np.inf)
    print(f"of degree 32 f32 misses rows by {worst:.0e}")
    return worst < 1e-3


def read_in_f32(sq, state):
    """Σ_f s_f (Σ_g s_g state_fg) of rows sq [n, r] and a state [r, r, c], one addition after another."""
    total = np.zeros((len(sq), state.shape[-1]), np.float32)
    for column, slices in zip(sq.T, state):
        part = np.zeros_like(total)
        for other, entries in zip(sq.T, slices):
            part += other[:, None] * entries
        total += column[:, None] * part
    return total.astype(float)


def states_are_off_by_chance():
    """What is said of a state of f32 is the mean of what one made entry by entry is off by; rows that cancel are far off, so is one key alone."""
    rng, shares = np.random.default_rng(8), []
    for keys, r, length in ((1, 8, 1e-3), (20, 8, 1.0), (20, 32, 1e3)):
        sq, sk, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((40, r), (keys, r), (keys, 3)))
        sq *= np.float32(length)
        exact = [rows.astype(float) for rows in (sq, sk, v)]
        roots = sketch_bounds.Roots(exact[0] @ exact[1].T, None, np.ones((40, keys)), *exact[:2])
        o, root, _, _ = sketch_bounds.attend({}, roots.t, exact[2])
        ones = np.concatenate([v, np.ones((keys, 1), np.float32)], 1)
        state = (sk[:, :, None] * sk[:, None, :])[..., None] * ones[:, None, None, :]     # [N, r, r, dv + 1]
        sums = read_in_f32(sq, state.sum(0))
        error = np.linalg.norm(sums[:, :-1] / sums[:, -1:] - o, axis=1)
        chance = sketch_bounds.UNIT["f32"] * sketch_bounds.chance_in_state(roots, root, exact[2], o)
        shares.append(np.median(error / chance))
    print("errors of states are", " and ".join(f"{share:.2f}" for share in shares), "of what is said")
    return all(0.25 < share < 1 for share in shares)


#===------------------------------------------------------------------------------------------------------------------===#
# Specs
#===------------------------------------------------------------------------------------------------------------------===#


def draw(server, seed, kinds, folder, sizes="small"):
    def call(*words):
        status, said = server.call(*words)
        if status != 0:
            sys.exit(f"{words[0]} ended with {status}: {said}")
    init = lambda spec, where, sizes: call("init", spec, "--out", where, "--seed", seed, *sizes)
    def interpret(drawn, tensors):
        result = npy(drawn.folder, "result")
        call("reference", drawn.spec, tensors, result)
        return np.load(result)
    return Drawn(seed, 0, Limits(kinds, sizes=sizes), f"{folder}/{seed}", init, interpret)


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


def lost_in_states(server, folder):
    """What a state loses of sketched heads is allowed, and no more, and nothing of the heads beside them."""
    drawn = draw(server, 6000783, KINDS, f"{folder}/lost", "mixed")
    unit, rng = sketch_bounds.UNIT["f32"], np.random.default_rng(9)
    allowed, tolerance = drawn.allowed(unit), drawn.tolerance
    error = rng.standard_normal(drawn.expected.shape)
    error[:, ~drawn.sketched_heads] = 0
    error *= np.linalg.norm(drawn.expected) / np.linalg.norm(error)
    wrong = lambda change: bool(drawn.judge(drawn.expected + change, unit).wrong)
    plain = np.where(drawn.sketched_heads[:, None, None], 0, drawn.expected)
    print(f"states lose {drawn.lost_in_state:.1e} where {tolerance:.0e} are allowed")
    return not drawn.says_nothing(unit) and allowed > 2 * tolerance and not wrong(.99 * allowed * error) and \
        wrong(1.01 * allowed * error) and not wrong(.99 * tolerance * plain) and wrong(1.01 * tolerance * plain)


def evaluations_compared(server, folder):
    """An interpreter that is off by a little is found; what float64 cannot say is drawn again."""
    exact, off = (draw(server, 178, ["polysketch"], f"{folder}/{name}") for name in ("exact", "off"))
    off.expected = off.expected * (1 + 1e-8)
    noise = draw(server, 411, ["polysketch"], folder)
    unit = sketch_bounds.UNIT["f32"]
    return not exact.disagreement() and not exact.says_nothing(unit) and off.disagreement() and not off.says_nothing(unit) \
        and noise.says_nothing(unit) and not noise.disagreement()


def far_rows_are_drawn_again(server, folder):
    """A row that last bits of the tensors move far says nothing; one that they move little stays, and is judged."""
    far, near = draw(server, 3000969, KINDS, folder), draw(server, 2000133, KINDS, folder)
    unit = near.storage_unit()
    print(f"last bits move rows by {far.worst_noise(far.storage_unit()):.2f} and {near.worst_noise(unit):.0e}")
    return far.worst_noise(far.storage_unit()) > MOST_NOISE and far.says_nothing(far.storage_unit()) \
        and 0 < near.worst_noise(unit) < MOST_NOISE and near.noise(unit).tolist() == near.noise(unit).tolist()


def cancelled_values_are_drawn_again(server, folder):
    """An output of one number that is a hundredth of its terms; one that is not stays."""
    rest, usual = (draw(server, 3001098, KINDS, f"{folder}/{name}", "mixed") for name in ("rest", "usual"))
    usual.expected = usual.expected * 50
    return rest.case.outputs() == 1 and rest.cancels and rest.says_nothing(rest.storage_unit()) and not usual.cancels


def last_bits_are_allowed(server, folder):
    """Twice what the last bits of 16 move an output by, where that is more than the tolerance; more than an eighth is drawn again."""
    drawn, far = (draw(server, seed, KINDS, f"{folder}/bits", "mixed") for seed in (5011417, 7000779))
    parts = draw(server, 395, ["polysketch", "softmax"], f"{folder}/bits")
    unit, c = drawn.storage_unit(), drawn.sensitivity
    print(f"last bits move outputs by {c:.1e} and {far.sensitivity:.1e}; of one with parts that does not count: {parts.sensitivity:.1e}")
    wrong = lambda share: bool(drawn.judge(drawn.expected * (1 + share), unit).wrong)
    return drawn.tolerance < 2 * c == drawn.allowed(unit) and not drawn.says_nothing(unit) and not wrong(1.99 * c) \
        and wrong(2.01 * c) and far.says_nothing(far.storage_unit()) and parts.sensitivity == 0


def main():
    np.seterr(all="ignore")
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        checks = {"bounds": bounds_hold(), "cancelled weights": cancelled_weights_have_no_bound(), "rules": rules_hold(),
                  "f32": f32_holds_powers(), "states": states_are_off_by_chance(),
                  "sketches": sketches_refused(server, folder), "heads": heads_refused(server, folder),
                  "lost": lost_in_states(server, folder),
                  "evaluations": evaluations_compared(server, folder),
                  "far rows": far_rows_are_drawn_again(server, folder),
                  "cancelled values": cancelled_values_are_drawn_again(server, folder),
                  "last bits": last_bits_are_allowed(server, folder)}
    server.close()
    print(", ".join(f"{name}: {'pass' if passed else 'FAIL'}" for name, passed in checks.items()))
    sys.exit(not all(checks.values()))


main()
