"""Inputs that are meant to hurt: what is deep, wide, long, broken, or asks for work that grows faster than the text.

    tests/hostile/inputs.py NAME FILE      writes one of them

`INPUTS` maps a name to a function that gives the bytes. The same ones each time.
"""

import pathlib
import random
import re
import sys

INPUTS = {}

HEAD = "func.func @f(%x: i5) -> i5 {\n  %v0 = noisy.encode %x : i5 -> !noisy.i32\n"


def register(name, give):
    """Registers what a function gives, text or bytes, under a name."""

    def made():
        text = give()
        return text if isinstance(text, bytes) else text.encode()

    INPUTS[name] = made


def noisy(lines, last):
    """A function of the ops in these lines, in which the value `last` is decoded."""
    return HEAD + "".join(f"  {line}\n" for line in lines) + f"  %d = noisy.decode {last} : !noisy.i32 -> i5\n  return %d : i5\n}}\n"


def nested(before, within, after, n):
    return before * n + within + after * n


# Bytes

register("empty", lambda: b"")
register("one-nul", lambda: b"\0")
register("nuls", lambda: b"\0" * 1_000_000)
register("random-bytes", lambda: random.Random(1).randbytes(1_000_000))
register("random-printable", lambda: bytes(random.Random(2).choices(range(32, 127), k=1_000_000)))
register("random-punctuation", lambda: "".join(random.Random(3).choices("(){}[]<>,:=->%^@#!\"/ \n", k=1_000_000)))
register("broken-utf8", lambda: b'"a"() {b = "\xff\xfe\xc0\x80\xed\xa0\x80"} : () -> ()\n// \xf5\xff\n' * 20_000)
register("utf16", lambda: "func.func @f() { return }\n".encode("utf-16") * 1000)
register("byte-order-mark", lambda: "\ufefffunc.func @f() { return }\n")
register("controls", lambda: ("".join(chr(it) for it in range(1, 32)) + "\x7f\x9b") * 20_000)
register("escapes", lambda: '"\x1b]0;title\x07\x1b[2J"() : () -> ()\n' * 20_000)
register("carriage-returns", lambda: "\r" * 1_000_000)
register("line-feeds", lambda: "\n" * 3_000_000)
register("all-line-ends", lambda: "\r\n\n\r\u2028\u2029\u0085" * 200_000)
register("spaces", lambda: " " * 5_000_000 + "x")
register("tabs", lambda: "\t" * 2_000_000 + "func.func @f() { return }")
register("one-long-line", lambda: "func.func @f(%a: i32) { " + "%b = arith.addi %a, %a : i32 " * 50_000 + "return }")
register("emoji", lambda: "\U0001f600" * 250_000)
register("combining", lambda: "e" + "\u0301" * 500_000)
register("right-to-left", lambda: ('"\u202e\u2066op"() : () -> () // \u202e\n') * 30_000)
register("comment-of-5-mb", lambda: "// " + "x" * 5_000_000)
register("comments", lambda: "//\n" * 500_000)
register("split-markers", lambda: "// -----\n" * 100_000)
register("split-programs", lambda: ("func.func @f() { return }\n// -----\n") * 20_000)
register("allow-comments", lambda: "// noisy: allow(noise-overflow)\n" * 100_000)
register("allow-comments-broken", lambda: "// noisy: allow(((((\n// noisy: allow(x, \n" * 50_000)
register("expected-comments", lambda: "// expected-error@+1 {{x}}\n" * 50_000)
register("expected-regexes", lambda: "// expected-error-re@+1 {{{{(a*)*(a*)*(a*)*b}}}}\n" * 5_000)
register("expected-far-away", lambda: "// expected-error@+99999999999999999999 {{x}}\n// expected-error@-5 {{y}}\n" * 5_000)

# Tokens

register("unfinished-string", lambda: '"' + "a" * 2_000_000)
register("quotes", lambda: '"' * 1_000_000)
register("backslashes", lambda: '"' + "\\" * 1_000_000)
register("string-escapes", lambda: '"a"() {b = "' + "\\0a\\22\\\\" * 200_000 + '"} : () -> ()')
for sign, name in [("#", "hashes"), ("!", "bangs"), ("%", "percents"), ("^", "carets"), ("@", "ats"), ("-", "minuses"), (":", "colons"), (",", "commas"), ("=", "equals"), ("?", "question-marks"), ("0", "zeros"), (".", "dots"), ("/", "slashes"), ("`", "backticks"), ("_", "underscores"), ("a ", "words"), ("->", "arrows")]:
    register(name, lambda sign=sign: sign * 1_000_000)
for sign, name in [("(", "parentheses"), ("[", "brackets"), ("{", "braces"), ("<", "angles"), (")", "closing-parentheses"), ("]", "closing-brackets"), ("}", "closing-braces"), (">", "closing-angles")]:
    register(name, lambda sign=sign: sign * 1_000_000)
register("all-brackets-open", lambda: "({[<" * 200_000)
register("all-brackets-crossed", lambda: "({[<)}]>" * 100_000)
register("long-name", lambda: "%" + "a" * 2_000_000 + " = arith.constant 1 : i32")
register("long-op-name", lambda: '"' + "a." * 1_000_000 + '"() : () -> ()')
register("long-number", lambda: "%a = arith.constant " + "9" * 500_000 + " : i64")
register("long-hex", lambda: "%a = arith.constant 0x" + "F" * 500_000 + " : i64")
register("long-float", lambda: "%a = arith.constant 1." + "3" * 500_000 + "e999999999999 : f64")
register("many-long-numbers", lambda: "".join(f'"a"() {{b = {"7" * 9_000} : i64}} : () -> ()\n' for _ in range(200)))
register("result-numbers", lambda: '%a:99999999999999999999 = "b"() : () -> i32\n%c:4294967295 = "b"() : () -> i32\n"d"(%a#18446744073709551616, %c#4294967296) : (i32, i32) -> ()')

# Nesting

for n in (1_000, 50_000):
    register(f"modules-{n}", lambda n=n: nested("module {\n", "", "}\n", n))
    register(f"open-modules-{n}", lambda n=n: "module {\n" * n)
    register(f"ifs-{n}", lambda n=n: "func.func @f(%c: i1) {\n" + nested("scf.if %c {\n", "", "}\n", n) + "return }")
    register(f"generic-regions-{n}", lambda n=n: nested('"a"() ({\n', "", "}) : () -> ()\n", n))
    register(f"tuples-{n}", lambda n=n: '"a"() : () -> ' + nested("tuple<", "i1", ">", n))
    register(f"function-types-{n}", lambda n=n: '"a"() {t = ' + nested("() -> (", "i1", ")", n) + "} : () -> ()")
    register(f"memrefs-{n}", lambda n=n: '"a"() : () -> ' + nested("memref<1x", "i1", ">", n))
    register(f"lists-{n}", lambda n=n: '"a"() {b = ' + nested("[", "", "]", n) + "} : () -> ()")
    register(f"dictionaries-{n}", lambda n=n: '"a"() {b = ' + nested("{a = ", "1", "}", n) + "} : () -> ()")
    register(f"dense-lists-{n}", lambda n=n: '"a"() {b = dense<' + nested("[", "1", "]", n) + "> : tensor<1xi1>} : () -> ()")
    register(f"affine-parentheses-{n}", lambda n=n: '"a"() {b = affine_map<(d0) -> (' + nested("(", "d0", " + 1)", n) + ")>} : () -> ()")
    register(f"affine-divisions-{n}", lambda n=n: '"a"() {b = affine_map<(d0) -> (' + nested("((", "d0", ") mod 7) floordiv 3", n) + ")>} : () -> ()")
    register(f"locations-{n}", lambda n=n: '"a"() : () -> () loc(' + nested("fused[", '"a":1:1', "]", n) + ")")
    register(f"call-sites-{n}", lambda n=n: '"a"() : () -> () loc(' + nested('callsite("a":1:1 at ', '"a":1:1', ")", n) + ")")
    register(f"opaque-types-{n}", lambda n=n: '"a"() : () -> ' + nested("!foo.bar<", "x", ">", n))
    register(f"pretty-attributes-{n}", lambda n=n: '"a"() {b = ' + nested("#foo.bar<(", "x", ")>", n) + "} : () -> ()")
    register(f"symbols-{n}", lambda n=n: '"a"() {b = @a' + "::@a" * n + "} : () -> ()")
    register(f"loops-{n}", lambda n=n: "func.func @f(%x: i5, %n: index) -> i5 {\n%c = arith.constant 1 : index\n%v = noisy.encode %x : i5 -> !noisy.i32\n" + "".join(f"%r{it} = scf.for %i{it} = %c to %n step %c iter_args(%a{it} = {'%v' if it == 0 else f'%a{it - 1}'}) -> !noisy.i32 {{\n" for it in range(n)) + "".join(f"scf.yield {f'%a{n - 1}' if it == n else f'%r{it}'} : !noisy.i32\n}}\n" for it in range(n, 0, -1)) + "%d = noisy.decode %r0 : !noisy.i32 -> i5\nreturn %d : i5\n}")

# Aliases

register("aliases-twice-type", lambda: "!a0 = i1\n" + "".join(f"!a{it + 1} = tuple<!a{it}, !a{it}>\n" for it in range(60)) + '"a"() : () -> !a60\n%c = arith.addi %x, %y : !a60')
register("aliases-twice-attribute", lambda: "#a0 = 1\n" + "".join(f"#a{it + 1} = [#a{it}, #a{it}]\n" for it in range(60)) + '"a"() {b = #a60} : () -> ()')
register("aliases-twice-location", lambda: '#l0 = loc("a":1:1)\n' + "".join(f"#l{it + 1} = loc(fused[#l{it}, #l{it}])\n" for it in range(60)) + '"a"() : () -> () loc(#l60)')
register("aliases-chain", lambda: "!a0 = i1\n" + "".join(f"!a{it + 1} = tuple<!a{it}>\n" for it in range(50_000)) + '"a"() : () -> !a50000')
register("aliases-chain-backward", lambda: '"a"() : () -> !a0\n' + "".join(f"!a{it} = tuple<!a{it + 1}>\n" for it in range(50_000)) + "!a50000 = i1\n")
register("aliases-circle", lambda: "!a = tuple<!b>\n!b = tuple<!a>\n#c = [#c]\n" + '"a"() {b = #c} : () -> !a\n' * 10_000)
register("aliases-of-one-name", lambda: "!a = i1\n#a = 1\n" * 50_000)
register("alias-of-1-mb-used", lambda: '#a = "' + "x" * 1_000_000 + '"\n' + '"a"() {b = #a} : () -> ()\n' * 2_000)
register("alias-of-many-elements-used", lambda: "#a = dense<[" + ", ".join(map(str, range(20_000))) + "]> : tensor<20000xi32>\nfunc.func @f() {\n" + "".join(f'%c{it} = arith.constant #a\n%d{it} = arith.addi %c{it}, %c{it} : tensor<20000xi32>\n"t.use"(%d{it}) : (tensor<20000xi32>) -> ()\n' for it in range(1_000)) + "return\n}")
register("aliases-of-elements", lambda: "".join(f"#a{it} = dense<[" + ", ".join(map(str, range(it, it + 500))) + "]> : tensor<500xi64>\n" for it in range(1_000)) + "func.func @f() {\n" + "".join(f'%c{it} = arith.constant #a{it}\n' for it in range(1_000)) + "".join(f'%d{it} = arith.muli %c{it}, %c{(it * 7) % 1_000} : tensor<500xi64>\n"t.use"(%d{it}) : (tensor<500xi64>) -> ()\n' for it in range(1_000)) + "return\n}")
register("type-alias-in-errors", lambda: "!a0 = i1\n" + "".join(f"!a{it + 1} = tuple<!a{it}, !a{it}, !a{it}>\n" for it in range(40)) + "func.func @f(%x: !a40, %y: i1) {\n" + "%c = arith.addi %x, %y : !a40\n" * 2_000 + "return\n}")

# Types and attributes

register("wide-integer", lambda: "func.func @f(%a: i16777215) {\n" + "".join(f"%b{it} = arith.muli %a, %a : i16777215\n" for it in range(2_000)) + "return\n}")
register("too-wide-integers", lambda: '"a"() : () -> i99999999999\n"a"() : () -> !noisy.i4294967296\n' * 10_000)
register("wide-constants-squared", lambda: "func.func @f() -> i1000000 {\n%a0 = arith.constant 3 : i1000000\n" + "".join(f"%a{it + 1} = arith.muli %a{it}, %a{it} : i1000000\n" for it in range(200)) + "return %a200 : i1000000\n}")
register("wide-constants-shifted", lambda: "func.func @f(%x: i16000000) -> i16000000 {\n%c = arith.constant 15999999 : i16000000\n%o = arith.constant 1 : i16000000\n%a0 = arith.shli %o, %c : i16000000\n" + "".join(f"%a{it + 1} = arith.subi %a{it}, %o : i16000000\n" for it in range(300)) + "return %a300 : i16000000\n}")
register("wide-divisions", lambda: "func.func @f() -> i400000 {\n%c = arith.constant 200000 : i400000\n%o = arith.constant 12345678901234567890123456789 : i400000\n%s = arith.shli %o, %c : i400000\n%a0 = arith.subi %s, %o : i400000\n" + "".join(f"%q{it} = arith.divui %a{it}, %o : i400000\n%a{it + 1} = arith.xori %q{it}, %s : i400000\n" for it in range(200)) + "return %a200 : i400000\n}")
register("wide-memref", lambda: '"a"() : () -> memref<' + "1x" * 200_000 + "i1>\n" + '"a"() : () -> memref<' + "9223372036854775807x" * 100 + "i1>")
register("many-dimensions", lambda: '"a"() {b = affine_map<(' + ", ".join(f"d{it}" for it in range(10_000)) + ") -> (" + ", ".join(f"d{it}" for it in range(10_000)) + ")>} : () -> ()")
register("long-affine-sum", lambda: '"a"() {b = affine_map<(d0, d1) -> (' + " + ".join(f"d{it % 2} * {it}" for it in range(50_000)) + ")>} : () -> ()")
register("affine-products", lambda: '"a"() {b = affine_map<(d0) -> (' + "d0" + " * 9223372036854775807" * 5_000 + ")>} : () -> ()")
register("affine-set-of-10000", lambda: '"a"() {b = affine_set<(d0) : (' + ", ".join(f"d0 - {it} >= 0" for it in range(10_000)) + ")>} : () -> ()")
register("strided-of-100000", lambda: '"a"() : () -> memref<1xi1, strided<[' + ", ".join("1" for _ in range(100_000)) + "], offset: 0>>")
register("dense-of-1000000", lambda: '"a"() {b = dense<[' + ", ".join("1" for _ in range(1_000_000)) + "]> : tensor<1000000xi32>} : () -> ()")
register("dense-of-rows", lambda: '"a"() {b = dense<[' + ", ".join("[" + ", ".join("1" for _ in range(it % 7)) + "]" for it in range(100_000)) + "]> : tensor<100000x3xi32>} : () -> ()")
register("dense-as-hex", lambda: '%a = arith.constant dense<"0x' + "AB" * 2_000_000 + '"> : tensor<500000xi32>')
register("dense-said-to-be-large", lambda: '%a = arith.constant dense<1> : tensor<1000000000x1000000000xi32>\n%b = arith.addi %a, %a : tensor<1000000000x1000000000xi32>\n' + '%c = arith.constant sparse<[[999999999]], [1]> : tensor<1000000000xi32>\n%d = arith.constant dense<0> : tensor<1000000000xi1>\n%e = arith.xori %d, %d : tensor<1000000000xi1>')
register("resources", lambda: '"a"() {b = dense_resource<r> : tensor<1000000xi32>} : () -> ()\n{-#\n  dialect_resources: {\n    builtin: {\n      r: "0x04000000' + "AB" * 3_000_000 + '"\n    }\n  }\n#-}')
register("open-metadata", lambda: "{-#\n" * 100_000)
register("list-of-500000", lambda: '"a"() {b = [' + ", ".join("1" for _ in range(500_000)) + "]} : () -> ()")
register("dictionary-of-100000", lambda: '"a"() {' + ", ".join(f"a{it} = {it}" for it in range(100_000)) + "} : () -> ()")
register("dictionary-of-one-name", lambda: '"a"() {' + ", ".join("a = 1" for _ in range(100_000)) + "} : () -> ()")
register("strings-of-64-kb", lambda: "".join(f'"a"() {{b = "{"xyz" * 21_000}"}} : () -> ()\n' for _ in range(100)))

# Values

register("value-used-100000-times", lambda: noisy([f"%v{it + 1} = noisy.add %v0, %v0 : !noisy.i32" for it in range(100_000)], "%v1"))
register("op-of-100000-results", lambda: '%a:100000 = "b"() : () -> (' + ", ".join("i1" for _ in range(100_000)) + ")\n" + '"c"(%a#99999) : (i1) -> ()\n' * 1_000)
register("op-of-100000-operands", lambda: "func.func @f(%a: i1) {\n\"b\"(" + ", ".join("%a" for _ in range(100_000)) + ") : (" + ", ".join("i1" for _ in range(100_000)) + ") -> ()\nreturn\n}")
register("op-of-20000-regions", lambda: '"a"() (' + ", ".join("{\n}" for _ in range(20_000)) + ") : () -> ()")
register("undefined-values", lambda: "".join(f'"a"(%u{it}) : (i1) -> ()\n' for it in range(100_000)))
register("undefined-value", lambda: '"a"(%u) : (i1) -> ()\n' * 100_000)
register("values-of-one-name", lambda: '%a = "b"() : () -> i1\n' * 100_000)
register("values-backward", lambda: "".join(f'%a{it} = "b"(%a{it + 1}) : (i1) -> i1\n' for it in range(100_000)))
register("values-of-wrong-types", lambda: "func.func @f(%a: i1) {\n" + "%b = arith.addi %a, %a : i32\n" * 50_000 + "return\n}")
register("result-indices-outside", lambda: '%a:2 = "b"() : () -> (i1, i1)\n' + '"c"(%a#7) : (i1) -> ()\n' * 50_000)
register("values-like-each-other", lambda: "func.func @f(" + ", ".join(f"%{'a' * 40}{it}: i1" for it in range(20_000)) + ") {\n" + "".join(f'"c"(%{"a" * 40}x{it}) : (i1) -> ()\n' for it in range(5_000)) + "return\n}")

# Blocks


def blocks(n, ends, entry="^b0", types="", args=""):
    """A function of n blocks that take a value each; `ends` gives how each goes on."""
    body = "".join(f"^b{it}(%a{it}: !noisy.i32):\n  {ends(it)}\n" for it in range(n))
    return f"func.func @f(%x: i5, %c: i1) {{\n  %v = noisy.encode %x : i5 -> !noisy.i32\n  cf.br {entry}(%v : !noisy.i32)\n{body}}}\n"


def added(it, to):
    return f"%s{it} = noisy.add %a{it}, %a{it} : !noisy.i32\n  cf.br ^b{to}(%s{it} : !noisy.i32)"


def either(it, first, second):
    return f"%s{it} = noisy.add %a{it}, %a{it} : !noisy.i32\n  cf.cond_br %c, ^b{first}(%s{it} : !noisy.i32), ^b{second}(%a{it} : !noisy.i32)"


register("blocks-chain", lambda: blocks(40_000, lambda it: added(it, it + 1) if it < 39_999 else "return"))
register("blocks-chain-backward", lambda: blocks(40_000, lambda it: added(it, it - 1) if it else "return", "^b39999"))
register("blocks-circle", lambda: blocks(40_000, lambda it: added(it, (it + 1) % 40_000)))
register("blocks-to-the-first", lambda: blocks(20_000, lambda it: either(it, 0, min(it + 1, 19_999))))
register("blocks-from-the-first", lambda: blocks(20_000, lambda it: either(it, min(it + 1, 19_999), 19_999) if it < 19_999 else "return"))
register("blocks-ladder", lambda: blocks(20_000, lambda it: either(it, it + 1, it + 2) if it < 19_998 else "return"))
register("blocks-ladder-both-ways", lambda: blocks(20_000, lambda it: either(it, (it + 1) % 20_000, (it - 1) % 20_000)))
register("blocks-at-random", lambda draw=random.Random(5): blocks(20_000, lambda it: either(it, draw.randrange(20_000), draw.randrange(20_000))))
register("blocks-nested-circles", lambda: blocks(4_000, lambda it: either(it, it + 1, 3_999 - it) if it < 3_999 else "return"))
register("blocks-nobody-goes-to", lambda: blocks(20_000, lambda it: added(it, it) if it % 2 else "return"))
register("blocks-undefined", lambda: blocks(20_000, lambda it: f"cf.br ^nowhere{it}"))
register("blocks-of-one-name", lambda: "func.func @f() {\n" + "^a:\n  cf.br ^a\n" * 50_000 + "}\n")
register("blocks-of-many-arguments", lambda: "func.func @f(%x: i32) {\n  cf.br ^b0(" + ", ".join(["%x"] * 300) + " : " + ", ".join(["i32"] * 300) + ")\n" + "".join(f"^b{b}(" + ", ".join(f"%a{b}_{it}: i32" for it in range(300)) + f"):\n  cf.br ^b{(b + 1) % 300}(" + ", ".join(f"%a{b}_{(it + 1) % 300}" for it in range(300)) + " : " + ", ".join(["i32"] * 300) + ")\n" for b in range(300)) + "}\n")
register("switch-of-100000", lambda: "func.func @f(%x: i32) {\n  cf.switch %x : i32, [\n    default: ^b" + "".join(f",\n    {it}: ^b" for it in range(100_000)) + "\n  ]\n^b:\n  return\n}\n")
register("index-switch-of-50000", lambda: "func.func @f(%x: index) -> i32 {\n%r = scf.index_switch %x -> i32\n" + "".join(f"case {it} {{\n%c = arith.constant {it} : i32\nscf.yield %c : i32\n}}\n" for it in range(50_000)) + "default {\n%c = arith.constant 7 : i32\nscf.yield %c : i32\n}\nreturn %r : i32\n}\n")

register("regions-of-too-many-kinds", lambda: "".join(nested(before, "", after, 5_000) for before, after in (("module {\n", "}\n"), ("scf.if %c {\n", "} else {\n}\n"), ('"a.b"() ({\n', "}) : () -> ()\n"), ("affine.for %i = 0 to 9 {\n", "}\n"), ("scf.execute_region {\n^a:\n", "scf.yield\n}\n"))))

# Functions and calls


def functions(n, calls, noise=True):
    """n functions, of which each adds what `calls` says that it calls; all call later ones or themselves."""
    ty = "!noisy.i32" if noise else "i32"
    add = "noisy.add" if noise else "arith.addi"
    out = []
    for it in range(n):
        lines, last = [], "%x"
        for at, callee in enumerate(calls(it)):
            lines += [f"  %c{at} = call @f{callee}({last}) : ({ty}) -> {ty}", f"  %s{at} = {add} %c{at}, %c{at} : {ty}"]
            last = f"%s{at}"
        out.append(f"func.func @f{it}(%x: {ty}) -> {ty} {{\n" + "\n".join(lines) + f"\n  return {last} : {ty}\n}}\n")
    if noise:
        out.append("func.func @main(%p: i5) -> i5 {\n  %x = noisy.encode %p : i5 -> !noisy.i32\n  %r = call @f0(%x) : (!noisy.i32) -> !noisy.i32\n  %d = noisy.decode %r : !noisy.i32 -> i5\n  return %d : i5\n}\n")
    return "".join(out)


register("functions-of-one-name", lambda: "func.func @f() { return }\n" * 50_000)
register("functions-empty", lambda: "".join(f"func.func @f{it}() {{ return }}\n" for it in range(100_000)))
for noise in (True, False):
    kind = "noisy" if noise else "integers"
    register(f"calls-chain-{kind}", lambda noise=noise: functions(30_000, lambda it: [it + 1] if it < 29_999 else [], noise))
    register(f"calls-double-{kind}", lambda noise=noise: functions(60, lambda it: [it + 1] * 2 if it < 59 else [], noise))
    register(f"calls-double-many-{kind}", lambda noise=noise: functions(300, lambda it: [it + 1] * 2 if it < 299 else [], noise))
    register(f"calls-ladder-{kind}", lambda noise=noise: functions(1_000, lambda it: [min(it + 1, 999), min(it + 2, 999)] if it < 999 else [], noise))
    register(f"calls-wide-{kind}", lambda noise=noise: functions(150, lambda it: range(it + 1, 150), noise))
    register(f"calls-circle-{kind}", lambda noise=noise: functions(5_000, lambda it: [(it + 1) % 5_000], noise))
    register(f"calls-all-of-all-{kind}", lambda noise=noise: functions(100, lambda it: range(100), noise))
    register(f"calls-itself-{kind}", lambda noise=noise: functions(1, lambda it: [0] * 5_000, noise))
    register(f"calls-itself-twice-{kind}", lambda noise=noise: functions(2_000, lambda it: [it, it, min(it + 1, 1_999)], noise))
register("calls-in-layers", lambda: functions(3_000, lambda it: range(it // 3 * 3 + 3, it // 3 * 3 + 6) if it < 2_997 else []))
register("bounds-of-8000-arguments", lambda: "func.func private @g(" + ", ".join(f"%a{it}: i32 {{noisy.bound = 40 : i64}}" for it in range(8_000)) + ")\n")
register("signatures-of-300-arguments", lambda: "".join(f"func.func private @g{at}(" + ", ".join(f"%a{it}: memref<{it}x?xf32, strided<[?, 1], offset: ?>> {{noisy.bound = {it} : i64, a.b = [1, {{c = 2}}]}}" for it in range(300)) + ") -> (" + ", ".join("f32 {a.b = 1}" for _ in range(300)) + ")\n" for at in range(100)))
register("calls-undefined", lambda: "func.func @f(%x: i32) {\n" + "".join(f"%c{it} = call @g{it}(%x) : (i32) -> i32\n" for it in range(50_000)) + "return\n}")
register("calls-of-many-arguments", lambda: "func.func private @g(" + ", ".join("i32" for _ in range(1_000)) + ")\nfunc.func @f(%x: i32) {\n" + ("call @g(" + ", ".join("%x" for _ in range(1_000)) + ") : (" + ", ".join("i32" for _ in range(1_000)) + ") -> ()\n") * 200 + "return\n}")
register("modules-of-symbols", lambda: "".join(f"module @m{it} {{ func.func @f() {{ return }} }}\n" for it in range(20_000)) + '"a"() {b = [' + ", ".join(f"@m{it}::@f" for it in range(20_000)) + "]} : () -> ()")

# Noise

register("noise-beside-nests-of-few-rounds", lambda: noisy(["".join(f"affine.for %i{it} = 0 to 16 {{ " for it in range(10)) + "}" * 10] + [f"%v{it + 1} = noisy.mul %v{it}, %v{it} : !noisy.i32" for it in range(3)], "%v3"))
register("noise-beside-300-nests", lambda: noisy(["".join(f"affine.for %i{at}_{it} = 0 to 16 {{ " for it in range(6)) + "}" * 6 for at in range(300)] + [f"%v{it + 1} = noisy.mul %v{it}, %v{it} : !noisy.i32" for it in range(3)], "%v3"))
register("noise-of-a-chain", lambda: noisy([f"%v{it + 1} = noisy.add %v{it}, %v{it} : !noisy.i32" for it in range(100_000)], "%v100000"))
register("noise-of-a-chain-of-products", lambda: noisy([f"%v{it + 1} = noisy.mul %v{it}, %v{it} : !noisy.i32" for it in range(50_000)], "%v50000"))
register("noise-of-a-ladder", lambda: noisy([f"%v{it + 1} = noisy.add %v{it}, %v{max(it - 1, 0)} : !noisy.i32" for it in range(50_000)], "%v50000"))
register("noise-of-a-ladder-of-products", lambda: noisy([f"%v{it + 1} = noisy.mul %v{it}, %v{max(it - 1, 0)} : !noisy.i32" for it in range(20_000)], "%v20000"))
register("noise-of-a-graph", lambda draw=random.Random(7): noisy([f"%v{it + 1} = noisy.{draw.choice(['add', 'mul'])} %v{draw.randint(0, it)}, %v{draw.randint(0, it)} : !noisy.i32" for it in range(30_000)], "%v30000"))
register("noise-of-a-near-graph", lambda draw=random.Random(8): noisy([f"%v{it + 1} = noisy.{draw.choice(['add', 'add', 'mul'])} %v{draw.randint(max(it - 9, 0), it)}, %v{draw.randint(max(it - 9, 0), it)} : !noisy.i32" for it in range(30_000)], "%v30000"))
register("noise-of-a-tree", lambda: noisy([f"%v{it + 1} = noisy.encode %x : i5 -> !noisy.i32" for it in range(32_768)] + [f"%w{it} = noisy.mul {f'%w{2 * it + 1}' if 2 * it + 1 < 32_767 else f'%v{2 * it + 2 - 32_767}'}, {f'%w{2 * it + 2}' if 2 * it + 2 < 32_767 else f'%v{2 * it + 3 - 32_767}'} : !noisy.i32" for it in range(32_766, -1, -1)], "%w0"))
register("reduced-again-and-again", lambda: noisy([f"%v{it + 1} = noisy.reduce_noise %v{it} : !noisy.i32" for it in range(100_000)], "%v100000"))
register("overflows", lambda: noisy([line for it in range(30_000) for line in (f"%v{3 * it + 1} = noisy.encode %x : i5 -> !noisy.i32", f"%v{3 * it + 2} = noisy.mul %v{3 * it + 1}, %v{3 * it + 1} : !noisy.i32", f"%v{3 * it + 3} = noisy.mul %v{3 * it + 2}, %v{3 * it + 2} : !noisy.i32")], "%v3"))
register("noise-of-long-names", lambda: (lambda a: f"func.func @f(%x: i5, %n: index, %m{a}: memref<9xi5>) -> i5 {{\n  %v{a} = noisy.encode %x : i5 -> !noisy.i32\n  %w{a} = noisy.mul %v{a}, %v{a} : !noisy.i32\n  %u{a} = noisy.mul %w{a}, %w{a} : !noisy.i32\n  affine.for %i{a} = 1 to 9 {{\n    %l = affine.load %m{a}[%i{a} - 1] : memref<9xi5>\n    affine.store %l, %m{a}[%i{a}] : memref<9xi5>\n  }}\n  %d = noisy.decode %u{a} : !noisy.i32 -> i5\n  return %d : i5\n}}\n")("a" * 100_000))
register("fans", lambda: noisy([f"%v{it + 1} = noisy.mul %v0, %v0 : !noisy.i32" for it in range(300)] + [f"%w{at}_{it} = noisy.mul %v{at + 1}, %v{it + 1} : !noisy.i32" for at in range(100) for it in range(100)], "%w9_9"))

# Loops


def counted(n, from_="%c0", to="%n", step="%c1", body=lambda it: f"%s{it} = noisy.add %a{it}, %a{it} : !noisy.i32\nscf.yield %s{it} : !noisy.i32\n"):
    """n loops one after the other."""
    return "func.func @f(%x: i5, %n: index) -> i5 {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%big = arith.constant 9223372036854775807 : index\n%low = arith.constant -9223372036854775808 : index\n%r0 = noisy.encode %x : i5 -> !noisy.i32\n" + "".join(f"%r{it + 1} = scf.for %i{it} = {from_} to {to} step {step} iter_args(%a{it} = %r{it}) -> !noisy.i32 {{\n{body(it)}}}\n" for it in range(n)) + f"%d = noisy.decode %r{n} : !noisy.i32 -> i5\nreturn %d : i5\n}}\n"


register("loops-one-after-the-other", lambda: counted(10_000))
register("loops-of-one-name", lambda: re.sub(r"%([ias])\d+", r"%\1", counted(10_000)))
register("loops-of-2-to-the-63", lambda: counted(1_000, to="%big"))
register("loops-over-all-indices", lambda: counted(1_000, "%low", "%big", "%big"))
register("loop-of-1000-values", lambda: "func.func @f(%x: i5, %n: index) {\n%c1 = arith.constant 1 : index\n%v = noisy.encode %x : i5 -> !noisy.i32\n%r:1000 = scf.for %i = %c1 to %n step %c1 iter_args(" + ", ".join(f"%a{it} = %v" for it in range(1_000)) + ") -> (" + ", ".join(["!noisy.i32"] * 1_000) + ") {\n" + "".join(f"%b{it} = noisy.add %a{it}, %a{(it + 1) % 1_000} : !noisy.i32\n" for it in range(1_000)) + "scf.yield " + ", ".join(f"%b{(it * 3 + 1) % 1_000}" for it in range(1_000)) + " : " + ", ".join(["!noisy.i32"] * 1_000) + "\n}\nreturn\n}")
register("loop-that-shifts-1000-values", lambda: "func.func @f(%n: index) {\n%c1 = arith.constant 1 : index\n%v = arith.constant 1 : i32\n%r:1000 = scf.for %i = %c1 to %n step %c1 iter_args(" + ", ".join(f"%a{it} = %v" for it in range(1_000)) + ") -> (" + ", ".join(["i32"] * 1_000) + ") {\n%b = arith.addi %a999, %v : i32\nscf.yield %b" + "".join(f", %a{it}" for it in range(999)) + " : " + ", ".join(["i32"] * 1_000) + "\n}\nreturn\n}")
register("whiles", lambda: "func.func @f(%x: i32) {\n" + "".join(f"%r{it} = scf.while (%a = %x) : (i32) -> i32 {{\n%c = arith.cmpi slt, %a, %x : i32\nscf.condition(%c) %a : i32\n}} do {{\n^bb0(%b: i32):\n%s = arith.addi %b, %x : i32\nscf.yield %s : i32\n}}\n" for it in range(5_000)) + "return\n}")
register("whiles-nested", lambda: "func.func @f(%x: i32) {\n" + "".join(f"%r{it} = scf.while (%a{it} = %x) : (i32) -> i32 {{\n%c = arith.cmpi slt, %a{it}, %x : i32\nscf.condition(%c) %a{it} : i32\n}} do {{\n^bb0(%b{it}: i32):\n" for it in range(60)) + "".join(f"%s{it} = arith.addi %b{it}, {f'%r{it + 1}' if it < 59 else '%x'} : i32\nscf.yield %s{it} : i32\n}}\n" for it in range(59, -1, -1)) + "return\n}")
register("parallel-of-500-variables", lambda: "func.func @f(%n: index) {\n%c = arith.constant 1 : index\nscf.parallel (" + ", ".join(f"%i{it}" for it in range(500)) + ") = (" + ", ".join(["%c"] * 500) + ") to (" + ", ".join(["%n"] * 500) + ") step (" + ", ".join(["%c"] * 500) + ") {\n}\nreturn\n}")
register("ifs-of-each-value", lambda: "func.func @f(%x: i5, %c: i1) -> i5 {\n%v0 = noisy.encode %x : i5 -> !noisy.i32\n" + "".join(f"%v{it + 1} = scf.if %c -> !noisy.i32 {{\n%t = noisy.add %v{it}, %v{it} : !noisy.i32\nscf.yield %t : !noisy.i32\n}} else {{\nscf.yield %v{it} : !noisy.i32\n}}\n" for it in range(10_000)) + "%d = noisy.decode %v10000 : !noisy.i32 -> i5\nreturn %d : i5\n}")

# Affine loops


def nest(depth, body, bound="100"):
    return "func.func @f(%m: memref<?x?xf32>, %n: index, %v: f32) {\n" + "".join(f"affine.for %i{it} = 0 to {bound} {{\n" for it in range(depth)) + body + "}\n" * depth + "return\n}\n"


register("affine-nest-of-30", lambda: nest(30, "".join(f"affine.store %v, %m[%i{it}, %i{29 - it}] : memref<?x?xf32>\n" for it in range(30))))
register("affine-nest-of-1000", lambda: nest(1_000, "affine.store %v, %m[%i0, %i999] : memref<?x?xf32>\n"))
register("affine-accesses-1500", lambda: nest(2, "".join(f"affine.store %v, %m[%i0 + {it}, %i1 * {it % 17} + {it}] : memref<?x?xf32>\n" for it in range(1_500))))
register("affine-coefficients", lambda: nest(3, "".join(f"affine.store %v, %m[%i0 * {7**it % (1 << 62)} + %i1 * {5**it % (1 << 62)}, %i2 * {3**it % (1 << 62)}] : memref<?x?xf32>\n" for it in range(2, 40))))
register("affine-mods", lambda: nest(4, "".join(f"affine.store %v, %m[(%i0 * 3 + %i1) mod {it + 2}, ((%i2 floordiv {it + 3}) * 5 + %i3) mod {2 * it + 3}] : memref<?x?xf32>\n" for it in range(40)), "1000"))
register("affine-mods-nested", lambda: nest(2, "".join("affine.store %v, %m[" + nested("(", "%i0", f" * 3 + %i1) mod {101 + it}", 8) + ", %i1 floordiv 7] : memref<?x?xf32>\n" for it in range(8)), "1000"))
register("affine-loops-one-after-the-other", lambda: "func.func @f(%m: memref<100xf32>, %v: f32) {\n" + "".join(f"affine.for %i{it} = 0 to 100 {{\n%l{it} = affine.load %m[%i{it}] : memref<100xf32>\naffine.store %l{it}, %m[%i{it}] : memref<100xf32>\n}}\n" for it in range(500)) + "return\n}\n")
register("affine-bounds-of-100", lambda: "#m = affine_map<(d0)[s0] -> (" + ", ".join(f"d0 * {it} + s0 - {it * it}" for it in range(100)) + ")>\nfunc.func @f(%m: memref<?xf32>, %n: index, %v: f32) {\naffine.for %i = 0 to 1000 {\naffine.for %j = max #m(%i)[%n] to min #m(%i)[%n] {\naffine.store %v, %m[%i + %j] : memref<?xf32>\naffine.store %v, %m[%j * 3] : memref<?xf32>\n}\n}\nreturn\n}\n")
register("affine-loop-of-20000-iterations", lambda: "func.func @f(%m: memref<100xf32>, %v: f32) {\naffine.for %i = 0 to 20000 {\n%l = affine.load %m[%i mod 100] : memref<100xf32>\n%s = arith.addf %l, %v : f32\naffine.store %s, %m[%i mod 100] : memref<100xf32>\n}\nreturn\n}\n")
register("affine-ifs", lambda: nest(2, "".join(f"affine.if affine_set<(d0, d1) : (d0 - {it} >= 0, {it * 3} - d1 >= 0, d0 + d1 - {it} == 0)>(%i0, %i1) {{\naffine.store %v, %m[%i0, %i1] : memref<?x?xf32>\n}}\n" for it in range(300))))
register("affine-triangle-of-8", lambda: "func.func @f(%m: memref<?x?xf32>, %n: index, %v: f32) {\naffine.for %i0 = 0 to %n {\n" + "".join(f"affine.for %i{it} = affine_map<(d0) -> (d0)>(%i{it - 1}) to min affine_map<(d0)[s0] -> (s0, d0 + 100)>(%i{it - 1})[%n] {{\n" for it in range(1, 8)) + "".join(f"%l{it} = affine.load %m[%i0 + %i{it}, %i{7 - it} * 2] : memref<?x?xf32>\naffine.store %l{it}, %m[%i{it}, %i7 - %i{it}] : memref<?x?xf32>\n" for it in range(8)) + "}\n" * 8 + "return\n}\n")

# Work of passes

register("constants-added", lambda: "func.func @f() -> i64 {\n%a0 = arith.constant 1 : i64\n" + "".join(f"%a{it + 1} = arith.addi %a{it}, %a{it} : i64\n" for it in range(50_000)) + "return %a50000 : i64\n}")
register("zeros-added", lambda: "func.func @f(%a0: i64) -> i64 {\n%z = arith.constant 0 : i64\n" + "".join(f"%a{it + 1} = arith.addi %a{it}, %z : i64\n" for it in range(50_000)) + "return %a50000 : i64\n}")
register("equal-ops", lambda: "func.func @f(%a: i64) -> i64 {\n" + "".join(f"%b{it} = arith.muli %a, %a : i64\n" for it in range(50_000)) + '"use"(' + ", ".join(f"%b{it}" for it in range(50_000)) + ") : (" + ", ".join(["i64"] * 50_000) + ") -> ()\nreturn %b0 : i64\n}")
register("slots-through-1000-blocks", lambda: "func.func @f(%c: i1) -> i32 {\n" + "".join(f"%m{it} = memref.alloca() : memref<i32>\n" for it in range(300)) + "cf.br ^b0\n" + "".join(f"^b{at}:\n" + "".join(f"%l{at}_{it} = memref.load %m{(at * 7 + it) % 300}[] : memref<i32>\nmemref.store %l{at}_{it}, %m{(at * 3 + it) % 300}[] : memref<i32>\n" for it in range(5)) + f"cf.cond_br %c, ^b{at + 1}, ^b{at * 13 % 999 + 1}\n" for at in range(999)) + "^b999:\n%r = memref.load %m0[] : memref<i32>\nreturn %r : i32\n}\n")
register("casts-of-many-widths", lambda: "func.func @f(%x0: i8) -> i8 {\n" + "".join(f"%y{it} = arith.extsi %x{it} : i8 to i{9 + it % 4000}\n%x{it + 1} = arith.trunci %y{it} : i{9 + it % 4000} to i8\n" for it in range(15_000)) + "return %x15000 : i8\n}\n")
register("dead-chain", lambda: "func.func @f(%a0: i64) {\n" + "".join(f"%a{it + 1} = arith.addi %a{it}, %a{it} : i64\n" for it in range(100_000)) + "return\n}")
register("inlined-twice", lambda: "".join(f"func.func private @f{it}(%a: i32) -> i32 {{\n%b = call @f{it + 1}(%a) : (i32) -> i32\n%c = call @f{it + 1}(%b) : (i32) -> i32\nreturn %c : i32\n}}\n" for it in range(30)) + "func.func private @f30(%a: i32) -> i32 {\n%b = arith.addi %a, %a : i32\nreturn %b : i32\n}\nfunc.func @main(%a: i32) -> i32 {\n%b = call @f0(%a) : (i32) -> i32\nreturn %b : i32\n}\n")
register("buffers-of-one-element", lambda: "func.func @f(%v: i32) -> i32 {\n" + "".join(f"%m{it} = memref.alloca() : memref<i32>\nmemref.store %v, %m{it}[] : memref<i32>\n%l{it} = memref.load %m{it}[] : memref<i32>\n" for it in range(10_000)) + "return %l9999 : i32\n}")
register("stores-and-loads", lambda: "func.func @f(%m: memref<?xi32>, %v: i32) {\n" + "".join(f"%c{it} = arith.constant {it} : index\nmemref.store %v, %m[%c{it}] : memref<?xi32>\n%l{it} = memref.load %m[%c{it}] : memref<?xi32>\n" for it in range(10_000)) + "return\n}")
register("selects", lambda: "func.func @f(%c: i1, %a0: i32, %b: i32) -> i32 {\n" + "".join(f"%a{it + 1} = arith.select %c, %a{it}, %b : i32\n" for it in range(30_000)) + "return %a30000 : i32\n}")
register("loops-in-loops-invariant", lambda: "func.func @f(%n: index, %a: i32) {\n%c = arith.constant 1 : index\n" + "".join(f"scf.for %i{it} = %c to %n step %c {{\n" for it in range(100)) + "".join(f"%b{it} = arith.addi %a, %a : i32\n" for it in range(1_000)) + '"use"(%b9) : (i32) -> ()\n' + "}\n" * 100 + "return\n}")

if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(INPUTS[sys.argv[1]]())
