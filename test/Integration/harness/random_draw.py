"""One seed's spec, its tensors in files, what its output is expected to be, and the judgement of an output."""

import functools
import math
import pathlib

import numpy as np
import yaml

import judges
import reference
from accuracy import BOUND_FACTOR, LARGEST, MOST_ERROR, Verdict, conditioned, judge, ratio, says_nothing
from random_condition import SAMPLES, Conditions
from random_grammar import Choices, draw_spec
from random_range import LARGE_DEGREE, LARGE_LOGIT
from random_tensors import draw_tensors
from server import npy
from sketch_bounds import UNIT

# Of a large spec these rows are judged: the ends, one of every so many, and a few beside multiples of them.
TILE, BESIDE = 64, 16
# Of a row that is judged by itself, and of an output that is judged as a whole.
MOST_NOISE = 1 / 8
# How often the tensors are moved where the rows of an output are judged by themselves, each of which may be one number.
ROW_SAMPLES = 16
# Of the largest number of a storage type: rows that are not judged may be longer than those that are, but not by so much.
MODERATE = 2 ** -8
# Of the tolerance: what an output in f32 may move by with the tensors' last bits, if it divides by sums of both signs.
MOST_MOVED = 1 / 8
# An output of so few numbers may be by chance so many times nearer to 0 than its values' signs leave it on average.
FEW_NUMBERS, MOST_CANCELLED = 4, 16
# What states lose is added to the tolerance as a square, of which so little may be left out.
NEARLY = 1.01
# A seed whose draws say nothing is drawn again, up to so many times.
MOST_DRAWS = 10


def tolerance(case, tensors):
    """None beyond the range of the tolerances."""
    if not tensors.in_range:
        return None
    large = tensors.largest_logit > LARGE_LOGIT or any(m.get("degree", 1) >= LARGE_DEGREE for m in case.mechanisms())
    return judges.TOLERANCE[case.fields["dtype"]] * (2 if large else 1)


def rows_judged(case, key, all_below):
    """Which queries; all if there are few."""
    n = case.queries
    if n <= all_below:
        return np.arange(n)
    rng, starts = Choices(key, "rows").rng, np.arange(0, n, TILE)
    beside = TILE * rng.integers(1, n // TILE + 1, BESIDE) + rng.integers(-1, 2, BESIDE)
    of_tiles = starts + rng.integers(0, np.minimum(TILE, n - starts))
    return np.unique(np.concatenate([[0, 1, n - 1], beside[beside < n], of_tiles]))


def divides_both_signs(mechanism):
    """Whether weights of both signs have a quotient: those of features as they are do, if one is asked for."""
    return mechanism.get("feature_map", {}).get("kind") == "identity" and mechanism.get("denominator", "none") != "none"


class Drawn:
    """`attempt` counts the draws of the seed that said nothing. `init(spec, folder, sizes)` writes the parameters; `interpret(drawn,
    folder)` gives the exact output of the tensors in a folder, its judged rows."""

    def __init__(self, seed, attempt, limits, folder, init, interpret):
        self.seed, self.folder = seed, pathlib.Path(folder)
        key = (seed, attempt) if attempt else seed
        self.folder.mkdir(parents=True)
        self.case, self.spec = draw_spec(key, limits), self.folder / "spec.yaml"
        self.spec.write_text(yaml.safe_dump(self.case.fields, sort_keys=False), encoding="utf-8")
        init(self.spec, self.folder, self.case.init_arguments())
        self.tensors = draw_tensors(self.case, key, lambda name: np.load(npy(self.folder, name)).astype(np.float64))
        for name, array in self.tensors.arrays.items():
            np.save(npy(self.folder, name), array)
        self.tolerance = tolerance(self.case, self.tensors)
        self.places = rows_judged(self.case, key, limits.tokens)
        self.interpret = interpret
        self.expected = interpret(self, self.folder)

    @property
    def all_rows(self):
        return len(self.places) == self.case.queries

    def rounded(self, array):
        return array if array.dtype == np.int32 else reference.rounded(array, self.case.fields["dtype"])

    def judged(self, array):
        """The batch entries of an output that a NaN in a row that exists does not reach."""
        return array[int(self.tensors.spoiled):]

    @functools.cached_property
    def conditions(self):
        """None where no part is sketched, and beyond the range of the tolerances."""
        if self.tolerance is None or not any(m["kind"] == "polysketch" for m in self.case.mechanisms()):
            return None
        arrays = {name: self.rounded(array) for name, array in self.tensors.arrays.items()}
        parameter = functools.cache(lambda name: self.rounded(np.load(npy(self.folder, name))))
        entries = slice(int(self.tensors.spoiled), None)
        return Conditions(self.case, arrays, parameter, self.expected, entries, self.places)

    def bounds(self, unit):
        """Of the rows that are judged, where each number of a sketch is off by up to `unit`; None if no part is sketched."""
        return None if self.conditions is None else unit * self.conditions.bounds

    @functools.cached_property
    def lost_in_state(self):
        """The share of the output that a few times the error of states by chance is of it; 0 where a projection adds up the heads of
        several parts, of which one must not excuse another."""
        if self.conditions is None or "parts" in self.case.fields and self.conditions.projected:
            return 0.0
        size = np.linalg.norm(self.judged(self.expected), axis=-1)
        lost = np.fmin(BOUND_FACTOR * self.conditions.off_in_state, MOST_ERROR) * size
        return float(ratio(np.linalg.norm(lost), np.linalg.norm(size)))

    @property
    def sketched_heads(self):
        return np.concatenate([np.full(heads, mechanism["kind"] == "polysketch") for heads, mechanism in self.case.parts()])

    def allowed(self, unit):
        """The tolerance; of an output that is judged as a whole, with what states lose of its rows, or twice how far the storage
        type's last bits move it, if that is more."""
        bounds = self.bounds(unit)
        if self.tolerance is None or bounds is not None and conditioned(bounds, self.tolerance).any():
            return self.tolerance
        return max(math.hypot(self.tolerance, self.lost_in_state), 2 * self.sensitivity)

    def noise(self, unit):
        """Of the rows that are judged, what the definition in f32 misses them by, a layer's rows rounded to `unit`, and how far they go
        when the tensors' last bits do, whatever the mechanism; None unless rows are judged by themselves."""
        bounds = self.bounds(unit)
        if bounds is None or not conditioned(bounds, self.tolerance).any():
            return None
        return np.fmax(self.conditions.noise(unit), self.spread)

    @functools.cached_property
    def spread(self):
        """The largest relative change of each row in samples of the tensors moved by up to the storage type's unit."""
        changes = [np.linalg.norm(change, axis=-1) for change in self.moves(ROW_SAMPLES)]
        return ratio(np.max(changes, axis=0), np.linalg.norm(self.judged(self.expected), axis=-1))

    @functools.cached_property
    def sensitivity(self):
        """The largest relative change of a whole output in 16 bits in such samples; 0 in f32 and beyond the range of the tolerances.
        Of several parts one must not excuse another, and sketches have rules of their own: 0."""
        fields = self.case.fields
        if self.tolerance is None or fields["dtype"] == "f32" or "parts" in fields or fields["mechanism"]["kind"] == "polysketch":
            return 0.0
        most = max(np.linalg.norm(change) for change in self.moves(SAMPLES))
        return float(ratio(most, np.linalg.norm(self.judged(self.expected))))

    def moves(self, count):
        """How the output changes in each of the samples."""
        nearby = functools.partial(self.nearby, np.random.default_rng(4))
        return (outputs - self.judged(self.expected) for outputs in self.changed("moved", nearby, count))

    def nearby(self, rng, name, array):
        """Signs and places, such as those of sketches, stay."""
        if array.dtype != np.float32 or np.isin(array, (-1, 1)).all():
            return array
        return array * (1 + self.storage_unit() * rng.uniform(-1, 1, array.shape))

    @functools.cached_property
    def cancels(self):
        """Whether an output of few numbers is the rest of values that cancel, and rounding weights to 16 bits moves it far."""
        if self.tolerance is None or "v" not in self.tensors.arrays or self.case.outputs() > FEW_NUMBERS:
            return False
        rng = np.random.default_rng(5)
        signs = lambda name, array: array * rng.choice([-1, 1], array.shape[:-1] + (1,)) if name == "v" else array
        typical = np.sqrt(np.mean([np.linalg.norm(output) ** 2 for output in self.changed("signs", signs)]))
        return bool(typical > MOST_CANCELLED * np.linalg.norm(self.judged(self.expected)))

    @functools.cached_property
    def divides_by_noise(self):
        """Whether a sum of weights of both signs, by which an output divides, is so much smaller than they are that the tensors' last
        bits decide the tolerance. Outputs in 16 bits are judged by their sensitivity, if they have one."""
        judged_so = self.case.fields["dtype"] != "f32" and "parts" not in self.case.fields
        if self.tolerance is None or judged_so or not any(map(divides_both_signs, self.case.mechanisms())):
            return False
        most = max(np.linalg.norm(change) for change in self.moves(ROW_SAMPLES))
        return bool(most > MOST_MOVED * self.tolerance * np.linalg.norm(self.judged(self.expected)))

    def changed(self, what, change, count=SAMPLES):
        """Exact outputs of the tensors as change(name, array) gives them, several times; their judged entries."""
        for i in range(count):
            folder = self.folder / f"{what}{i}"
            folder.mkdir()
            for path in self.folder.glob("*.npy"):
                array = np.load(path)
                np.save(folder / path.name, change(path.stem, array).astype(array.dtype))
            yield self.judged(self.interpret(self, folder))

    def worst_noise(self, unit):
        """Of the rows that are judged by themselves and not conditioned; 0 if there are none."""
        noise = self.noise(unit)
        return 0 if noise is None else noise[~conditioned(self.bounds(unit), self.tolerance)].max(initial=0)

    def is_noisy(self, unit):
        """Whether the output may err by more than the tolerance, or a row of it by more than its condition says."""
        if self.tolerance is None:
            return False
        noise = self.noise(unit)
        if noise is None:
            return self.allowed(unit) > NEARLY * self.tolerance
        bounds = self.bounds(unit)
        return BOUND_FACTOR * self.worst_noise(unit) > self.tolerance or \
            bool((noise > bounds)[conditioned(bounds, self.tolerance)].any())

    def storage_unit(self):
        return UNIT[self.case.fields["dtype"]]

    def says_nothing(self, unit):
        """Values or denominators cancel, or last bits move all of the output far, or too many rows are conditioned, or float64 cannot say what one is,
        or no f32 that a layer computes or a state can, or a row that is judged by itself goes far with the tensors' last bits."""
        if self.cancels or self.divides_by_noise or self.sensitivity > MOST_NOISE:
            return True
        if self.conditions is None or self.conditions.broken.any():
            return False
        return says_nothing(self.bounds(unit), self.tolerance) or self.conditions.disagree.any() or \
            self.conditions.moved > self.tolerance / 2 or self.worst_noise(unit) > MOST_NOISE or \
            self.lost_in_state > MOST_NOISE

    def disagreement(self):
        """What is wrong with a judge, empty if nothing is."""
        if self.conditions is None or not self.conditions.broken.any():
            return ""
        rows = np.argwhere(self.conditions.broken)
        return f"judge disagreement: two evaluations in float64 differ by more than it rounds in {len(rows)} rows, the first {rows[0]}"

    def is_moderate(self):
        """Whether no row, judged or not, can leave the range of the storage type: of quotients by sums of both signs, any can."""
        if any(map(divides_both_signs, self.case.mechanisms())):
            return False
        largest = np.abs(self.judged(self.expected)).max(initial=0)
        return self.tolerance is not None and largest < MODERATE * LARGEST[self.case.fields["dtype"]]

    def judge(self, got, unit):
        """The verdict on an output of all rows."""
        got = self.judged(got)
        if np.isnan(got).any() or self.is_moderate() and np.isinf(got).any():
            return Verdict("expected finite rows, judged or not, but got others", np.inf)
        got, expected, dtype = got[..., self.places, :], self.judged(self.expected), self.case.fields["dtype"]
        verdict = judge(got, expected, dtype, self.allowed(unit), self.bounds(unit), self.noise(unit))
        if not verdict.wrong and self.lost_in_state and not self.sketched_heads.all():
            plain = judge(got[:, ~self.sketched_heads], expected[:, ~self.sketched_heads], dtype, self.tolerance)
            verdict.wrong = plain.wrong and f"{plain.wrong}, of the heads that are not sketched"
        return verdict
