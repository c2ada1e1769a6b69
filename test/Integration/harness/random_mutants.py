"""Wrong outputs made of a right one, each of which its judge must refuse.

A mutant that is as near to what is expected as the tolerance allows, such as the negative of an output that is all 0, is left out
and counted.
"""

import numpy as np

from accuracy import MOST_ERROR, conditioned, judge, unequal


def doubled(got, rows):
    """The longest of the rows that `rows` marks, doubled; None where there is none."""
    size = np.where(rows, np.linalg.norm(got, axis=-1), -1.0)
    if size.size == 0 or size.max() <= 0:
        return None
    mutant = got.copy()
    mutant[np.unravel_index(np.argmax(size), size.shape)] *= 2
    return mutant


def mutants(got, exempt):
    """(name, output) each; `exempt` marks the conditioned rows."""
    one = got.copy()
    one.reshape(-1, got.shape[-1])[-1] = np.nan
    yield from [("zero", np.zeros_like(got)), ("negated", -got), ("all NaN", np.full_like(got, np.nan)), ("one row NaN", one)]
    if got.ndim == 4 and got.shape[1] > 1:  # [batch, heads, n, dv]
        yield "heads swapped", np.roll(got, 1, axis=1)
    for name, rows in (("a row doubled", ~exempt), ("a conditioned row doubled", exempt)):
        if (mutant := doubled(got, rows)) is not None:
            yield name, mutant


def differs(mutant, expected, dtype, tolerance, exempt):
    """Whether it must be refused: by the norm of the whole output, or, if rows are judged by themselves, by that of one."""
    difference, wanted = (np.square(entries).sum(-1) for entries in unequal(mutant, expected, dtype))
    if np.isnan(difference).any():
        return True
    if exempt.any():
        return bool((difference > MOST_ERROR ** 2 * wanted).any())
    return difference.sum() > tolerance ** 2 * wanted.sum()


def accepted(got, expected, dtype, tolerance, bounds, noise=None):
    """(names of mutants that the judge accepts, how many were judged, how many left out)."""
    exempt = np.zeros(expected.shape[:-1], bool) if bounds is None else conditioned(bounds, tolerance)
    names, judged, left_out = [], 0, 0
    for name, mutant in mutants(got, exempt):
        if not differs(mutant, expected, dtype, tolerance, exempt):
            left_out += 1
            continue
        judged += 1
        if not judge(mutant, expected, dtype, tolerance, bounds, noise).wrong:
            names.append(name)
    return names, judged, left_out
