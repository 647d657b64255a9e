#!/usr/bin/env python3
"""Which programs heir-opt refuses, by kind of message, and which of them noisy-check reports.

    tests/bench/refusals.py --heir FOLDER [--heir-opt HEIR_OPT] [--check CHECK] [--mistakes N] [--keep FOLDER] [--log FILE]

FOLDER holds tests of HEIR (`tests` of its repository). Each chunk between `// -----` lines is a program. It runs through the usual pipelines for its stage (`pipelines`). A program runs through
the passes of the RUN lines of its file instead if its test expects an error, and also through them if noisy-check reports one. Of each program with management ops, N copies with one mistake run,
too (`mistakes`). The first error of a run is its message. Two messages are of one kind if they differ only in names, numbers, types and attributes.

Prints three tables: the kinds of messages with the codes that noisy-check reports for these programs; the lines with `expected-error` in HEIR's tests, and the codes on them; the programs without a
mistake that noisy-check reports an error for, or with a mistake if no pass refuses them. `--log` writes each refusal as a line of JSON, `--keep` the programs of each kind without an error.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 20
SPLIT = re.compile(r"^// -----.*$", re.M)
OWN_OPTIONS = re.compile(r"^--?(split-input-file|verify-diagnostics|mlir-print|color|debug|emit-|show-|mlir-timing)")
EXPECTED = re.compile(r"expected-error(-re)?\s*(@([-+]\d+|above|below))?\s*(\d+)?\s*\{\{(.*?)\}\}")
PASS = re.compile(r"IR Dump After .* Failed:? \(?([\w-]+)")
MISTAKE = re.compile(r"^(\s*)(%\w+) = mgmt\.(relinearize|modreduce|adjust_scale|level_reduce)( <.*?>)? (%[\w#]+)(.*)$")


def run(command, text):
    """The exit code, the output and the errors; without a code if it did not end in time."""
    try:
        it = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return None, "", ""
    return it.returncode, it.stdout, it.stderr


def chunks(text):
    """The programs of a file, each behind empty lines, so that lines are those of the file."""
    at = 0
    for part in SPLIT.split(text):
        yield "\n" * text.count("\n", 0, at) + part
        at = text.find("\n", at + len(part)) if at + len(part) < len(text) else len(text)


def of_run_lines(path, text):
    """The passes that the RUN lines of a file name, one list for each heir-opt that reads the file."""
    joined = re.sub(r"\\\n\s*//\s*(RUN:)?", "", text)
    for line in re.findall(r"//\s*RUN:\s*(.*)", joined):
        for command in line.split("|"):
            try:
                words = shlex.split(re.sub(r"2?>&?\S*", "", command.replace("%S", str(path.parent))))
            except ValueError:
                continue
            if "%s" not in words or "%t" in command or not {"heir-opt"} & set(words[:2]):
                continue
            options = words[words.index("heir-opt") + 1 :]
            yield [it for it in options if it.startswith("-") and not OWN_OPTIONS.match(it)]


def schemes(text):
    """The schemes that a program may be lowered to: those that it names, or those of its types."""
    named = set(re.findall(r"scheme\.(ckks|bgv|bfv)\b", text)) | {it for it in ("ckks", "bgv") if f"{it}.schemeParam" in text}
    if named:
        return ["bfv"] if "bfv" in named else sorted(named)
    return ["ckks"] if re.search(r"x?\bf(16|32|64)\b|xf(16|32|64)", text) else ["bgv", "bfv"]


def pipelines(text, slots):
    """The stage of a program, and HEIR's usual pipelines for it, in their order: management, parameters, scales, the scheme, the library."""

    has_scales = re.search(r"mgmt<[^>]*\bscale = ", text)

    def passes(scheme, library, first):
        to = "ckks" if scheme == "ckks" else "bgv"
        managed = [f"--annotate-module=backend={library} scheme={scheme}"]
        managed += [f"--secret-insert-mgmt-{scheme}"] if first == "secret" else []
        managed += ["--annotate-mgmt"] if not has_scales else []
        managed += [f"--generate-param-{scheme}=min-slot-count={slots}"] if "schemeParam" not in text else []
        managed += [f"--populate-scale-{to}"] if not has_scales else []
        return [*managed, "--secret-distribute-generic", "--canonicalize", f"--secret-to-{to}=min-slot-count={slots}"]

    backend = (re.search(r"backend\.(openfhe|lattigo)", text) or [None, None])[1]
    libraries = [backend] if backend else ["openfhe", "lattigo"]
    ops = text.replace("backend.", "")
    for library in ("openfhe", "lattigo"):
        if re.search(rf"\b{library}\.\w+[ (]", ops):
            return "library", [[f"--{library}-configure-crypto-context"]]
    if re.search(r"\b(ckks|bgv|lwe)\.\w+[ (]", text) and "secret.generic" not in text:
        return "scheme", [["--bgv-to-lwe", "--ckks-to-lwe", f"--lwe-to-{library}"] for library in libraries]
    if "secret.generic" in text:
        stage = "managed" if re.search(r"\bmgmt\.\w+", text) else "secret"
        found = [passes(scheme, libraries[0], stage) for scheme in schemes(text)]
        scheme_only = ["--implement-trivial-encryption-as-addition", "--convert-elementwise-to-affine=convert-dialects=ckks,bgv,lwe,kernel", "--tensor-ext-to-tensor"]
        return stage, found + [[*it, "--canonicalize", "--cse", *scheme_only, f"--scheme-to-{libraries[0]}"] for it in found]
    if "secret.secret" in text:
        usual = [(scheme, library) for scheme in schemes(text) for library in libraries[:1]]
        return "source", [[f"--annotate-module=backend={library} scheme={scheme}", f"--mlir-to-{scheme}=min-slot-count={slots}", f"--scheme-to-{library}"] for scheme, library in usual]
    return "other", []


def mistakes(text, number, rng):
    """Copies with one mistake: a management op that is left out, is there twice, or is not used by one op."""
    text = re.sub(r"mgmt\.mgmt = #mgmt(\.mgmt<[^>]*>|\w*), |(, )?mgmt\.mgmt = #mgmt(\.mgmt<[^>]*>|\w*)", "", text)
    text = re.sub(r" (attributes |attrs = )?\{\}", "", text)
    lines = text.split("\n")
    places = [it for it, line in enumerate(lines) if MISTAKE.match(line)]

    def renamed(line, name, other):
        return re.sub(re.escape(name) + r"(?![\w#])", lambda _: other, line)

    for _ in range(number if places else 0):
        at = rng.choice(places)
        pad, result, op, options, operand, rest = MISTAKE.match(lines[at]).groups()
        before, after = lines[:at], lines[at + 1 :]
        end = next((it for it, line in enumerate(after) if "func.func" in line), len(after))
        after, others = after[:end], after[end:]
        kind = rng.choice(["left out", "twice", "not used"])
        if kind == "left out":
            after = [renamed(it, result, operand) for it in after]
        elif kind == "twice":
            again = f"{pad}%again = mgmt.{op}{options or ''} {result}{rest}"
            before, after = [*before, lines[at], again], [renamed(it, result, "%again") for it in after]
        else:
            users = [it for it, line in enumerate(after) if " = " in line and renamed(line, result, "") != line]
            if not users:
                continue
            user = rng.choice(users)
            before, after = [*before, lines[at]], [*after[:user], renamed(after[user], result, operand), *after[user + 1 :]]
        yield f"{op} {kind}", "\n".join(before + after + others)


def without_nested(message, start):
    """The message, with the text in `<>` behind `start` left out."""
    while (at := message.find(start)) >= 0:
        end, depth = at + len(start), 1
        while end < len(message) and depth:
            depth += {"<": 1, ">": -1}.get(message[end], 0) if message[end - 1] != "-" else 0
            end += 1
        message = message[:at] + "TYPE" + message[end:]
    return message


def kind_of(message):
    """The message without names, numbers, types and attributes."""
    message = re.sub(r": %\w+(:\d+)? = \".*", "", message)
    message = re.sub(r"'([a-z_]+\.[\w.]+)' op", "OP", message)
    message = re.sub(r"'([a-z_]+\.[\w.]+)'", "'OP'", message)
    for start in sorted(set(re.findall(r"[!#][\w.]+<|(?:tensor|memref|vector)<", message)), key=len, reverse=True):
        message = without_nested(message, start)
    message = re.sub(r"'(TYPE|[if]\d+|index)'(, '(TYPE|[if]\d+|index)')*", "TYPE", message)
    message = re.sub(r"[%@#!][\w.#]+", "NAME", message)
    message = re.sub(r"-?\b\d[\d.e+-]*", "N", message)
    return re.sub(r"\s+", " ", message)[:130]


def refusal(heir_opt, passes, text):
    """The pass that refuses, with the kind and the text of its message; `None` if all passes accept."""
    text = text.replace("expected-", "expected ")  # which heir-opt reads although nothing asks it to
    code, _, errors = run([heir_opt, *passes, "--mlir-print-ir-after-failure", "-"], text)
    if code == 0:
        return None
    failed = PASS.search(errors)
    where = failed[1] if failed else "reading"
    if code is None:
        return where, f"no answer in {SECONDS} s", ""
    if code < 0 or code > 2:
        asserted = re.search(r"Assertion `(.*?)' failed|LLVM ERROR: (.*)", errors)
        return passes[-1].lstrip("-").split("=")[0], "crash" + (": " + kind_of(asserted[1] or asserted[2]) if asserted else ""), errors[-300:]
    message = (re.search(r"error: (.*)", errors) or [None, errors[:100]])[1]
    return where, kind_of(message), message


def reports(check, text):
    """The diagnostics of noisy-check: severity, code and line."""
    _, out, _ = run([check, "--isolated", "--no-cache", "--output-format", "json-lines", "-"], text)
    found = []
    for line in out.splitlines():
        it = json.loads(line)
        if "code" in it:
            found.append((it["severity"], it["code"], it.get("location", {}).get("row"), it["message"]))
    return found


def expectations(text):
    """The lines on which HEIR's test expects an error, with its message."""
    for number, line in enumerate(text.split("\n"), 1):
        for it in EXPECTED.finditer(line):
            offset = {"above": -1, "below": 1, None: 0}.get(it[3])
            row = number + (int(it[3]) if offset is None else offset)
            while it[3] in ("below",) and row <= text.count("\n") and re.match(r"\s*//", text.split("\n")[row - 1]):
                row += 1
            yield row, it[5]


def rows(headers, lines):
    print("| " + " | ".join(headers) + " |\n|" + "---|" * len(headers))
    for line in lines:
        print("| " + " | ".join(str(it).replace("|", "\\|") for it in line) + " |")
    print()


def counted(counter):
    return ", ".join(f"{code} {n}" for code, n in counter.most_common()) or "none"


def programs(path, name, n_mistakes):
    """The programs of a file: place, mistake, text, if HEIR's test expects an error, the passes of its RUN lines, HEIR's usual pipelines."""
    whole = path.read_text(errors="replace")
    own = list(of_run_lines(path.resolve(), whole))
    for text in filter(str.strip, chunks(whole)):
        place = f"{name}:{text[: len(text) - len(text.lstrip())].count(chr(10)) + 1}"
        slots = re.search(r"min-slot-count=(\d+)", whole) or re.search(r"secret<tensor<(?:\d+x)*(\d+)x\w+>>", text)
        stage, usual = pipelines(text, slots[1] if slots else "1024")
        expects = bool("expected-error" in text or re.search(r"RUN:\s+not\b", whole))
        yield place, "", text, expects, own, usual
        if stage == "managed":
            for mistake, changed in mistakes(text, n_mistakes, random.Random(place)):
                _, usual = pipelines(changed, slots[1] if slots else "1024")
                yield place, mistake, changed, False, [], [it for it in usual if "scheme-to" not in it[-1]]


def refusals(heir_opt, text, lists):
    """The kinds of refusals, each with the passes and the message. Passes that begin like refused ones are not run."""
    refused = {}
    for passes in lists:
        if any(passes[: len(it)] == it for it, _ in refused.values()):
            continue
        answer = refusal(heir_opt, passes, text)
        if answer and "Unknown command line" not in answer[1]:
            refused.setdefault(answer[:2], (passes, answer[2]))
    return refused


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--heir", type=pathlib.Path, required=True)
    options.add_argument("--heir-opt", default="heir-opt")
    options.add_argument("--check", default=str(ROOT / "target/release/noisy-check"))
    options.add_argument("--mistakes", type=int, default=2)
    options.add_argument("--only", default="", help="a pattern for the paths of files")
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--log", type=pathlib.Path)
    it = options.parse_args()

    kinds = collections.defaultdict(lambda: dict(n=0, mistakes=0, error=0, warning=0, codes=collections.Counter(), example=""))
    expected, reported, n = [], [], collections.Counter()
    log = it.log.open("w") if it.log else None
    for path in sorted(it.heir.rglob("*.mlir")):
        name = str(path.relative_to(it.heir))
        if not re.search(it.only, name):
            continue
        for place, mistake, text, expects, own, usual in programs(path, name, it.mistakes):
            found = reports(it.check, text)
            codes = {wanted: sorted({code for severity, code, _, _ in found if severity == wanted}) for wanted in ("error", "warning")}
            errors, warnings = codes["error"], codes["warning"]
            refused = refusals(it.heir_opt, text, own if expects else (own if errors else []) + usual)
            n.update({"programs": 1, "with a mistake": bool(mistake), "refused": bool(refused)})
            if errors and not expects and (not refused or not mistake):
                reported.append((place, mistake, ", ".join(errors), "; ".join(f"{where}: {kind}" for where, kind in refused) or "none"))
            for number, ((where, kind), (passes, message)) in enumerate(refused.items()):
                k = kinds[where, kind]
                k["n"] += 1
                k["mistakes"] += bool(mistake)
                k["error"] += bool(errors)
                k["warning"] += not errors and bool(warnings)
                k["codes"].update(errors or warnings)
                k["example"] = k["example"] or place
                if log:
                    what = dict(place=place, mistake=mistake, passes=passes, where=where, kind=kind, message=message, errors=errors, warnings=warnings)
                    print(json.dumps(what), file=log, flush=True)
                if it.keep and not errors:
                    folder = it.keep / re.sub(r"\W+", "-", f"{where} {kind}")[:90]
                    folder.mkdir(parents=True, exist_ok=True)
                    file = re.sub(r"\W+", "-", f"{place} {mistake}") + f"-{number}.mlir"
                    (folder / file).write_text(f"// {' '.join(passes)}\n// {message}\n" + text.lstrip("\n"))
            for row, message in expectations(text) if not mistake else []:
                here = {f"{code} ({severity})" for severity, code, line, _ in found if line == row and severity != "hint"}
                elsewhere = [f"{code} ({severity}) at {line}" for severity, code, line, _ in found if line != row and severity != "hint"]
                expected.append((f"{name}:{row}", message[:90], ", ".join(sorted(here)) or "none", ", ".join(elsewhere[:2])))

    print(", ".join(f"{count} {what}" for what, count in n.items()) + "\n")
    order = sorted(kinds.items(), key=lambda it: -it[1]["n"])
    rows(
        ("pass", "kind", "programs", "with a mistake", "error", "only warnings", "codes", "example"),
        [(where, kind, k["n"], k["mistakes"], k["error"], k["warning"], counted(k["codes"]), k["example"]) for (where, kind), k in order],
    )
    rows(("line", "expected by HEIR's test", "noisy-check at the line", "elsewhere"), expected)
    rows(("program with an error of noisy-check", "mistake", "errors", "refused by"), reported)


if __name__ == "__main__":
    main()
