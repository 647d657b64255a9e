#!/usr/bin/env python3
"""Runs the placement optimizer beside other solvers on the same programs and prints a table in Markdown.

  cargo build --release -p noisy-placement --example place
  placement/benches/compare.py [--time S] [--off STEP,...] [--with SOLVER,...] [--beside S] [--binary PLACE] [PROGRAM...]

PROGRAM is a file, or a name that placement/benches/programs.py knows; without any it is a choice of these. SOLVER is cp-sat or tutorial
(both `pip install ortools`) or highs (`pip install highspy`); without --with only ours runs. Ours works for --time seconds, and as long without each
STEP (docs/placement-reference.md), the others for --beside seconds (as long as ours), each alone on the machine. Each answer is checked by a
simulation of its own.

cp-sat and highs are given the compact model: the noise of each value before and after a reset, one 0/1 variable for each op. tutorial
is the integer program of the MLIR tutorial (big-M of 100, an auxiliary variable for each addition, with weight 0.1).
A cell is `answer / bound, seconds`, with `=` where the answer is proven.
"""
import argparse
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import programs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CHOICE = [
    "multiplier_8",
    "multiplier_10",
    "multiplier_16",
    "adder_64",
    "sorter_16_8",
    "sboxes_20",
    "rounds_8",
    "random_300_5_1",
    "random_300_10_1",
    "random_1000_5_1",
    "random_1000_10_1",
    "random_1000_30_1",
    "random_3000_5_1",
    "random_3000_10_1",
    "levels_300_1",
]
GAPS = (10, 5, 2, 1)
OP = re.compile(r"^\s*(%\S+) = (noisy\.(?:encode|add|sub|mul)|arith\.(?:mulf|addf)) (%[^\s,]+)(?:, (%[^\s,]+))?")
OURS = re.compile(r"cost (\d+), bound (\d+), (\w+), ([\d.]+) s; first legal (\d+) after ([\d.]+) ms; (\d+) sites")
STEP = re.compile(r"^ +([\d.]+) s  cost (\d+)  bound (\d+)$", re.M)
# What each kind of op does: whether noise is a sum, else the maximum and so much more.
RULES = {"noisy.add": (False, 1), "noisy.sub": (False, 1), "noisy.mul": (True, 0), "arith.mulf": (False, 1), "arith.addf": (False, 0)}


def read(file):
    """Fresh noise, the budget, and the ops: result, whether noise is a sum, what is added, operands."""
    ops, is_noisy = [], True
    for line in Path(file).read_text().splitlines():
        found = OP.match(line)
        if found and found[2] != "noisy.encode":
            is_noisy = found[2].startswith("noisy.")
            ops.append((found[1], *RULES[found[2]], [it for it in found.group(3, 4) if it]))
    return (12, 26, ops) if is_noisy else (0, 3, ops)


def is_legal(question, chosen):
    """Whether nothing is over the budget if the chosen results are reset."""
    fresh, budget, ops = question
    noise = {}
    for result, is_sum, more, operands in ops:
        into = [noise.get(it, fresh) for it in operands]
        before = sum(into) if is_sum else max(into) + more
        if before > budget:
            return False
        noise[result] = fresh if result in chosen else before
    return True


def cell(cost, bound, seconds):
    return f"= {cost}, {seconds:.2f} s" if cost == bound else f"{cost} / {bound}, {seconds:.1f} s"


def place(binary, file, seconds, *options):
    """What the optimizer prints."""
    command = [binary, "--time", str(seconds), *options, file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def without(binary, file, seconds, step):
    cost, bound, _, took, *_ = OURS.search(place(binary, file, seconds, "--off", step)).groups()
    return cell(int(cost), int(bound), float(took))


def ours(binary, file, seconds):
    """Cells: sites, first legal answer, answer, gap in per cent, seconds to each of the gaps."""
    out = place(binary, file, seconds, "--progress")
    cost, bound, _, took, first, first_ms, sites = OURS.search(out).groups()
    steps = [(float(t), int(c), int(b)) for t, c, b in STEP.findall(out)] + [(float(took), int(cost), int(bound))]

    def reached(gap):
        return next((f"{t:.2f}" for t, c, b in steps if (c - b) * 100 <= gap * c), "")

    gap = (int(cost) - int(bound)) / int(cost) * 100
    return [sites, f"{first}, {first_ms} ms", cell(int(cost), int(bound), float(took)), f"{gap:.1f}", *map(reached, GAPS)]


def cp_sat(question, seconds):
    from ortools.sat.python import cp_model

    fresh, budget, ops = question
    model, after, reset = cp_model.CpModel(), {}, {}
    for result, is_sum, more, operands in ops:
        into = [after.get(it, fresh) for it in operands]
        before = model.NewIntVar(0, budget, "")
        if is_sum:
            model.Add(before == sum(into))
        else:
            for it in into:
                model.Add(before >= it + more)
        reset[result] = model.NewBoolVar("")
        after[result] = model.NewIntVar(fresh, budget, "")
        model.Add(after[result] >= before).OnlyEnforceIf(reset[result].Not())
    model.Minimize(sum(reset.values()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    status = solver.Solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return {it for it, x in reset.items() if solver.Value(x)}, round(solver.BestObjectiveBound())


def highs(question, seconds):
    import highspy

    fresh, budget, ops = question
    model, after, reset = highspy.Highs(), {}, {}
    model.silent()
    model.setOptionValue("time_limit", float(seconds))
    for result, is_sum, more, operands in ops:
        into = [after.get(it, fresh) for it in operands]
        before = model.addVariable(0, budget)
        if is_sum:
            model.addConstr(before == sum(into))
        else:
            for it in into:
                model.addConstr(before >= it + more)
        reset[result] = model.addBinary()
        after[result] = model.addVariable(fresh, budget)
        model.addConstr(after[result] >= before - (budget - fresh) * reset[result])
    model.minimize(sum(reset.values()))
    solution = model.getSolution().col_value
    if not solution:
        return None
    chosen = {it for it, x in reset.items() if solution[x.index] > 0.5}
    bound = model.getInfo().mip_dual_bound
    return chosen, -int(-(bound - 1e-6) // 1)


def tutorial(question, seconds):
    from ortools.linear_solver import pywraplp

    fresh, budget, ops = question
    big = 100
    solver = pywraplp.Solver.CreateSolver("SCIP")
    solver.SetTimeLimit(int(seconds * 1000))
    after, reset = {}, {}
    for result, is_sum, more, operands in ops:
        left, right = (after.get(it, fresh) for it in operands)
        if is_sum:
            before = left + right
        else:
            before = solver.NumVar(0, budget, "")
            solver.Objective().SetCoefficient(before, 0.1)
            solver.Add(before >= left + more)
            solver.Add(before >= right + more)
        after[result] = solver.NumVar(0, budget, "")
        reset[result] = x = solver.IntVar(0, 1, "")
        solver.Objective().SetCoefficient(x, 1)
        solver.Add(before <= budget)
        solver.Add(after[result] >= fresh * x)
        solver.Add(after[result] <= fresh + big * (1 - x))
        solver.Add(after[result] >= before - big * x)
        solver.Add(after[result] <= before + big * x)
    solver.Objective().SetMinimization()
    if solver.Solve() not in (solver.OPTIMAL, solver.FEASIBLE):
        return None
    # Its objective is another one: it bounds nothing.
    return {it for it, x in reset.items() if x.solution_value() > 0.5}, 0


OTHERS = {"cp-sat": cp_sat, "highs": highs, "tutorial": tutorial}


def timed(solve, question, seconds):
    start = time.monotonic()
    return solve(question, seconds), time.monotonic() - start


def other(name, question, seconds):
    # In a process of its own: the libraries of OR-tools and HiGHS do not bear each other.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found, took = pool.submit(timed, OTHERS[name], question, seconds).result()
    if found is None:
        return f"none, {took:.1f} s"
    chosen, bound = found
    if not is_legal(question, chosen):
        return f"not legal, {took:.1f} s"
    return cell(len(chosen), bound, took) if bound else f"{len(chosen)}, {took:.1f} s"


def row(*cells):
    print("| " + " | ".join(str(it) for it in cells) + " |", flush=True)


def main():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("programs", nargs="*", default=CHOICE)
    arg.add_argument("--time", type=float, default=10)
    arg.add_argument("--off", default="")
    arg.add_argument("--beside", type=float)
    arg.add_argument("--with", dest="others", default="")
    arg.add_argument("--binary", default=str(ROOT / "target/release/examples/place"))
    a = arg.parse_args()
    off = [it for it in a.off.split(",") if it]
    others = [it for it in a.others.split(",") if it]
    for it in others:
        if it not in OTHERS:
            arg.error(f"no solver {it}; there are: {', '.join(OTHERS)}")
    row("program", "sites", "first legal", f"ours, {a.time:g} s", "gap, %", *(f"s to {it} %" for it in GAPS), *(f"without {it}" for it in off), *others)
    row(*["---"] * (5 + len(GAPS) + len(off) + len(others)))
    with tempfile.TemporaryDirectory() as folder:
        for name in a.programs:
            file = Path(name)
            if not file.exists():
                file = Path(folder) / f"{name}.mlir"
                file.write_text(programs.program(name))
            question = read(file) if others else None
            found = [other(it, question, a.beside or a.time) for it in others]
            less = [without(a.binary, file, a.time, it) for it in off]
            row(file.stem, *ours(a.binary, file, a.time), *less, *found)


if __name__ == "__main__":
    main()
