#!/usr/bin/env python3
"""Reductions that remain after HEIR's --operation-balancer and after --rewrite, on the same programs.

    tests/bench/balancer.py --check target/release/noisy-check --heir-opt heir-opt [--seeds 1..5] [--time-limit 3]

Each program is straight-line code over `!noisy.i32`. HEIR gets it as `arith` on `i8` within a
`secret.generic`; the output of its pass is turned back into `noisy` ops. Both that and what
`--fix --rewrite` writes are placed by `noisy-check --fix`, and the `reduce_noise` are counted.
Exit code 1 if HEIR's output needs fewer anywhere, or if a program does not come back from HEIR.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile

NOISY = "!noisy.i32"


class Program:
    """Straight-line code: its arguments, its ops as (name, operator, operands), and its results."""

    def __init__(self, n_args):
        self.args = [f"%a{i}" for i in range(n_args)]
        self.ops = []
        self.results = []

    def op(self, operator, x, y):
        name = f"%v{len(self.ops)}"
        self.ops.append((name, operator, x, y))
        return name

    def fold(self, operator, values):
        out = values[0]
        for value in values[1:]:
            out = self.op(operator, out, value)
        return out

    def noisy(self):
        args = ", ".join(f"{it}: {NOISY}" for it in self.args)
        types = ", ".join([NOISY] * len(self.results))
        body = "".join(f"  {n} = noisy.{o} {x}, {y} : {NOISY}\n" for n, o, x, y in self.ops)
        end = f"  return {', '.join(self.results)} : {types}\n"
        return f"func.func @f({args}) -> ({types}) {{\n{body}{end}}}\n"

    def secret(self):
        secret = "!secret.secret<i8>"
        n = len(self.results)
        args = ", ".join(f"{it}: {secret}" for it in self.args)
        given = ", ".join(f"{it}: {secret}" for it in self.args)
        inner = ", ".join(f"%i{it[2:]}: i8" for it in self.args)
        of = lambda it: f"%i{it[2:]}" if it.startswith("%a") else it
        names = {"add": "addi", "sub": "subi", "mul": "muli"}
        body = "".join(
            f"    {v} = arith.{names[o]} {of(x)}, {of(y)} : i8\n" for v, o, x, y in self.ops
        )
        types = ", ".join([secret] * n)
        plain = ", ".join(["i8"] * n)
        results = ", ".join(of(it) for it in self.results)
        head = f"%r:{n}" if n > 1 else "%r"
        given_back = ", ".join(f"%r#{i}" for i in range(n)) if n > 1 else "%r"
        return (
            f"func.func @f({args}) -> ({types}) {{\n"
            f"  {head} = secret.generic({given}) {{\n  ^body({inner}):\n{body}"
            f"    secret.yield {results} : {plain}\n  }} -> ({types})\n"
            f"  return {given_back} : {types}\n}}\n"
        )


def back(text, program):
    """The program that HEIR wrote, as `noisy` ops; None if it is no straight-line code."""
    label = re.search(r"\^\w+\(([^)]*)\):", text)
    if not label:
        return None
    inner = re.findall(r"(%[\w#]+): i8", label[1])
    # HEIR may drop arguments that are not used, and give one twice.
    given = re.search(r"secret\.generic\s*\(([^{]*?)\)\s*\{", text)
    outer = re.findall(r"(%[\w#]+)\s*:", given[1]) if given else []
    head = re.search(r"func\.func @f\(([^{]*?)\)\s*->", text)
    args = re.findall(r"(%\w+)\s*:", head[1]) if head else []
    if len(outer) != len(inner) or len(args) != len(program.args):
        return None
    names = {it: program.args[args.index(of)] for it, of in zip(inner, outer)}
    out = Program(len(program.args))
    for line in text[label.end():].splitlines():
        op = re.match(r"\s*(%\w+) = arith\.(add|sub|mul)i (%\w+), (%\w+) : i8", line)
        end = re.match(r"\s*secret\.yield ([^:]*) :", line)
        if op:
            names[op[1]] = out.op(op[2], names[op[3]], names[op[4]])
        elif end:
            out.results = [names[it.strip()] for it in end[1].split(",")]
            return out
        elif line.strip():
            return None
    return None


def families(rng):
    n = rng.choice([12, 20, 32])

    def of(name, build, n_args):
        program = Program(n_args)
        result = build(program)
        program.results = result if isinstance(result, list) else [result]
        return name, program

    def horner(p):
        x, out = p.args[0], p.args[1]
        for it in p.args[2:]:
            out = p.op("add", p.op("mul", out, x), it)
        return out

    def graph(p):
        values = list(p.args)
        for _ in range(50):
            operator = rng.choice(["add", "add", "add", "sub", "mul"])
            values.append(p.op(operator, rng.choice(values[-8:]), rng.choice(values[-8:])))
        return values[-3:]

    def products(p):
        half = len(p.args) // 2
        pairs = zip(p.args[:half], p.args[half:])
        return p.fold("add", [p.op("mul", x, y) for x, y in pairs])

    def power(p):
        return p.fold("mul", [p.args[0]] * n)

    yield of("sum", lambda p: p.fold("add", p.args), n)
    yield of("product", lambda p: p.fold("mul", p.args), n)
    yield of("dot product", products, 2 * n)
    yield of("Horner", horner, n)
    yield of("power", power, 1)
    yield of("random graph", graph, 6)


def placed(check, text, limit, rewrite):
    """How many reductions the placed program has."""
    command = [check, "--isolated", "--no-cache", "--fix", "--time-limit", str(limit)]
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        command += ["--rewrite"] if rewrite else []
        run = subprocess.run(command + [file.name], capture_output=True, text=True)
        if run.returncode not in (0, 1):
            sys.exit(run.stderr)
        return open(file.name).read().count("noisy.reduce_noise")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", required=True)
    parser.add_argument("--heir-opt", required=True)
    parser.add_argument("--seeds", default="1..5")
    parser.add_argument("--time-limit", type=float, default=3)
    args = parser.parse_args()
    first, last = args.seeds.split("..")
    totals, failed = {}, 0
    for seed in range(int(first), int(last) + 1):
        for name, program in families(random.Random(seed)):
            run = subprocess.run(
                [args.heir_opt, "--operation-balancer"],
                input=program.secret(),
                capture_output=True,
                text=True,
            )
            balanced = back(run.stdout, program) if run.returncode == 0 else None
            if balanced is None:
                print(f"{name} (seed {seed}): HEIR's output is not understood\n{run.stderr[:300]}")
                failed += 1
                continue
            row = [
                placed(args.check, program.noisy(), args.time_limit, False),
                placed(args.check, balanced.noisy(), args.time_limit, False),
                placed(args.check, program.noisy(), args.time_limit, True),
            ]
            if row[2] > row[1]:
                print(f"{name} (seed {seed}): HEIR {row[1]}, rewritten {row[2]}")
                failed += 1
            totals[name] = [a + b for a, b in zip(totals.get(name, [0, 0, 0]), row)]
    print(f"{'reductions':<16}{'as written':>12}{'HEIR':>12}{'--rewrite':>12}")
    for name, row in totals.items():
        print(f"{name:<16}" + "".join(f"{it:>12}" for it in row))
    return 1 if failed or not totals else 0


if __name__ == "__main__":
    sys.exit(main())
