"""Random specs of the whole grammar, judged by the float64 interpreter of attn, and the interpreter by the oracle.

Each seed draws a spec and its tensors (random_grammar.py, random_tensors.py): every mechanism and what modifies it, forms
pinned, sizes at every residue, one in eight of thousands of tokens or wide, every storage type, large logits, NaN in rows
that do not exist. Each target compiles and runs it, on the CPU every fourth one as libraries are optimised and the others
not; inputs beyond the range of the tolerances must give a finite output and no more. Rows of sketches that rounding may
throw far are judged by their condition (random_condition.py); a spec with too many of them is drawn again. Each judge of an
output must refuse mutants of it (random_mutants.py). What is counted has limits: specs that a target does not support
(--refusals), outputs with conditioned rows (--conditioned) and those beyond the tolerance that a rule excuses (--excused), seeds whose
draws said nothing (--redrawn).

With --oracle the interpreter's own output is held against the oracle's, its chosen rows against all of them; with --terms the
mechanisms' decompositions against the mechanisms; with --plans every combination of the laws' forms, and the plans that
selection takes for a CPU and a GPU, against the spec as it is written: no plan for the CPU is a failure, and of GPUs, which
lack some forms, at most three seeds in ten have none. These draw no large specs.
"""

import argparse
import collections
import multiprocessing
import os
import sys

import random_grammar
import refusals
from random_worker import Worker

# Of so few seeds shares say nothing, and of so few small ones.
FEW, FEW_FOR_SMALL_SHARES = 10, 100
MOST_UNPLANNED = .3  # of the seeds: forms that no GPU has yet are pinned in about a sixth of them

worker = None


def start(args):
    global worker
    worker = Worker(args)


def run_seed(seed):
    return worker.run(seed)


def outcomes(args, seeds):
    """Of all seeds, as they are done; in order with one job."""
    if args.jobs == 1:
        start(args)
        yield from map(run_seed, seeds)
        worker.server.close()
        return
    with multiprocessing.Pool(args.jobs, start, [args]) as pool:
        yield from pool.imap_unordered(run_seed, seeds)


def report(outcome):
    print(f"FAIL: seed {outcome.seed}\n  " + "\n  ".join(outcome.failures + outcome.spec.splitlines()), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    listed = lambda text: [word for word in text.split(",") if word]
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--target", type=listed, default=["cpu"], help="targets, with commas; '' for none")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--pessimistic", action="store_true", help="with --emulate: rounding errors at their worst")
    parser.add_argument("--gpu-products", help="as attnc takes it")
    parser.add_argument("--oracle", help="path of oracle.py: judges the interpreter")
    parser.add_argument("--terms", action="store_true", help="judge the mechanisms' decompositions")
    parser.add_argument("--plans", action="store_true", help="judge every plan that the laws allow")
    parser.add_argument("--kinds", type=listed, default=random_grammar.KINDS)
    parser.add_argument("--maps", type=listed, default=random_grammar.MAPS, help="feature maps of kind kernel")
    parser.add_argument("--dtypes", type=listed, default=random_grammar.Limits.dtypes)
    parser.add_argument("--plain", action="store_true", help="mechanisms alone: nothing that modifies them, no parts")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--sizes", choices=random_grammar.SIZES, default="mixed", help="one in eight large, none, or all")
    parser.add_argument("--work", type=float, default=1e9, help="of a large spec: multiply-adds of all pairs of tokens")
    parser.add_argument("--f32-sketches", action="store_true", help="judge as if every target kept sketches in f32, as the CPU does")
    parser.add_argument("--all-supported", action="store_true", help="a spec that a target does not support is a failure")
    parser.add_argument("--refusals", type=float, default=.5, metavar="PERCENT", help="most runs that may be refused")
    parser.add_argument("--conditioned", type=float, default=5, metavar="PERCENT", help="most outputs with conditioned rows")
    parser.add_argument("--excused", type=float, default=1, metavar="PERCENT", help="most runs that may be excused "
                        "beyond the tolerance")
    parser.add_argument("--redrawn", type=float, default=5, metavar="PERCENT", help="most seeds whose draws may say nothing")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--optimized", action="store_true", help="code for the CPU of every spec as libraries have it")
    parser.add_argument("--progress", type=int, default=0, help="say how far it is after so many seeds")
    args = parser.parse_args()
    if not (args.target or args.oracle or args.terms or args.plans):
        parser.error("expected --target, --oracle, --terms or --plans, but got nothing to judge")
    if args.oracle or args.terms or args.plans:
        args.sizes = "small"
    return args


class Totals:
    """What came of all seeds. `documented` says of a kind of refusal whether a page lists it."""

    def __init__(self, documented=refusals.documented):
        self.documented = documented
        self.seeds = self.failed = self.in_range = self.long = self.judged = self.drawn_again = 0
        self.counts, self.refusals = collections.Counter(), collections.Counter()

    def add(self, outcome):
        self.seeds, self.failed = self.seeds + 1, self.failed + bool(outcome.failures)
        self.in_range, self.long = self.in_range + outcome.in_range, self.long + outcome.long
        self.drawn_again += outcome.redrawn > 0
        self.judged += bool(outcome.in_range and outcome.ran and not outcome.failures)
        self.refusals.update(map(refusals.kind, outcome.refusals))
        for name in ("ran", "redrawn", "conditioned", "excused", "mutants", "left_out", "plans", "unplanned"):
            self.counts[name] += getattr(outcome, name)

    def refused(self):
        return sum(self.refusals.values())

    def say(self, args):
        count = self.counts
        if args.plans:
            print(f"{count['plans']} plans interpreted; {count['unplanned']} seeds without one for a GPU, which lacks what is pinned")
        for kind, times in self.refusals.most_common():
            print(f"refused {times} times: {kind}")
        if args.target:
            print(f"{count['mutants']} wrong outputs judged, {count['left_out']} left out as no different")
        print(f"{self.seeds} seeds, {self.long} of long sequences, {count['redrawn']} draws that said nothing, {count['ran']} runs, {self.in_range} seeds within "
              f"the range of the tolerances, {count['conditioned']} outputs with conditioned rows, {count['excused']} excused "
              f"beyond the tolerance, {self.refused()} refused, {self.failed} failed")

    def wrong(self, args):
        """What is wrong with the run as a whole."""
        runs = self.counts["ran"] + self.refused()
        undocumented = [kind for kind in self.refusals if not self.documented(kind)]
        return [text for text, holds in (
            (f"{self.failed} seeds failed", self.failed),
            (f"{self.counts['unplanned']} of {self.seeds} seeds without a plan for a GPU, at most {MOST_UNPLANNED:.0%}",
             self.counts["unplanned"] > MOST_UNPLANNED * max(self.seeds, 10)),
            ("no run", args.target and not self.counts["ran"]),
            (f"{self.in_range} of {self.seeds} seeds within the range of the tolerances, at least half",
             self.seeds >= FEW and 2 * self.in_range < self.seeds),
            (f"no long sequence in {self.seeds} seeds", args.sizes == "mixed" and self.seeds >= FEW_FOR_SMALL_SHARES and not self.long),
            (f"{self.counts['mutants']} wrong outputs judged beside {self.judged} right ones",
             args.target and self.counts["mutants"] < self.judged),
            (f"{self.counts['left_out']} wrong outputs left out, more than the {self.counts['mutants']} that were judged",
             self.counts["left_out"] > max(self.counts["mutants"], FEW)),
            (f"{self.drawn_again} of {self.seeds} seeds drawn again, at most {args.redrawn:g} %",
             100 * self.drawn_again > args.redrawn * max(self.seeds, FEW_FOR_SMALL_SHARES)),
            (f"{self.counts['conditioned']} of {runs} outputs with conditioned rows, at most {args.conditioned:g} %",
             100 * self.counts["conditioned"] > args.conditioned * max(runs, FEW_FOR_SMALL_SHARES)),
            (f"expected refusals that docs/{refusals.PAGE} documents, but got: {'; '.join(undocumented)}", undocumented),
            (f"{self.refused()} of {runs} runs refused, at most {args.refusals:g} %", 100 * self.refused() > args.refusals * runs),
            (f"{self.counts['excused']} of {runs} runs excused beyond the tolerance, at most {args.excused:g} %",
             100 * self.counts["excused"] > args.excused * max(runs, FEW_FOR_SMALL_SHARES))) if holds]


def main():
    args, totals = parse(), Totals()
    for outcome in outcomes(args, range(args.first, args.first + args.count)):
        if outcome.refusals and args.all_supported:
            outcome.failures.append(f"expected every target to support the spec, but got: {outcome.refusals[0]}")
        totals.add(outcome)
        for reason in outcome.refusals:
            print(f"seed {outcome.seed} is refused: {reason}", flush=True)
        if outcome.failures:
            report(outcome)
        if args.progress and totals.seeds % args.progress == 0:
            print(f"after seed {outcome.seed}: {totals.seeds} seeds, {totals.failed} failed", flush=True)
    totals.say(args)
    wrong = totals.wrong(args)
    print("\n".join(f"FAIL: {text}" for text in wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
