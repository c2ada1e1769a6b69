"""Random specs of decoders (gates, states, packed sequences, masks and logits) and their tensors, compiled, run as a whole and in
pieces that go on from one another, and judged by the oracle that lies beside the checkout, else by the interpreter.

Each seed draws a spec (decoder_grammar.py) and tensors (decoder_tensors.py), values at the borders of their ranges among them. Wrong
outputs must be refused: outputs that are changed, and exact ones of tensors that are a little wrong (decoder_mutants.py). What a
target refuses as not supported yet is counted by its reason, and fails a run with --all-supported.
"""

import argparse
import collections
import multiprocessing
import os
import sys

import decoder_grammar
import refusals
from decoder_worker import Worker

# Of so few seeds shares say nothing.
FEW = 100
MOST_EXCUSED, MOST_NOTHING, LEAST_IN_RANGE, LEAST_REFUSED = 2, 6, 60, 50  # percent

worker = None


def start(args):
    global worker
    worker = Worker(args)


def run_seed(seed):
    return worker.run(seed)


def outcomes(args, seeds):
    if args.jobs == 1:
        start(args)
        yield from map(run_seed, seeds)
        worker.server.close()
        return
    with multiprocessing.Pool(args.jobs, start, [args]) as pool:
        yield from pool.imap_unordered(run_seed, seeds)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    listed = lambda text: [word for word in text.split(",") if word]
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--target", type=listed, default=["cpu"], help="cpu, GPUs (emulated), reference: the interpreter")
    parser.add_argument("--oracle", help="path of oracle.py; without it the interpreter judges")
    parser.add_argument("--families", type=listed, default=decoder_grammar.FAMILIES)
    parser.add_argument("--dtypes", type=listed, default=decoder_grammar.Limits.dtypes)
    parser.add_argument("--tokens", type=int, default=130)
    parser.add_argument("--width", type=int, default=40)
    parser.add_argument("--small", action="store_true", help="no long sequences")
    parser.add_argument("--no-pins", action="store_true")
    parser.add_argument("--all-supported", action="store_true", help="a spec that a target does not support is a failure")
    parser.add_argument("--spoil", choices=["decay", "offset", "state"], help="make what targets take wrong, to see that it is noticed: "
                        "decays forgotten, sequences that begin a token late, states a token short")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--progress", type=int, default=0)
    args = parser.parse_args()
    if args.oracle and not os.path.exists(args.oracle):
        parser.error(f"expected the oracle at {args.oracle}, but got no file")
    return args


class Totals:
    def __init__(self):
        self.count, self.refusals, self.mutants, self.nothing = (collections.Counter() for _ in range(4))

    def add(self, outcome):
        for name, value in (("seeds", 1), ("failed", bool(outcome.failures)), ("runs", outcome.runs), ("pieces", outcome.pieces),
                            ("excused", outcome.excused), ("in_range", outcome.in_range), ("nothing", bool(outcome.nothing)),
                            ("refused_pins", outcome.refused_pins), ("refused", bool(outcome.refusals))):
            self.count[name] += value
        self.mutants += outcome.mutants
        self.refusals.update(f"{target}: {refusals.kind(why)}" for target, why in outcome.refusals)

    def of_mutants(self, kind):
        return sum(times for (_, what), times in self.mutants.items() if what == kind)

    def say(self):
        for kind, times in self.refusals.most_common():
            print(f"refused {times} times: {kind}")
        for name in sorted({name for name, _ in self.mutants}):
            print(f"wrong outputs, {name}: {self.mutants[name, 'refused']} refused, {self.mutants[name, 'equal']} no different, "
                  f"{self.mutants[name, 'nothing']} say nothing, {self.mutants[name, 'accepted']} accepted")
        c = self.count
        print(f"{c['seeds']} seeds, {c['runs']} runs, {c['pieces']} of them in pieces, {c['in_range']} seeds within the range of the "
              f"tolerances, {c['nothing']} drawn again, {c['excused']} excused, {c['refused_pins']} pins refused, {c['refused']} seeds "
              f"refused, {c['failed']} failed")

    def wrong(self):
        """What is wrong with the run as a whole."""
        c, many = self.count, max(self.count["seeds"], FEW)
        changed = ("a token late", "a state twice", "decay forgotten", "an offset late", "a state a token short")
        blunt = [name for name in changed if self.mutants[name, "refused"] + self.mutants[name, "equal"] >= 20
                 and 100 * self.mutants[name, "refused"] < LEAST_REFUSED * (self.mutants[name, "refused"] + self.mutants[name, "equal"])]
        return [text for text, holds in (
            (f"{c['failed']} seeds failed", c["failed"]), ("no run", not c["runs"]),
            (f"{self.of_mutants('accepted')} wrong outputs accepted", self.of_mutants("accepted")),
            (f"more wrong outputs of {', '.join(blunt)} that differ too little than those that are refused", blunt),
            (f"{c['excused']} of {c['runs']} runs excused beyond the tolerance, at most {MOST_EXCUSED} %", 100 * c["excused"] > MOST_EXCUSED * many),
            (f"{c['nothing']} of {c['seeds']} seeds drawn again, at most {MOST_NOTHING} %", 100 * c["nothing"] > MOST_NOTHING * many),
            (f"{c['in_range']} of {c['seeds']} seeds within the range of the tolerances, at least {LEAST_IN_RANGE} %",
             c["seeds"] >= FEW and 100 * c["in_range"] < LEAST_IN_RANGE * c["seeds"])) if holds]


def main():
    args, totals = parse(), Totals()
    for outcome in outcomes(args, range(args.first, args.first + args.count)):
        if outcome.refusals and args.all_supported:
            outcome.failures.append(f"expected every target to support the spec, but got: {outcome.refusals[0][1]}")
        totals.add(outcome)
        for why in outcome.nothing:
            print(f"seed {outcome.seed} is drawn again: {why}", flush=True)
        if outcome.failures:
            print(f"FAIL: seed {outcome.seed}\n  " + "\n  ".join(outcome.failures + outcome.spec.splitlines()), flush=True)
        if args.progress and totals.count["seeds"] % args.progress == 0:
            print(f"after seed {outcome.seed}: {totals.count['seeds']} seeds, {totals.count['failed']} failed", flush=True)
    totals.say()
    wrong = totals.wrong()
    print("\n".join(f"FAIL: {text}" for text in wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
