#!/usr/bin/env python3
"""Runs the placement optimizer beside a peer on random programs and circuits and prints a table in Markdown.

  cargo build --release -p noisy-placement --example place
  placement/benches/compare.py [--peers FOLDER] [--circuits FOLDER] [--quick] [--ours-only] [--python PYTHON]

FOLDER of peers has random_noisy.py and heir_program.py, which write programs, and tutorial_model.py, the ILP of the MLIR tutorial over
OR-tools (`pip install ortools` for the PYTHON that is named). Times are wall-clock: on a loaded machine compare the columns, not the
numbers. One program runs at a time.
"""
import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = re.compile(r"cost (\d+), bound (\d+), (\w+), ([\d.]+) s; first legal (\d+) after ([\d.]+) ms")

PEER = re.compile(r"(\w+)\s+reduces=(\d+)\s+seconds=([\d.]+)\s+legal=True")


def ours(binary, file, seconds, *options):
    """Cost, bound, whether proven, seconds, cost of the first legal answer."""
    run = subprocess.run([binary, "--time", str(seconds), *options, file], capture_output=True, text=True, check=True)
    found = OURS.search(run.stdout)
    if not found:
        sys.exit(f"not understood: {run.stdout}{run.stderr}")
    cost, bound, proof, time, first, _ = found.groups()
    return int(cost), int(bound), proof == "Optimal", float(time), int(first)


def tutorial(python, script, file, seconds):
    """What the peer prints of one function, or why there is nothing."""
    try:
        run = subprocess.run(
            [python, script, file, "--seconds", str(seconds)], capture_output=True, text=True, timeout=seconds + 60
        )
    except subprocess.TimeoutExpired:
        return "no answer"
    if run.returncode:
        return "failed"
    found = PEER.search(run.stdout)
    return f"{found[2]} ({found[1]}, {float(found[3]):.1f} s)" if found else "no answer"


def row(*cells):
    print("| " + " | ".join(str(it) for it in cells) + " |", flush=True)


def main():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--peers", type=Path, default=ROOT / "../shared/peers")
    arg.add_argument("--circuits", type=Path, default=ROOT / "../shared/circuits")
    arg.add_argument("--binary", default=str(ROOT / "target/release/examples/place"))
    arg.add_argument("--python", default=sys.executable)
    arg.add_argument("--quick", action="store_true", help="small programs and short times")
    arg.add_argument("--ours-only", action="store_true")
    a = arg.parse_args()
    if not a.peers.is_dir():
        sys.exit(f"{a.peers} is not there")
    folder = Path(tempfile.mkdtemp())

    def random_program(ops, seed):
        out = folder / f"random_{ops}_{seed}.mlir"
        subprocess.run([sys.executable, a.peers / "random_noisy.py", str(ops), str(seed), out], check=True)
        return out

    def peer(file, seconds):
        return "" if a.ours_only else tutorial(a.python, a.peers / "tutorial_model.py", file, seconds)

    row("program", "first legal", "ours", "bound", "proven", "seconds", "tutorial's model")
    row(*["---"] * 7)

    def one(name, file, seconds, peer_seconds, *options):
        cost, bound, proven, time, first = ours(a.binary, file, seconds, *options)
        theirs = peer(file, peer_seconds) if peer_seconds else ""
        row(name, first, cost, bound, "yes" if proven else "no", f"{time:.2f}", theirs)
        return cost, bound, proven, time

    seeds = range(1, 4 if a.quick else 11)
    for ops in (100, 300):
        runs = [one(f"random {ops}, seed {seed}", random_program(ops, seed), 10, 10 if seed == 1 else 0) for seed in seeds]
        times = [it[3] for it in runs]
        proven = sum(it[2] for it in runs)
        row(f"random {ops}: {proven} of {len(runs)} proven", "", "", "", "", f"median {statistics.median(times):.3f}, worst {max(times):.3f}", "")
    for seed in range(1, 2 if a.quick else 6):
        one(f"random 1000, seed {seed}", random_program(1000, seed), 10 if a.quick else 60, 0 if a.quick or seed > 1 else 60)
    for ops in (100, 300):
        for seed in range(1, 4):
            plain = folder / f"levels_{ops}_{seed}.mlir"
            subprocess.run(
                [sys.executable, a.peers / "heir_program.py", str(ops), str(seed), folder / "heir.mlir", plain], check=True
            )
            one(f"levels {ops}, seed {seed}", plain, 10, 0, "--live")
    adder, aes = a.circuits / "adder_32bit.mlir", a.circuits / "aes_128.mlir"
    if adder.exists():
        one("adder, 32 bit", adder, 10, 10)
    if aes.exists():
        one("AES-128", aes, 30, 0)
        if not a.quick:
            one("AES-128", aes, 120, 60)


if __name__ == "__main__":
    main()
