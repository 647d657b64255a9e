#!/usr/bin/env python3
"""noisy-check beside ruff on 10,000 files each, in turn in one run: checking, caches, fixing.

    tests/bench/ruff.py [-n RUNS] [--only WORD] [--check CHECK] [--ruff RUFF] [--folder FOLDER]

CHECK is target/release/noisy-check by default, RUFF is `ruff` (`pip install ruff`). The files are made below FOLDER, which is /dev/shm by default where there is
one, so that no disk is measured. Medians of elapsed and processor time, the largest memory, and the medians of the ratios of neighbouring runs. What is fixed is made anew
before each run.
"""

import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
N_FILES, PER_FOLDER = 10_000, 100


def python(number, n_lines, head=""):
    """A module in which there is nothing to report, of so many lines."""
    lines = [f"def f{number}(x, i):", "    c0 = 0", "    v0 = x"]
    op = 0
    while len(lines) < n_lines - 1:
        op += 1
        lines.append(f"    v{op} = v{op - 1} + v{(op * 7 + number) % op} - {number}" if op % 2 else f"    v{op} = v{op - 1} * i + c0")
    lines += [f"    return v{op}, c0", ""]
    return head + "\n".join(lines)


def legal(number):
    """A program of 30 ops in which there is nothing to report."""
    lines = [f"func.func @f{number}(%x: i5) -> i5 {{", "  %0 = noisy.encode %x : i5 -> !noisy.i32"]
    for op in range(1, 30):
        of = (op * 7 + number) % op
        if op % 12 == 0:
            lines.append(f"  %{op} = noisy.reduce_noise %{op - 1} : !noisy.i32")
        else:
            lines.append(f"  %{op} = noisy.add %{op - 1}, %{of if of > op - op % 12 else op - 1} : !noisy.i32 // {number}")
    return "\n".join([*lines, "  %d = noisy.decode %29 : !noisy.i32 -> i5", "  return %d : i5", "}", ""])


def unused(number):
    """The same with an op whose result nobody uses."""
    lines = legal(number).split("\n")
    return "\n".join([*lines[:2], "  %unused = noisy.add %0, %0 : !noisy.i32", *lines[2:]])


def over(number):
    """A program that needs one or two `reduce_noise`, mostly: 27 to 32 additions and a multiplication, and nothing to report of it then."""
    draw = random.Random(number)
    n_ops = draw.randint(27, 32)
    lines = [f"func.func @f{number}(%x: i5, %y: i5) -> i5 {{", "  %0 = noisy.encode %x : i5 -> !noisy.i32", "  %1 = noisy.encode %y : i5 -> !noisy.i32"]
    product, unused, pairs = draw.randint(2, 4), [0, 1], set()
    for op in range(2, n_ops + 2):
        # All that is left is added up in the end.
        is_last = len(unused) >= n_ops + 2 - op
        while True:
            a = unused[0] if is_last else draw.choice([unused[0], draw.randrange(max(op - 6, 0), op)])
            b = unused[1] if is_last and len(unused) > 1 else draw.randrange(max(op - 9, 0), op)
            if is_last or (a, b) not in pairs:
                break
        pairs |= {(a, b), (b, a)}
        unused = [it for it in unused if it not in (a, b)] + [op]
        lines.append(f"  %{op} = noisy.{'mul' if op == product else 'add'} %{a}, %{b} : !noisy.i32 // {number}")
    return "\n".join([*lines, f"  %d = noisy.decode %{n_ops + 1} : !noisy.i32 -> i5", "  return %d : i5", "}", ""])


def joined(text):
    """What gives the text of a file that holds those of a whole folder."""
    return lambda number: "".join(text(it) for it in range(number * PER_FOLDER, (number + 1) * PER_FOLDER))


def tree(folder, extension, text, n_files):
    for number in range(n_files):
        path = folder / f"{number // PER_FOLDER:03}" / f"{number % PER_FOLDER:02}.{extension}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(number))


def run(command, folder, wanted):
    os.sync()
    start = time.perf_counter()
    process = subprocess.Popen([*command, "."], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != wanted:
        sys.exit(f"{command[0]} ended with {process.returncode}: {said.decode()[:2000]}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Case:
    """Two commands on a folder each, and what makes the folder as it was before a run."""

    def __init__(self, name, trees, commands, before):
        self.name, self.trees, self.commands, self.before = name, trees, commands, before
        self.times = ([], [])

    def once(self):
        for side in (0, 1):
            folder = self.trees[side]
            if self.before == "anew":
                working = folder.with_name("working")
                shutil.rmtree(working, ignore_errors=True)
                shutil.copytree(folder, working)
                folder = working
            if self.before == "no cache":
                for name in (".noisy_cache", ".ruff_cache"):
                    shutil.rmtree(folder / name, ignore_errors=True)
            self.times[side].append(run(self.commands[side], folder, 0))

    def prove(self):
        """All that is placed is proven, within the usual limit of time."""
        working = self.trees[1].with_name("working")
        shutil.rmtree(working, ignore_errors=True)
        shutil.copytree(self.trees[1], working)
        said = subprocess.run([*self.commands[1], "."], cwd=working, stdout=subprocess.PIPE, text=True, check=True).stdout
        n_proven = said.count("(proven optimal)")
        if n_proven != N_FILES:
            sys.exit(f"{n_proven} placements are proven")

    def say(self):
        def median(side, at):
            return statistics.median(it[at] for it in self.times[side])

        def ratio(at):
            return statistics.median(ours[at] / theirs[at] for theirs, ours in zip(*self.times))

        memory = [max(it[2] for it in side) for side in self.times]
        print(
            f"{self.name:44} {median(0, 0):7.3f} s {median(1, 0):7.3f} s  {ratio(0):5.2f}  {ratio(1):5.2f}  {memory[1]:5.1f} MB {memory[0]:5.1f} MB",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    parser.add_argument("--check", default=str(ROOT / "target/release/noisy-check"))
    parser.add_argument("--ruff", default="ruff")
    parser.add_argument("--folder", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    args = parser.parse_args()
    ruff, check = shutil.which(args.ruff) or args.ruff, str(pathlib.Path(args.check).resolve())
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        made = {}

        def of(name, extension, text, n_files=N_FILES):
            if name not in made:
                made[name] = pathlib.Path(folder, name)
                tree(made[name], extension, text, n_files)
            return made[name]

        def small():
            return of("small", "py", lambda it: python(it, 32))

        def large():
            return of("large", "py", lambda it: python(it, 63))

        def ours():
            return of("ours", "mlir", legal)

        select = [ruff, "check", "--isolated", "--select", "F,E7,E9"]
        fix = [ruff, "check", "--isolated", "--select", "F,E7,E9", "--fix", "--no-cache"]
        mine = [check, "--isolated"]
        cases = [
            ("no cache, as many bytes", lambda: (large(), ours()), ([*select, "--no-cache"], [*mine, "--no-cache"]), None),
            ("no cache, half as many bytes of Python", lambda: (small(), ours()), ([*select, "--no-cache"], [*mine, "--no-cache"]), None),
            (
                "no cache, the same in 100 files",
                lambda: (
                    of("long", "py", joined(lambda it: python(it, 63)), N_FILES // PER_FOLDER),
                    of("ours long", "mlir", joined(legal), N_FILES // PER_FOLDER),
                ),
                ([*select, "--no-cache"], [*mine, "--no-cache"]),
                None,
            ),
            ("the cache is filled, as many bytes", lambda: (large(), ours()), (select, mine), "no cache"),
            ("the cache is filled, half as many bytes", lambda: (small(), ours()), (select, mine), "no cache"),
            ("all files are known", lambda: (small(), ours()), (select, mine), None),
            (
                "--fix removes an op (an import)",
                lambda: (of("import", "py", lambda it: python(it, 63, "import os\n\n\n")), of("unused", "mlir", unused)),
                (fix, [*mine, "--warn", "unused-op", "--fix", "--no-cache"]),
                "anew",
            ),
            (
                "--fix places reduce_noise (an import)",
                lambda: (of("import", "py", lambda it: python(it, 63, "import os\n\n\n")), of("over", "mlir", over)),
                (fix, [*mine, "--fix", "--no-cache"]),
                "anew",
            ),
        ]
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {args.n}")
        print(f"{'':44} {'ruff':>9} {'noisy':>9}  {'ratio':>5}  {'cpu':>5}  {'noisy':>8} {'ruff':>8}")
        for name, trees, commands, before in cases:
            if args.only not in name:
                continue
            case = Case(name, trees(), commands, before)
            if name.startswith("all files"):
                # What was written just now is not trusted by its times.
                time.sleep(4)
                case.once()
                case.times = ([], [])
            if "reduce_noise" in name:
                case.prove()
            for _ in range(args.n):
                case.once()
            case.say()


if __name__ == "__main__":
    main()
