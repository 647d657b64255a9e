#!/usr/bin/env python3
"""Writes the programs of the benchmark set of the placement optimizer: circuits and random families, the same at every run.

  placement/benches/programs.py NAME OUT.mlir        one program
  placement/benches/programs.py --all FOLDER         the whole set
  placement/benches/programs.py --list

Names: multiplier_BITS, adder_BITS, sorter_WIRES_BITS, sboxes_BOXES, rounds_ROUNDS, random_OPS_MULPERCENT_SEED, levels_OPS_SEED. All but levels are
ops of the dialect noisy (fresh 12, budget 26); levels are arith.mulf and arith.addf (fresh 0, budget 3).
"""
import random
import sys
from pathlib import Path

SET = (
    [f"multiplier_{n}" for n in (6, 8, 10, 16)]
    + ["adder_32", "adder_64", "sorter_8_8", "sorter_16_8", "sboxes_20", "sboxes_200", "rounds_8", "rounds_64"]
    + [f"random_{n}_{mul}_{seed}" for n in (100, 300, 1000, 3000) for mul in (5, 10, 30) for seed in (1, 2)]
    + [f"levels_{n}_{seed}" for n in (100, 300) for seed in (1, 2)]
)


class Program:
    """Lines of one function; a value is its number."""

    def __init__(self):
        self.inputs, self.lines, self.n = [], [], 0

    def source(self):
        self.inputs.append(self.n)
        return self.new()

    def new(self):
        self.n += 1
        return self.n - 1

    def op(self, name, *operands):
        it = self.new()
        self.lines.append(f"  %{it} = noisy.{name} {', '.join(f'%{x}' for x in operands)} : !noisy.i32")
        return it

    def xor(self, a, b):
        return self.op("add", a, b)

    def conj(self, a, b):
        return self.op("mul", a, b)

    def text(self, outputs):
        args = ", ".join(f"%x{i}: i5" for i in self.inputs)
        out = [f"func.func @program({args}) -> ({', '.join(['i5'] * len(outputs))}) {{"]
        out += [f"  %{i} = noisy.encode %x{i} : i5 -> !noisy.i32" for i in self.inputs]
        out += self.lines
        out += [f"  %d{i} = noisy.decode %{v} : !noisy.i32 -> i5" for i, v in enumerate(outputs)]
        out.append(f"  return {', '.join(f'%d{i}' for i in range(len(outputs)))} : {', '.join(['i5'] * len(outputs))}\n}}\n")
        return "\n".join(out)


def full_adder(p, x, y, carry):
    """Sum and carry, with one multiplication."""
    left, right = p.xor(x, carry), p.xor(y, carry)
    return p.xor(left, y), p.xor(p.conj(left, right), carry)


def add(p, a, b, carry=None):
    out = []
    for x, y in zip(a, b):
        if carry is None:
            out.append(p.xor(x, y))
            carry = p.conj(x, y)
        else:
            low, carry = full_adder(p, x, y, carry)
            out.append(low)
    return out, carry


def sources(p, n):
    return [p.source() for _ in range(n)]


def multiplier(bits):
    """Row by row; the lowest bit of a sum is left as it is, and a row has a carry behind its last bit."""
    p = Program()
    a, b = sources(p, bits), sources(p, bits)
    rows = [[p.conj(x, y) for x in a] for y in b]
    total, done = rows[0], []
    for row in rows[1:]:
        done.append(total[0])
        out, carry = [], None
        for i, x in enumerate(row):
            above = total[i + 1] if i + 1 < len(total) else None
            if above is not None and carry is not None:
                half = p.xor(above, x)
                low = p.xor(half, carry)
                both = p.conj(p.xor(above, carry), p.xor(x, carry))
                carry = p.xor(both, carry)
            else:
                other = above if above is not None else carry
                low, carry = p.xor(other, x), p.conj(other, x)
            out.append(low)
        total = out + [carry]
    return p.text(done + total)


def adder(bits):
    p = Program()
    out, carry = add(p, sources(p, bits), sources(p, bits))
    return p.text(out + [carry])


def sorter(wires, bits):
    """Batcher's merging network over numbers; each comparator subtracts and exchanges bit by bit."""
    p = Program()
    words = [sources(p, bits) for _ in range(wires)]
    step = 1
    while step < wires:
        gap = step
        while gap:
            for low in range(gap % step, wires - gap, 2 * gap):
                for i in range(min(gap, wires - low - gap)):
                    x, y = low + i, low + i + gap
                    if x // (2 * step) == y // (2 * step):
                        _, is_less = add(p, words[x], words[y])
                        change = [p.conj(is_less, p.xor(u, v)) for u, v in zip(words[x], words[y])]
                        words[x] = [p.xor(u, c) for u, c in zip(words[x], change)]
                        words[y] = [p.xor(v, c) for v, c in zip(words[y], change)]
            gap //= 2
        step *= 2
    return p.text([bit for word in words for bit in word])


def sboxes(boxes):
    """Layers of eight equal boxes of 8 bits, made at random once, whose outputs are mixed linearly."""
    rng = random.Random(8)
    box = []
    for at in range(8, 8 + 110):
        low = max(0, at - 30)
        box.append((rng.random() < 0.3, rng.randrange(low, at), rng.randrange(low, at)))
    mix = [(rng.randrange(64), rng.randrange(64)) for _ in range(64)]
    p = Program()
    state = sources(p, 64)
    for at in range(0, boxes, 8):
        out = []
        for first in range(0, 64, 8):
            values = state[first : first + 8]
            if at + first // 8 < boxes:
                for is_mul, a, b in box:
                    values.append(p.conj(values[a], values[b]) if is_mul else p.xor(values[a], values[b]))
            out += values[-8:]
        state = [p.xor(p.xor(bit, out[a]), out[b]) for bit, (a, b) in zip(out, mix)]
    return p.text(state)


def rounds(n):
    """Rounds of a hash: eight words of 32 bits, additions modulo 2^32, choice and majority."""
    p = Program()
    words = [sources(p, 32) for _ in range(8)]
    key = sources(p, 32)

    def turn(word, k):
        return word[k:] + word[:k]

    def xor(*of):
        out = of[0]
        for it in of[1:]:
            out = [p.xor(x, y) for x, y in zip(out, it)]
        return out

    for _ in range(n):
        a, b, c, d, e, f, g, h = words
        choice = [p.xor(p.conj(x, p.xor(y, z)), z) for x, y, z in zip(e, f, g)]
        most = [p.xor(p.conj(p.xor(x, y), p.xor(x, z)), x) for x, y, z in zip(a, b, c)]
        first, _ = add(p, h, xor(turn(e, 6), turn(e, 11), turn(e, 25)))
        first, _ = add(p, first, choice)
        first, _ = add(p, first, key)
        second, _ = add(p, xor(turn(a, 2), turn(a, 13), turn(a, 22)), most)
        key, _ = add(p, key, xor(turn(key, 7), turn(key, 18)))
        words = [add(p, first, second)[0], a, b, c, add(p, d, first)[0], e, f, g]
    return p.text([bit for word in words for bit in word])


def random_program(ops, mul, seed):
    rng = random.Random(seed)
    p = Program()
    values = sources(p, 4)
    for _ in range(ops):
        a, b = (values[-1 - rng.randrange(min(len(values), 50))] for _ in range(2))
        values.append(p.conj(a, b) if rng.randrange(100) < mul else p.xor(a, b))
    return p.text(values[-1:])


def levels(ops, seed):
    rng = random.Random(seed)
    names = ["%a", "%b", "%c", "%d"]
    lines = []
    for at in range(ops):
        a, b = (names[-1 - rng.randrange(min(len(names), 12))] for _ in range(2))
        lines.append(f"  %{at} = arith.{'mulf' if rng.randrange(5) < 2 else 'addf'} {a}, {b} : f32")
        names.append(f"%{at}")
    head = "func.func @program(%a: f32, %b: f32, %c: f32, %d: f32) -> f32 {"
    return "\n".join([head, *lines, f"  return {names[-1]} : f32\n}}\n"])


KINDS = {
    "multiplier": multiplier,
    "adder": adder,
    "sorter": sorter,
    "sboxes": sboxes,
    "rounds": rounds,
    "random": random_program,
    "levels": levels,
}


def program(name):
    kind, *numbers = name.split("_")
    if kind not in KINDS:
        sys.exit(f"no program is called {name}")
    return KINDS[kind](*map(int, numbers))


def main():
    args = sys.argv[1:]
    if args == ["--list"]:
        print("\n".join(SET))
    elif len(args) == 2 and args[0] == "--all":
        folder = Path(args[1])
        folder.mkdir(parents=True, exist_ok=True)
        for name in SET:
            (folder / f"{name}.mlir").write_text(program(name))
    elif len(args) == 2:
        Path(args[1]).write_text(program(args[0]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
