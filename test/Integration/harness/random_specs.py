"""Random specs of the whole grammar, judged by the float64 interpreter of attn, and the interpreter by the oracle.

Each seed draws a spec and its tensors (random_grammar.py, random_tensors.py): every mechanism and what modifies it, forms
pinned, sizes at every residue, every storage type, large logits, NaN in rows that do not exist. Each target compiles and
runs it, on the CPU every fourth one as libraries are optimised and the others not; inputs beyond the range of the tolerances must give a finite output and no more. A target that does not support
a spec yet says so, and that is counted. With --oracle the interpreter's own output is held against the oracle's, its
chosen rows against all of them; with --terms the mechanisms' decompositions against the mechanisms; with --plans every
combination of the laws' forms, and the plans that selection takes for a CPU and a GPU, against the spec as it is written: no
plan for the CPU is a failure, and of GPUs, which lack some forms, at most three seeds in ten have none.
"""

import argparse
import multiprocessing
import os
import sys

import yaml

import random_grammar
from random_grammar import Limits, draw_spec
from random_worker import Worker

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


def report(args, seed, failures):
    fields = draw_spec(seed, Limits(args.kinds, args.maps, args.plain, args.tokens, args.width)).fields
    text = yaml.safe_dump(fields, sort_keys=False, default_flow_style=None, width=120)
    print(f"FAIL: seed {seed}\n  " + "\n  ".join(failures) + "\n  " + "\n  ".join(text.splitlines()), flush=True)


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
    parser.add_argument("--plain", action="store_true", help="mechanisms alone: nothing that modifies them, no parts")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--all-supported", action="store_true", help="a spec that a target does not support is a failure")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--optimized", action="store_true", help="code for the CPU of every spec as libraries have it")
    parser.add_argument("--progress", type=int, default=0, help="say how far it is after so many seeds")
    return parser.parse_args()


def main():
    args = parse()
    done = ran = refused = failed = in_range = conditioned = plans = unplanned = 0
    for outcome in outcomes(args, range(args.first, args.first + args.count)):
        if outcome.refused and args.all_supported:
            outcome.failures.append("expected every target to support the spec")
        done, ran, refused = done + 1, ran + outcome.ran, refused + outcome.refused
        failed, in_range = failed + bool(outcome.failures), in_range + outcome.in_range
        conditioned, plans = conditioned + outcome.conditioned, plans + outcome.plans
        unplanned += outcome.unplanned
        if outcome.failures:
            report(args, outcome.seed, outcome.failures)
        if args.progress and done % args.progress == 0:
            print(f"after seed {outcome.seed}: {done} seeds, {failed} failed", flush=True)
    if args.plans:
        print(f"{plans} plans interpreted; {unplanned} seeds without one for a GPU, which lacks what is pinned")
    print(f"{done} seeds, {ran} runs, {in_range} seeds within the range of the tolerances, "
          f"{conditioned} outputs judged by their condition, {refused} refused as not supported yet, {failed} failed")
    sys.exit(failed > 0 or (bool(args.target) and not ran) or unplanned > MOST_UNPLANNED * max(done, 10))


if __name__ == "__main__":
    main()
