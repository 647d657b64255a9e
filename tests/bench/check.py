#!/usr/bin/env python3
"""How fast noisy-check is: many small files, one large file of the same text, starting up, memory.

    tests/bench/check.py [CHECK]      CHECK: target/release/noisy-check by default

Each figure is the best of five runs, one after the other in turn, so that what else the machine does hits all alike; on a busy machine only the time of the processor says
much. Memory is the largest of them; some 15 MB of it are those of this script.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
N_FILES, N_OPS = 10_000, 30


def function(number):
    """A program of noisy and arith ops in which there is nothing to report."""
    lines = [f"func.func @f{number}(%x: i5, %i: i32) -> (i5, i32) {{", "  %c0 = arith.constant 0 : i32", "  %0 = noisy.encode %x : i5 -> !noisy.i32"]
    for op in range(1, N_OPS):
        of = (op * 7 + number) % op
        if op % 12 == 0:
            lines.append(f"  %{op} = noisy.reduce_noise %{op - 1} : !noisy.i32")
        else:
            lines.append(f"  %{op} = noisy.add %{op - 1}, %{of if of > op - op % 12 else op - 1} : !noisy.i32 // {number}")
        lines.append(f"  %c{op} = arith.addi %c{op - 1}, %i : i32")
    lines += [f"  %d = noisy.decode %{N_OPS - 1} : !noisy.i32 -> i5", f"  return %d, %c{N_OPS - 1} : i5, i32", "}", ""]
    return "\n".join(lines)


def run(check, *args):
    start = time.perf_counter()
    process = subprocess.Popen([check, "--isolated", *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"noisy-check ended with {process.returncode}: {process.stderr.read().decode()[:2000]}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    check = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/noisy-check").resolve())
    with tempfile.TemporaryDirectory() as folder:
        tree, large = pathlib.Path(folder, "tree"), pathlib.Path(folder, "large.mlir")
        with large.open("w") as whole:
            for number in range(N_FILES):
                path = tree / f"{number // 100:03}" / f"{number % 100:02}.mlir"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(function(number))
                whole.write(function(number))
        empty = pathlib.Path(folder, "empty.mlir")
        empty.write_text("")
        megabytes = large.stat().st_size / 1e6
        cases = {f"{N_FILES:,} files": tree, "one file": large, "an empty file": empty}
        best = {name: (float("inf"), float("inf"), 0.0) for name in cases}
        for _ in range(5):
            for name, path in cases.items():
                took, cpu, peak = run(check, str(path))
                best[name] = (min(took, best[name][0]), min(cpu, best[name][1]), max(peak, best[name][2]))
        print(f"{megabytes:.1f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        print(f"{'':>14}  {'elapsed':>11}  {'processor':>11}  {'of that per MB':>14}  {'memory':>9}")
        for name, (took, cpu, peak) in best.items():
            each = f"{cpu * 1000 / megabytes:11.1f} ms" if name != "an empty file" else ""
            print(f"{name:>14}  {took * 1000:8.1f} ms  {cpu * 1000:8.1f} ms  {each:>14}  {peak:6.1f} MB")


main()
