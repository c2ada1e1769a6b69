"""The limits of a run over random specs judged: what is refused, and what is excused beyond the tolerance, may be no more than was
allowed."""

import argparse
import sys

from random_specs import Totals
from random_worker import Outcome

LIMITS = argparse.Namespace(target=["sm_80"], refusals=10, conditioned=2, excused=1, redrawn=5, sizes="mixed")
KNOWN = "error: expected tiles that fit, but no schedule fits: 70000 bytes"


def complaints(outcomes, documented=lambda kind: True):
    totals = Totals(documented)
    for outcome in outcomes:
        totals.add(outcome)
    return " ".join(totals.wrong(LIMITS))


def main():
    ran = lambda **more: Outcome(0, [], **{"ran": 1, "mutants": 4, "long": True} | more)
    refused = lambda: Outcome(0, [], refusals=[KNOWN])
    checks = [not complaints([ran()] * 9 + [refused()]), "2 of 10 runs refused" in complaints([ran()] * 8 + [refused()] * 2),
              "documents" in complaints([ran()] * 9 + [refused()], lambda kind: False),
              not complaints([ran()] * 99 + [ran(excused=1)]), "2 of 100" in complaints([ran()] * 98 + [ran(excused=1)] * 2),
              "no run" in complaints([]), "without a plan" in complaints([ran()] * 6 + [ran(unplanned=1)] * 4),
              "1 seeds failed" in complaints([ran(), Outcome(0, ["wrong"], ran=1)]),
              not complaints([ran()] * 95 + [ran(redrawn=2)] * 5), "drawn again" in complaints([ran()] * 94 + [ran(redrawn=1)] * 6),
              not complaints([ran(mutants=1, left_out=1)] * 20), "left out" in complaints([ran(mutants=1, left_out=2)] * 20),
              "wrong outputs judged" in complaints([ran(mutants=0)]), not complaints([ran(mutants=0, in_range=False)]),
              "of 10 seeds within" in complaints([ran(in_range=False)] * 6 + [ran()] * 4),
              not complaints([ran(in_range=False)] * 5 + [ran()] * 5),
              "no long" in complaints([ran(long=False)] * 100), not complaints([ran(long=False)] * 99 + [ran()]),
              not complaints([ran()] * 98 + [ran(conditioned=1)] * 2), "3 of 100" in complaints([ran()] * 97 + [ran(conditioned=1)] * 3)]
    print("totals:", "pass" if all(checks) else f"FAIL {checks}")
    sys.exit(not all(checks))


main()
