"""Whether an output in a storage type is right: the one judgement of tests, bundles and benchmarks.

The tolerance is of the whole output (Frobenius norm). Rows of sketched heads whose weights cancel are conditioned: their
first-order bound of what rounding does exceeds the tolerance. They may err by a few times that bound, up to a fixed share of
their own norm; every other row of such an output is then judged by itself, so that none hides behind them, and those of heads
that are not sketched together as well.
"""

import dataclasses

import numpy as np

from storage import from_storage, to_storage

# The names of the output that there always is; others are states, lse and gradients.
MAIN = ("o", "y")
# The largest number of a storage type.
LARGEST = {"f32": (2 - 2.0 ** -23) * 2.0 ** 127, "f16": 65504.0, "bf16": (2 - 2.0 ** -7) * 2.0 ** 127}
# What an output may be off near 0 whatever the exact one is: half the distance of f16's numbers there; below the normal numbers
# of f32, whose exponents bf16 has too, arithmetic may give 0 (powers are rescaled, ex2.approx.ftz flushes).
NEAR_ZERO = {"f32": 2.0 ** -126, "f16": 2.0 ** -25, "bf16": 2.0 ** -126}
# A conditioned row may err by so many times its bound, but by no more than this share of its norm.
BOUND_FACTOR, MOST_ERROR = 4, 0.25
# An output with a larger share of conditioned rows says nothing.
MOST_CONDITIONED = 0.2


def unequal(got, expected, dtype):
    """(entries by which an output differs from what its type holds of the exact one, entries that it should hold).

    What the type cannot hold is judged by what it holds in its place: beyond its largest number infinity, which counts
    as that number, and of an error what may be lost near 0.
    """
    largest = LARGEST[dtype]
    held, wanted = np.clip(got, -largest, largest), np.clip(expected, -largest, largest)
    return np.maximum(np.abs(held - wanted) - NEAR_ZERO[dtype], 0), wanted


def ratio(difference, size):
    """Of two norms: 0 for no difference, infinite where nothing was expected or a NaN came."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(difference == 0, 0.0, difference / size)
    return np.where(np.isnan(share), np.inf, share)


def storage_error(got, expected, dtype):
    """Relative Frobenius error of an output in a storage type against the exact one."""
    difference, wanted = unequal(got, expected, dtype)
    return float(ratio(np.linalg.norm(difference.ravel()), np.linalg.norm(wanted.ravel())))


def true_states(results):
    """Outputs by their names, states as what they stand for: e to the scale times what they hold, where they have a scale."""
    results = dict(results)
    for name in [name for name in results if name.endswith("state.scale")]:
        scale = np.exp(results.pop(name).astype(np.float64))
        for of in ("s", "z"):
            state = name[:-len("scale")] + of
            if state not in results:
                continue
            factor = scale.reshape(scale.shape + (1,) * (results[state].ndim - scale.ndim))
            results[state] = np.where(results[state] == 0, 0, factor * results[state])
    return results


def error_of(name, got, expected):
    """The relative Frobenius error, but of lse the largest error of a logarithm, in units of max(1, |lse|); −∞ must be −∞. Counts
    of tokens are right or wrong."""
    if expected.dtype == np.int32:
        return 0 if np.array_equal(got, expected) else np.inf
    if name != "lse":
        difference = np.linalg.norm((np.asarray(got, np.float64) - expected).ravel())
        return float(ratio(difference, np.linalg.norm(np.asarray(expected, np.float64).ravel())))
    none = np.isneginf(expected)
    if not np.array_equal(np.isneginf(got), none) or np.isnan(got).any():
        return np.inf
    return np.abs((got[~none] - expected[~none]) / np.maximum(1, np.abs(expected[~none]))).max(initial=0)


def row_errors(got, expected, dtype):
    """The same of each row: [.., c] -> [..]."""
    difference, wanted = unequal(got, expected, dtype)
    return ratio(np.linalg.norm(difference, axis=-1), np.linalg.norm(wanted, axis=-1))


def conditioned(bounds, tolerance):
    """Which rows are; a bound that is no number is none."""
    return ~(np.asarray(bounds) <= tolerance)


def says_nothing(bounds, tolerance):
    return bounds is not None and conditioned(bounds, tolerance).mean() > MOST_CONDITIONED


@dataclasses.dataclass
class Verdict:
    """`wrong` is empty if nothing is; `error` in units of the relative Frobenius error that the tolerance bounds."""
    wrong: str = ""
    error: float = 0.0
    conditioned: int = 0   # rows
    excused: int = 0       # rows that err by more than the tolerance


def finite(got, expected, dtype):
    """Beyond the range of the tolerances an output is finite wherever its type holds what is expected."""
    if np.isnan(expected).any():
        return Verdict("expected a number to judge by, but got NaN")
    held = np.isfinite(from_storage(to_storage(expected, dtype), dtype))
    return Verdict("" if np.isfinite(got[held]).all() else "expected a finite output")


def judge(got, expected, dtype, tolerance, bounds=None, noise=None):
    """The verdict on an output [.., c]. `tolerance` None: beyond its range. `bounds` [..] of the relative error of each row, 0
    where it has none; None if no row has. `noise` [..], if known: by how much the definition in f32 misses each row."""
    if got.shape != expected.shape:
        return Verdict(f"expected shape {expected.shape}, but got {got.shape}", np.inf)
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    if tolerance is None:
        return finite(got, expected, dtype)
    if bounds is not None and conditioned(bounds, tolerance).any():
        return judge_rows(got, expected, dtype, tolerance, bounds, noise)
    error = storage_error(got, expected, dtype)
    return Verdict("" if error <= tolerance else f"relative error {error:.2e}, tolerance {tolerance:.0e}", error)


def judge_rows(got, expected, dtype, tolerance, bounds, noise=None):
    """Row by row, where one is conditioned. What f32 misses a row by counts as its bound where that is more; together rows without a bound keep the tolerance whatever it misses them by."""
    exempt = conditioned(bounds, tolerance)
    allowed = lambda bounds: np.fmin(BOUND_FACTOR * np.asarray(bounds), MOST_ERROR)
    most = np.where(exempt, allowed(bounds), tolerance)
    most = most if noise is None else np.fmax(most, allowed(noise))
    errors = row_errors(got, expected, dtype)
    lost = exempt & ~(np.isfinite(got) | (np.abs(expected) > (1 - MOST_ERROR) * LARGEST[dtype])).all(axis=-1)
    share = np.where(lost, np.inf, errors / most)
    worst = np.unravel_index(np.argmax(share), share.shape)
    verdict = Verdict("", float(share[worst]) * tolerance, int(exempt.sum()), int((errors > tolerance).sum()))
    plain = np.asarray(bounds) == 0
    if (error := storage_error(got[plain], expected[plain], dtype)) > tolerance:
        verdict.wrong = f"relative error {error:.2e} of the {plain.sum()} rows that are not sketched, tolerance {tolerance:.0e}"
    if share[worst] > 1:
        kind = f"a conditioned row, bound {bounds[worst]:.1e}" if exempt[worst] else "a row that is not conditioned"
        verdict.wrong = f"relative error {errors[worst]:.2e} of row {tuple(map(int, worst))}, {kind}, " \
                        f"at most {most[worst]:.1e}; {int((share > 1).sum())} such rows"
    return verdict
