#!/usr/bin/env python3
"""Tries to break --fix --rewrite, and measures it.

    tests/bench/rewriting.py break --check target/release/noisy-check [--seed 1] [--programs 10000]
    tests/bench/rewriting.py measure --check target/release/noisy-check [--time-limit 10] PROGRAM...

`break` writes random programs with shared values, differences, constants, calls, loops and branches, runs
`--fix --rewrite` on each, and executes both programs on random plaintexts with an interpreter of
its own. It fails if a program computes something else, if `noisy.encode` or `noisy.decode` are
added, or if `--fix` fails. With `--certificates` each rewritten program is also verified by
`verify-certificate`.

`measure` prints a table with one row for each program: executed reductions after placement alone
and after rewriting, each under the time limit, and the seconds taken, by the clock and by the
processor. It fails if rewriting needs more. A program is a file, `.mlir`, `.txt` (a circuit of the
Bristol collection) or `.blif` (of the EPFL benchmarks), or the name of a program of
placement/benches/programs.py: random_1000_5_1 has 1,000 ops, 5 % of them products, and seed 1.
"""

import argparse
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TYPE = "!noisy.i32"
MODULUS = 32


class Writer:
    """A random program."""

    def __init__(self, rng):
        self.rng = rng
        self.n = 0

    def fresh(self, base="v"):
        self.n += 1
        return f"%{base}{self.n}"

    def pick(self, values):
        return self.rng.choice(values[-self.rng.choice([3, 7, 20]) :])

    def arithmetic(self, values, indent):
        operator = self.rng.choice(["add", "add", "add", "sub", "mul"])
        x, y = self.pick(values), self.pick(values)
        if self.rng.random() < 0.04:
            y = x
        name = self.fresh()
        line = f"{indent}{name} = noisy.{operator} {x}, {y} : {TYPE}\n"
        if self.rng.random() < 0.03:
            reduced = self.fresh()
            line += f"{indent}{reduced} = noisy.reduce_noise {name} : {TYPE}\n"
            values.append(reduced)
        values.append(name)
        return line

    def loop(self, values, indent, depth):
        n = self.rng.choice([1, 1, 1, 2])
        inits = [self.pick(values) for _ in range(n)]
        args = [self.fresh("w") for _ in range(n)]
        results = self.fresh("r")
        inner = values + args
        name = self.fresh("i")
        observed = self.observed(inner, name, indent + "  ") if self.rng.random() < 0.4 else ""
        body = observed + self.body(inner, indent + "  ", self.rng.randint(1, 4), depth + 1)
        ends = [self.pick(inner[len(values) :]) for _ in range(n)]
        if self.rng.random() < 0.4:
            # A sum or a product that is carried around the loop.
            line, ends[0] = self.joined(args[0], ends[0], indent + "  ")
            body += line
        carried = ", ".join(f"{a} = {i}" for a, i in zip(args, inits))
        types = ", ".join([TYPE] * n)
        head = results if n == 1 else f"{results}:{n}"
        if self.rng.random() < 0.3:
            low, step = self.rng.choice([0, 0, 3]), self.rng.choice([1, 1, 2])
            size = self.rng.choice([9, 9, 9, 40])
            bounds = f"{low} to {low + self.rng.randint(0, size)} step {step}"
            loop, end = f"affine.for {name} = {bounds}", "affine.yield"
        else:
            upper = self.rng.choice(["%n", "%m", "%dyn", "%long"])
            upper = "%m" if depth and upper == "%long" else upper
            bounds = f"%c{self.rng.choice([0, 1])} to {upper}"
            loop = f"scf.for {name} = {bounds} step %c{self.rng.choice([1, 1, 2])}"
            end = "scf.yield"
        out = f"{indent}{head} = {loop} iter_args({carried}) -> ({types}) {{\n{body}"
        out += f"{indent}  {end} {', '.join(ends)} : {types}\n{indent}}}\n"
        values += [results] if n == 1 else [f"{results}#{i}" for i in range(n)]
        return out

    def joined(self, x, y, indent):
        """A line that adds to a value or multiplies it, and its result."""
        name, operator = self.fresh(), self.rng.choice(["add", "add", "sub", "mul"])
        return f"{indent}{name} = noisy.{operator} {x}, {y} : {TYPE}\n", name

    def observed(self, values, index, indent):
        """Ops that others than arithmetic define or that are seen from outside."""
        kind = self.rng.random()
        if kind < 0.3:
            name = self.fresh()
            line = f"{indent}{name} = func.call @g({self.pick(values)}) : ({TYPE}) -> {TYPE}\n"
            values.append(name)
            return line
        if kind < 0.5:
            return f'{indent}"test.note"({self.pick(values)}) : ({TYPE}) -> ()\n'
        if kind < 0.7:
            return f'{indent}"test.note"({index}) : (index) -> ()\n'
        name = self.fresh("x")
        line = f"{indent}{name} = arith.addi {index}, %c2 : index\n"
        return line + f'{indent}"test.note"({name}, {index}) : (index, index) -> ()\n'

    def branch(self, values, indent, depth):
        result = self.fresh("s")
        sides = []
        common = self.pick(values) if self.rng.random() < 0.5 else None
        operator = self.rng.choice(["add", "add", "sub", "mul"])
        for _ in range(2):
            inner = list(values)
            body = self.body(inner, indent + "  ", self.rng.randint(0, 4), depth + 1)
            end = self.pick(inner)
            if common and self.rng.random() < 0.1:
                end = common
            elif common:
                name = self.fresh()
                of = (common, end) if self.rng.random() < 0.7 else (end, common)
                body += f"{indent}  {name} = noisy.{operator} {of[0]}, {of[1]} : {TYPE}\n"
                end = name
            sides.append(f"{body}{indent}  scf.yield {end} : {TYPE}\n")
        values.append(result)
        condition = self.rng.choice(["%p", "%q"])
        return (
            f"{indent}{result} = scf.if {condition} -> ({TYPE}) {{\n{sides[0]}{indent}}} else {{\n"
            f"{sides[1]}{indent}}}\n"
        )

    def crossing(self, values, indent):
        """A constant of another kind, or a plaintext that goes out and comes back."""
        name, plain = self.fresh("e"), self.fresh("x")
        if self.rng.random() < 0.5:
            first = f"{indent}{plain} = noisy.decode {self.pick(values)} : {TYPE} -> i5\n"
        else:
            first = f"{indent}{plain} = arith.constant {self.rng.randint(-16, 15)} : i5\n"
        values.append(name)
        return f"{first}{indent}{name} = noisy.encode {plain} : i5 -> {TYPE}\n"

    def body(self, values, indent, n, depth):
        out = ""
        for _ in range(n):
            kind = self.rng.random()
            if kind < 0.07 and depth < 3:
                out += self.loop(values, indent, depth)
            elif kind < 0.12 and depth < 3:
                out += self.branch(values, indent, depth)
            elif kind < 0.15:
                out += self.crossing(values, indent)
            else:
                out += self.arithmetic(values, indent)
        return out

    def program(self):
        rng = self.rng
        n_args = rng.choice([1, 2, 3, 6])
        values = [f"%a{i}" for i in range(n_args)]
        args = [f"{it}: {TYPE}" for it in values] + ["%p: i1", "%q: i1", "%dyn: index"]
        results = rng.randint(1, 4)
        types = ", ".join([TYPE] * results)
        out = f"func.func @f({', '.join(args)}) -> ({types}) {{\n"
        constants = {"c0": 0, "c1": 1, "c2": 2, "n": rng.randint(0, 20), "m": rng.randint(0, 6)}
        constants["long"] = rng.choice([30, 61, 97])
        for name, number in constants.items():
            out += f"  %{name} = arith.constant {number} : index\n"
        size = rng.choice([4, 12, 30, 60])
        out += self.body(values, "  ", rng.randint(2, size), 0)
        if rng.random() < 0.25:
            # Blocks instead of regions.
            sides = []
            for label, to in (("then", "%p"), ("else", "%q")):
                inner = list(values)
                body = self.body(inner, "  ", rng.randint(1, 6), 2)
                sides.append(f"^{label}:\n{body}  cf.br ^join({self.pick(inner)} : {TYPE})\n")
            out += "  cf.cond_br %p, ^then, ^else\n" + "".join(sides) + f"^join(%j: {TYPE}):\n"
            values.append("%j")
            out += self.body(values, "  ", rng.randint(1, 12), 2)
        returned = [values[-1]] + [self.pick(values) for _ in range(results - 1)]
        out += f"  return {', '.join(returned)} : {types}\n}}\n"
        if "@g" in out:
            inner = ["%a0"]
            body = self.arithmetic(inner, "  ")
            out += f"func.func private @g(%a0: {TYPE}) -> {TYPE} {{\n{body}"
            out += f"  return {inner[-1]} : {TYPE}\n}}\n"
        return out


OP = re.compile(r"(?:(%\w+)(?::(\d+))? = )?([\w.\"]+)\s*(.*)")
APPLY = re.compile(r"affine_map<\(d0\) -> \(d0 \+ (\d+)\)>\((%\w+)\)")


class Run:
    """Executes the text of a program on plaintexts."""

    def __init__(self, text):
        lines = [re.sub(r"\s*//.*", "", it).strip() for it in text.splitlines()]
        self.lines = [it for it in lines if it]
        self.functions, self.at = {}, 0
        while self.at < len(self.lines):
            head = self.lines[self.at]
            args = re.findall(r"(%\w+):", head)
            self.at += 1
            self.functions[re.search(r"@(\w+)", head)[1]] = (args, self.read())
        self.args, self.blocks = self.functions["f"]
        self.n_reductions = 0
        self.notes = []

    def read(self):
        """The blocks of a region, up to its end."""
        blocks = [(None, [], [])]
        while True:
            line = self.lines[self.at]
            self.at += 1
            if line in ("}", "} else {"):
                return blocks
            label = re.match(r"\^(\w+)(?:\((.*)\))?:$", line)
            if label:
                blocks.append((label[1], re.findall(r"(%\w+):", label[2] or ""), []))
                continue
            regions = []
            if line.endswith("{"):
                regions.append(self.read())
                if self.lines[self.at - 1] == "} else {":
                    regions.append(self.read())
            line = line.replace('"noisy.reduce_noise"', "noisy.reduce_noise")
            result, n, name, rest = OP.match(line).groups()
            values = re.findall(r"%\w+(?:#\d+)?", rest)
            blocks[-1][2].append((result, int(n or 1), name, rest, values, regions))

    def run(self, plaintexts):
        """The results, and what was seen on the way."""
        self.notes = []
        env = dict(zip(self.args, plaintexts))
        return self.region(self.blocks, env), self.notes

    def region(self, blocks, env):
        labels = {it[0]: it for it in blocks}
        block = blocks[0]
        while True:
            out = self.block(block, env)
            if out[0] == "end":
                return out[1]
            block = labels[out[1]]
            env.update(zip(block[1], out[2]))

    def block(self, block, env):
        for result, n, name, rest, values, regions in block[2]:
            of = [env[it] for it in values if it in env]
            if name in ("scf.yield", "affine.yield", "return"):
                return "end", of
            if name == "cf.br":
                return "go", re.search(r"\^(\w+)", rest)[1], of
            if name == "cf.cond_br":
                return "go", re.findall(r"\^(\w+)", rest)[0 if of[0] else 1], []
            if name == "noisy.add":
                out = [of[0] + of[1]]
            elif name == "noisy.sub":
                out = [of[0] - of[1]]
            elif name == "noisy.mul":
                out = [of[0] * of[1]]
            elif name == "noisy.reduce_noise":
                self.n_reductions += 1
                out = of
            elif name in ("noisy.encode", "noisy.decode"):
                out = of
            elif name == "arith.constant":
                number, ty = re.match(r"(-?\d+) : (\w+)", rest).groups()
                env[result] = int(number) % MODULUS if ty == "i5" else int(number)
                continue
            elif name == "arith.addi":
                env[result] = of[0] + of[1]
                continue
            elif name == "affine.apply":
                by, of = APPLY.match(rest).groups()
                env[result] = env[of] + int(by)
                continue
            elif name == '"test.note"':
                self.notes.append(of)
                continue
            elif name == "func.call":
                args, blocks = self.functions[re.search(r"@(\w+)", rest)[1]]
                out = self.region(blocks, dict(zip(args, of)))
            elif name == "scf.if":
                out = self.region(regions[0 if of[0] else 1], env)
            elif name in ("scf.for", "affine.for"):
                out = self.loop(name, rest, regions[0], env)
            else:
                raise ValueError(f"the interpreter does not know {name}")
            out = [it % MODULUS for it in out]
            if len(out) != n:
                raise ValueError(f"{name} has {len(out)} results, not {n}")
            if n == 1:
                env[result] = out[0]
            else:
                env.update((f"{result}#{i}", it) for i, it in enumerate(out))
        raise ValueError("a block without an end")

    def loop(self, name, rest, region, env):
        head, carried = re.match(r"(%\w+ = .*) iter_args\((.*)\) ->", rest).groups()
        words = head.replace(" step ", " to ").split(" = ")[1].split(" to ")
        bounds = [env[it] if it.startswith("%") else int(it) for it in words] + [1]
        pairs = [it.split(" = ") for it in carried.split(", ")]
        out = [env[it] for _, it in pairs]
        for index in range(bounds[0], bounds[1], bounds[2]):
            env[head.split(" ")[0]] = index
            env.update((arg, it) for (arg, _), it in zip(pairs, out))
            out = self.region(region, env)
        return out


def fix(check, path, limit, *options):
    """The result of --fix, the seconds it took, and those of the processor."""
    command = [check, "--isolated", "--no-cache", "--fix", "--time-limit", str(limit), *options]
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command + [str(path)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return run, time.monotonic() - start, processor


def try_to_break(args):
    counts = {"programs": 0, "rewritten": 0, "verified": 0}
    wrong = []
    folder = Path(tempfile.mkdtemp())
    before, after, proof = folder / "before.mlir", folder / "after.mlir", folder / "proof.json"
    for number in range(args.first, args.first + args.programs):
        rng = random.Random(f"{args.seed}-{number}")
        text = Writer(rng).program()
        before.write_text(text)
        after.write_text(text)
        options = ["--rewrite"] + (["--replace"] if number % 4 == 0 else [])
        if args.certificates:
            options += ["--certificate", str(proof), "--force"]
        run, *_ = fix(args.check, after, args.time_limit, *options)
        written = after.read_text()
        counts["programs"] += 1
        is_rewritten = ": rewritten:" in run.stdout + run.stderr
        counts["rewritten"] += is_rewritten
        why = None
        if run.returncode not in (0, 1) or "panicked" in run.stderr:
            why = f"--fix failed: {run.stdout}{run.stderr}"
        elif written.count("noisy.encode") > text.count("noisy.encode") or (
            written.count("noisy.decode") != text.count("noisy.decode")
        ):
            why = "encode or decode differ"
        else:
            old, new = Run(text), Run(written)
            for _ in range(args.plaintexts):
                given = [rng.randrange(MODULUS) for _ in old.args[:-3]]
                given += [rng.randrange(2), rng.randrange(2), rng.randrange(9)]
                if old.run(given) != new.run(given):
                    why = f"it computes something else for {given}"
                    break
        if why is None and is_rewritten and args.certificates:
            why = verified(args.check, proof, before, options)
            counts["verified"] += why is None
        if why:
            wrong.append(number)
            print(f"program {number}: {why}\n{text}\nbecame\n{written}", flush=True)
        if counts["programs"] % 500 == 0:
            print(counts, "wrong:", len(wrong), flush=True)
    print(counts, "wrong:", len(wrong))
    return 1 if wrong or not counts["rewritten"] else 0


def verified(check, proof, before, options):
    """Why a proof is refused, if it is."""
    equality = proof.with_suffix(".equality.json")
    replace = ["--replace"] if "--replace" in options else []
    command = [check, "verify-certificate", "--isolated", *replace, "--equality", str(equality)]
    command += ["--fixed", str(before.with_name("after.mlir")), proof, before]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0 and '"equal":true' in run.stdout:
        return None
    return f"not verified: {run.stdout}{run.stderr}"


class Circuit:
    """The text of a program, gate by gate: XOR is a sum, AND a product, NOT the sum with a constant."""

    def __init__(self, n_inputs):
        self.lines, self.n = [], 0
        self.inputs = [self.fresh() for _ in range(n_inputs)]
        self.constants = {}

    def fresh(self):
        self.n += 1
        return f"%{self.n}"

    def constant(self, number):
        if number not in self.constants:
            plain, out = self.fresh(), self.fresh()
            first = f"  {plain} = arith.constant {number} : i5\n"
            self.lines.insert(0, first + f"  {out} = noisy.encode {plain} : i5 -> {TYPE}\n")
            self.constants[number] = out
        return self.constants[number]

    def op(self, operator, x, y):
        out = self.fresh()
        self.lines.append(f"  {out} = noisy.{operator} {x}, {y} : {TYPE}\n")
        return out

    def invert(self, x):
        return self.op("add", x, self.constant(1))

    def text(self, outputs):
        args = ", ".join(f"{it}: {TYPE}" for it in self.inputs)
        types = ", ".join([TYPE] * len(outputs))
        end = f"  return {', '.join(outputs)} : {types}\n}}\n"
        return f"func.func @f({args}) -> ({types}) {{\n{''.join(self.lines)}{end}"


def bristol(text):
    """A circuit of the Bristol collection."""
    lines = [it.split() for it in text.splitlines() if it.strip()]
    n_wires, sizes = int(lines[0][1]), [int(it) for it in lines[1]]
    circuit = Circuit(sum(sizes[:2]))
    wires = dict(enumerate(circuit.inputs))
    for gate in lines[2:]:
        *of, to, kind = gate[2:]
        of = [wires[int(it)] for it in of]
        if kind == "INV":
            wires[int(to)] = circuit.invert(of[0])
        else:
            wires[int(to)] = circuit.op({"XOR": "add", "AND": "mul"}[kind], *of)
    return circuit.text([wires[it] for it in range(n_wires - sizes[2], n_wires)])


def blif(text):
    """A circuit of the EPFL benchmarks."""
    text = text.replace("\\\n", " ")
    lines = [it.split() for it in text.splitlines() if it.strip() and not it.startswith("#")]
    find = lambda name: next(it[1:] for it in lines if it[0] == name)
    circuit = Circuit(len(find(".inputs")))
    wires = dict(zip(find(".inputs"), circuit.inputs))
    inverted = {}

    def literal(name, sign):
        if sign == "1":
            return wires[name]
        if name not in inverted:
            inverted[name] = circuit.invert(wires[name])
        return inverted[name]

    def join(values):
        out = values[0]
        for it in values[1:]:
            out = circuit.op("mul", out, it)
        return out

    heads = [at for at, it in enumerate(lines) if it[0].startswith(".")]
    for at, end in zip(heads, heads[1:]):
        if lines[at][0] != ".names":
            continue
        *of, to = lines[at][1:]
        rows = lines[at + 1 : end]
        if not of:
            wires[to] = circuit.constant(int(rows == [["1"]]))
            continue
        if not rows or any(it[-1] != rows[0][-1] for it in rows):
            raise ValueError(f"{to}: mixed covers are not read")
        if sorted(it[0] for it in rows) == ["01", "10"] and rows[0][1] == "1":
            wires[to] = circuit.op("add", wires[of[0]], wires[of[1]])
            continue
        cubes = [join([literal(n, c) for n, c in zip(of, it[0]) if c != "-"]) for it in rows]
        if len(cubes) > 1:
            cubes = [circuit.invert(join([circuit.invert(it) for it in cubes]))]
        wires[to] = cubes[0] if rows[0][1] == "1" else circuit.invert(cubes[0])
    return circuit.text([wires[it] for it in find(".outputs")])


def generated(name):
    """A program of placement/benches/programs.py."""
    script = Path(__file__).parents[2] / "placement/benches/programs.py"
    with tempfile.NamedTemporaryFile("r", suffix=".mlir") as file:
        subprocess.run([sys.executable, script, name, file.name], check=True)
        return file.read()


def measure(args):
    print("| program | ops | placed | rewritten | ratio | s placed | CPU | s rewritten | CPU |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    n_worse = 0
    for name in args.programs:
        path = Path(name)
        readers = {".txt": bristol, ".blif": blif, ".mlir": str}
        text = readers[path.suffix](path.read_text()) if path.suffix else generated(name)
        n_ops = len(re.findall(r"noisy\.(?:add|sub|mul)\b", text))
        costs, times = [], []
        for options in ([], ["--rewrite"]):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "a.mlir"
                file.write_text(text)
                options = ["--statistics", *options]
                run, *seconds = fix(args.check, file, args.time_limit, *options)
            if run.returncode not in (0, 1):
                sys.exit(f"{name}: {run.stdout}{run.stderr}")
            found = re.findall(r": cost ([\d.]+), proven lower bound", run.stdout + run.stderr)
            costs.append(sum(map(float, found)))
            times += seconds
        n_worse += costs[1] > costs[0]
        ratio = "" if costs[0] == 0 else f"{costs[1] / costs[0]:.2f}"
        row = [path.stem, n_ops, f"{costs[0]:g}", f"{costs[1]:g}", ratio]
        print("| " + " | ".join(map(str, row + [f"{it:.1f}" for it in times])) + " |", flush=True)
    print(f"worse: {n_worse}")
    return 1 if n_worse else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    breaking = commands.add_parser("break")
    breaking.add_argument("--seed", default="1")
    breaking.add_argument("--first", type=int, default=0)
    breaking.add_argument("--programs", type=int, default=10000)
    breaking.add_argument("--plaintexts", type=int, default=8)
    breaking.add_argument("--time-limit", type=float, default=1)
    breaking.add_argument("--certificates", action="store_true")
    breaking.set_defaults(run=try_to_break)
    measuring = commands.add_parser("measure")
    measuring.add_argument("programs", nargs="+", metavar="PROGRAM")
    measuring.add_argument("--time-limit", type=float, default=10)
    measuring.set_defaults(run=measure)
    for it in (breaking, measuring):
        it.add_argument("--check", required=True)
    args = parser.parse_args()
    sys.exit(args.run(args))
