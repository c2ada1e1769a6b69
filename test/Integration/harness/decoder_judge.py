"""Whether the outputs of a decoder's run are right: the main output, lse, and final states by what they stand for."""

import dataclasses
import functools

import numpy as np

import judges
from accuracy import finite, judge, ratio, storage_error
from judges import TOLERANCE, true_states
from random_range import LARGE_DEGREE, LARGE_LOGIT
from sketch_bounds import UNIT

# How often the tensors are moved by their last bits, of an output as a whole and of rows by themselves.
SAMPLES, ROW_SAMPLES = 4, 16
# More than that share of an output in 16 bits, and that share of the tolerance in f32, says nothing.
MOST_MOVED, MOST_MOVED_F32 = 1 / 8, 1 / 8
# An output with a larger share of rows that cancel says nothing, and such a row may err by a quarter.
MOST_CANCELLED, MOST_ERROR = .2, .25
POSITION = "final_state.position"


@dataclasses.dataclass
class Verdict:
    wrong: list                # texts
    excused: bool = False      # right only by what last bits move
    nothing: str = ""          # why the case says nothing


def tolerance(case, tensors, name="o"):
    large = tensors.largest_logit > LARGE_LOGIT or any(m.get("degree", 1) >= LARGE_DEGREE for m in case.mechanisms())
    return TOLERANCE[case.fields["dtype"]] * (2 if large and name != "lse" else 1)


def without_layouts(case, outputs):
    """The outputs without the states of sketches, whose layouts are the library's own: runs that go on from them judge those."""
    own = [prefix + "final_state." for prefix, *_, m in case.parts() if m["kind"] == "polysketch"]
    return {name: array for name, array in outputs.items() if name not in [prefix + last for prefix in own for last in ("s", "z", "scale")]}


def error_of(name, got, expected, dtype):
    """In units of what the tolerance bounds."""
    if got.shape != expected.shape:
        return np.inf
    if name == POSITION:
        return 0.0 if np.array_equal(got, expected) else np.inf
    if name == "lse":
        return judges.error_of(name, got, expected)
    if not np.isfinite(expected).all() and name not in ("o", "y"):
        return 0.0
    return storage_error(got.astype(float), expected, dtype if name in ("o", "y") else "f32")


def moved(rng, name, array, unit):
    """Tensors of f32 in every dtype move by its last bit; signs, places and what nobody reads stay."""
    if array.dtype != np.float32 or ".sign" in name:
        return array
    unit = UNIT["f32"] if judges.is_always_f32(name) else unit
    return (array * (1 + unit * rng.uniform(-1, 1, array.shape))).astype(np.float32)


class Truth:
    """What a case's outputs are. `exact(arrays)` gives them by name, in float64."""

    def __init__(self, case, tensors, exact):
        self.case, self.tensors, self.exact = case, tensors, exact
        self.dtype = case.fields["dtype"]
        self.raw = exact(tensors.arrays)
        self.expected = true_states(without_layouts(case, self.raw))

    def samples(self, count):
        rng = np.random.default_rng(4)
        for _ in range(count):
            arrays = {name: moved(rng, name, array, UNIT[self.dtype]) for name, array in self.tensors.arrays.items()}
            yield true_states(without_layouts(self.case, self.exact(arrays)))

    @functools.cached_property
    def sensitivity(self):
        """The largest change of each output by the last bits of the tensors."""
        changes = [{name: error_of(name, array, self.expected[name], "f32") for name, array in outputs.items()} for outputs in self.samples(SAMPLES)]
        return {name: max(change[name] for change in changes) for name in self.expected if name != POSITION}

    @functools.cached_property
    def spread(self):
        """Of each row of the main output."""
        expected = self.main(self.expected)
        change = [np.linalg.norm(self.main(outputs) - expected, axis=-1) for outputs in self.samples(ROW_SAMPLES)]
        return ratio(np.max(change, axis=0), np.linalg.norm(expected, axis=-1))

    @staticmethod
    def main(outputs):
        return outputs["y" if "y" in outputs else "o"]

    def judge(self, got):
        got = true_states(without_layouts(self.case, got))
        if got.keys() != self.expected.keys():
            return Verdict([f"expected the outputs {', '.join(self.expected)}, but got {', '.join(got)}"])
        if not self.tensors.in_range:
            return Verdict([f"{name}: {text}" for name, array in got.items() if (text := self.not_finite(name, array))])
        verdict = Verdict([])
        for name, array in got.items():
            self.judge_one(name, array, verdict)
        return verdict

    def not_finite(self, name, got):
        """Beyond the range of the tolerances."""
        expected = self.expected[name]
        if name in ("lse", POSITION):
            return ""
        return finite(got, expected, self.dtype if name in ("o", "y") else "f32").wrong if np.isfinite(expected).all() else ""

    def judge_one(self, name, got, verdict):
        allowed, error = tolerance(self.case, self.tensors, name), error_of(name, got, self.expected[name], self.dtype)
        if error <= allowed:
            return
        if name == POSITION or got.shape != self.expected[name].shape:
            verdict.wrong.append(f"{name}: expected {self.expected[name]}, but got {got}")
            return
        if np.isnan(got).any() and not np.isnan(self.expected[name]).any():
            verdict.wrong.append(f"{name}: expected numbers, but got {np.isnan(got).sum()} NaN among {got.size}")
            return
        moves = self.sensitivity[name]
        nothing = moves > MOST_MOVED_F32 * allowed if self.dtype == "f32" else moves > MOST_MOVED
        if nothing:
            verdict.nothing = f"{name} is {error:.1e} off and last bits move it by {moves:.1e}"
        elif self.dtype != "f32" and error <= 2 * moves:
            verdict.excused = True
        elif name in ("o", "y") and any(m["kind"] == "polysketch" for m in self.case.mechanisms()):
            self.judge_rows(got, allowed, verdict)
        else:
            verdict.wrong.append(f"{name}: error {error:.2e}, tolerance {allowed:.0e}, last bits move it by {moves:.1e}")

    def judge_rows(self, got, allowed, verdict):
        """Rows of sketches that cancel are judged by themselves, with a cap."""
        expected, far = self.main(self.expected), self.spread > MOST_MOVED_F32 * allowed
        if far.mean() > MOST_CANCELLED:
            verdict.nothing = f"{far.mean():.0%} of the rows cancel"
            return
        rest = judge(got[~far], expected[~far], self.dtype, allowed)
        error = ratio(np.linalg.norm(got - expected, axis=-1), np.linalg.norm(expected, axis=-1))
        worst = float((error / np.fmax(MOST_ERROR, 4 * self.spread))[far].max(initial=0))
        if rest.wrong or worst > 1:
            verdict.wrong.append(f"rows: {rest.wrong or worst}, beside {far.sum()} rows that cancel")
        verdict.excused = True
