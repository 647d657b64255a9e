#!/usr/bin/env python3
"""Verifies certificates of placements: verify_certificate.py CERTIFICATE.json

As `noisy-check verify-certificate`, but that the questions are believed to be those of the program. Prints for each function {"verified": true, "function": "f", "cost": ..,
"bound": ..} and exits with 0; or the first claim that is not true, and 1. Shares nothing with the optimizer. docs/placement-reference.md, section Certificates, says what is checked."""
import heapq
import json
import math
import sys

SCALE, ENDLESS = 32, (1 << 32) - 1
OPEN, ABSENT, CHOSEN = range(3)


class Wrong(Exception):
    pass


def need(is_true, why):
    if not is_true:
        raise Wrong(why)


def number(it):
    it = int(it) if type(it) is str and it.isdigit() else it
    need(type(it) is int and it >= 0, f"{it} is no number of at least zero")
    return it


def places(sites, n):
    """Sites in increasing order."""
    need(all(type(s) is int and 0 <= s < n for s in sites), "there is no such site")
    need(all(a < b for a, b in zip(sites, sites[1:])), "its sites are not increasing")
    return sites


class Noise:
    """The least noise before each reset where some sites are absent and all others do what is lower; or, if exact, always reset."""

    def __init__(self, instance):
        self.nodes, self.sites = instance["nodes"], instance["sites"]
        self.users, self.nodes_of = [[] for _ in self.nodes], [[] for _ in self.sites]
        for v, node in enumerate(self.nodes):
            need(len(node["rule"]) == 1, f"node {v} has no rule")
            for u in set(node.get("operands", [])):
                self.users[u].append(v)
            if node.get("site") is not None:
                self.nodes_of[node["site"]].append(v)
        self.absent, self.exact, self.floor = set(), False, {}
        self.settle(())

    def settle(self, absent):
        self.absent, self.before = set(absent), [0] * len(self.nodes)
        self.is_over = self.rise(range(len(self.nodes)), [], False)

    def leaves(self, u):
        site, it = self.nodes[u].get("site"), self.before[u]
        if site is not None and site not in self.absent:
            reset = self.sites[site]["reset"]
            it = reset if self.exact else min(reset, it)
        return max(it, self.floor.get(u, 0))

    def limit(self, v):
        limit = self.nodes[v].get("limit")
        return ENDLESS if limit is None else limit

    def rise(self, start, log, stops):
        """Raises noise until it settles; whether a node is over its limit."""
        current, n_passes, is_over = set(start), 0, False
        while current:
            heap, queued, later = sorted(current), set(current), set()
            while heap:
                v = heapq.heappop(heap)
                queued.discard(v)
                now = before(self.nodes[v], self.leaves)
                # What still rises after more passes than there are nodes rises for ever.
                now = ENDLESS if n_passes > len(self.nodes) and now > self.before[v] else now
                is_over |= now > self.limit(v)
                if is_over and stops:
                    return True
                if now <= self.before[v]:
                    continue
                log.append((v, self.before[v]))
                self.before[v] = now
                for w in self.users[v]:
                    if w <= v:
                        later.add(w)
                    elif w not in queued:
                        queued.add(w)
                        heapq.heappush(heap, w)
            current, n_passes = later, n_passes + 1
        return is_over

    def is_over_without(self, sites, below=(), least=()):
        """Also if as much leaves a node as should stay below, where at least so much leaves others."""
        if self.is_over:
            return True
        fresh, log = set(sites) - self.absent, []
        self.absent |= fresh
        for v, level in least:
            self.floor[v] = max(level, self.floor.get(v, 0))
        start = {w for s in fresh for v in self.nodes_of[s] for w in self.users[v]} | {w for v in self.floor for w in self.users[v]}
        is_over = self.rise(start, log, not below) or any(self.leaves(v) >= level for v, level in below)
        self.absent -= fresh
        self.floor = {}
        for v, old in reversed(log):
            self.before[v] = old
        return is_over


def before(node, leaves):
    (kind, plus), = node["rule"].items()
    leaving = [leaves(u) for u in node.get("operands", [])] if kind != "source" else []
    return min({"source": 0, "max": max(leaving, default=0), "sum": sum(leaving)}[kind] + plus, ENDLESS)


class Walk:
    """Over proofs, with what is decided of each site."""

    def __init__(self, noise):
        self.noise, self.decided = noise, [OPEN] * len(noise.sites)
        # Nodes, levels, and whether as much leaves them.
        self.levels = []

    def proof(self, proof, weights, place):
        need(places(proof["sites"], len(self.decided)) == sorted(weights), f"{place}: its sites are not those that it is about, in order")
        for at, row in enumerate(proof["rows"]):
            self.row(row, f"{place}, row {at}")
        for at, rows in enumerate(proof["multipliers"]):
            need(all(number(row) < len(proof["rows"]) for row, _ in rows), f"{place}: multipliers {at}: there is no such row")
        proven = self.steps(proof, weights, place)
        need(proven >= proof["bound"], f"{place}: its steps prove {proven}, not {proof['bound']}")
        return number(proof["bound"])

    def row(self, row, place):
        if "core" in row:
            core = places(row["core"], len(self.decided))
            need(self.noise.is_over_without(core), f"{place}: is not a core: all other sites suffice")
            return
        if "core_where" in row:
            it = row["core_where"]
            core = places(it["core"], len(self.decided))
            for v, level in it["below"] + it["least"]:
                need(number(v) < len(self.noise.nodes) and number(level) >= 0, f"{place}: there is no such node")
            need(self.noise.is_over_without(core, it["below"], it["least"]), f"{place}: is not a core there: all other sites suffice")
            return
        cut = row["cut"]
        weights = {s: number(weight) for s, weight in cut["terms"]}
        need(len(weights) == len(cut["terms"]), f"{place}: a site twice")
        need(all(type(s) is int and 0 <= s < len(self.decided) for s in weights), f"{place}: there is no such site")
        proven = self.proof(cut["proof"], weights, place)
        need(proven >= cut["least"], f"{place}: is proven for {proven}, not {cut['least']}")

    def prices(self, proof, at, weights, place):
        """What multipliers prove, in units of 2^-SCALE of the greatest common divisor of the weights, and what they leave of these."""
        need(number(at) < len(proof["multipliers"]), f"{place}: there are no such multipliers")
        grain = math.gcd(*weights.values()) or 1
        reduced, total = {s: weight // grain << SCALE for s, weight in weights.items()}, 0
        for row, y in proof["multipliers"][at]:
            y, row = number(y), proof["rows"][number(row)]
            if "core_where" in row:
                row = row["core_where"]
                holds = all(any(not up and v == w and at <= level for w, at, up in self.levels) for v, level in row["below"])
                holds &= all(any(up and v == w and at >= level for w, at, up in self.levels) for v, level in row["least"])
                need(holds, f"{place}: a row does not hold here")
            terms = [(s, 1) for s in row["core"]] if "core" in row else row["cut"]["terms"]
            total += y * (1 if "core" in row else number(row["cut"]["least"]))
            for s, weight in terms:
                reduced[s] = reduced.get(s, 0) - y * weight
        total += sum((min(it, 0), 0, it)[self.decided[s]] for s, it in reduced.items())
        return total, reduced, lambda total: -(-max(total, 0) >> SCALE) * grain

    def decide(self, sites, decision, place):
        for s in sites:
            need(type(s) is int and 0 <= s < len(self.decided) and self.decided[s] == OPEN, f"{place}: site {s} is decided already, or is none")
            self.decided[s] = decision

    def steps(self, proof, weights, place):
        frames = []
        for at, step in enumerate(proof["steps"]):
            here = f"{place}, step {at}"
            (kind, it), = step.items()
            if kind == "branch":
                self.decide([it], ABSENT, here)
                frames.append([it, None])
                continue
            if kind == "level":
                v, level = map(number, it)
                need(v < len(self.noise.nodes), f"{here}: there is no such node")
                self.levels.append((v, level, False))
                frames.append([(v, level), None])
                continue
            if kind == "settle":
                total, reduced, rounded = self.prices(proof, it["multipliers"], weights, here)
                for s, sign in [(s, 1) for s in it["absent"]] + [(s, -1) for s in it["chosen"]]:
                    proven = rounded(total + max(sign * reduced.get(s, 0), 0))
                    need(proven >= it["least"], f"{here}: site {s} is settled for {proven}, not {it['least']}")
                self.decide(it["absent"], ABSENT, here)
                self.decide(it["chosen"], CHOSEN, here)
                frames.append([it["absent"] + it["chosen"], number(it["least"])])
                continue
            if kind == "bound":
                total, _, rounded = self.prices(proof, it, weights, here)
                value = rounded(total)
            elif kind == "split":
                value = self.split(it, weights, here)
            else:
                need(kind == "sweep", f"{here}: there is no such step")
                value = number(it["least"])
                sweep(self, proof, it, weights, here)
            # The value goes up to the step that waits for it.
            while frames:
                sites, least = frames.pop()
                if least is None and type(sites) is tuple:
                    (v, level), _ = sites, self.levels.pop()
                    self.levels.append((v, level, True))
                    # Chosen, its site would pass on the reset.
                    site = self.noise.nodes[v].get("site")
                    is_absent = site is not None and self.noise.sites[site]["reset"] < level and self.decided[site] == OPEN
                    self.decide([site] if is_absent else [], ABSENT, here)
                    frames.append([([site] if is_absent else [],), value])
                    break
                if least is None:
                    self.decided[sites] = CHOSEN
                    frames.append([[sites], value])
                    break
                if type(sites) is tuple:
                    (sites,), _ = sites, self.levels.pop()
                for s in sites:
                    self.decided[s] = OPEN
                value = min(value, least)
            else:
                need(at + 1 == len(proof["steps"]), f"{here}: is the last, and more follow")
                return value
        raise Wrong(f"{place}: its steps end too early")

    def split(self, pieces, weights, place):
        outer, owned, total = self.noise.absent, set(), 0
        self.noise.settle(s for s, it in enumerate(self.decided) if it == ABSENT)
        for at, piece in enumerate(pieces):
            need(all(s in weights and s not in owned for s in piece["sites"]), f"{place}, piece {at}: a site of another piece")
            owned.update(piece["sites"])
            total += self.proof(piece, {s: weights[s] for s in piece["sites"]}, f"{place}, piece {at}")
        self.noise.settle(outer)
        return total + sum(weight for s, weight in weights.items() if self.decided[s] == CHOSEN and s not in owned)


def sweep(walk, proof, step, weights, place):
    """That no choice weighs less than step["least"]: node by node, the least weight for each noise that leaves the nodes with users to come."""
    noise, decided = walk.noise, walk.decided
    nodes, n = noise.nodes, len(noise.nodes)
    waits = [len(set(node.get("operands", []))) for node in nodes]
    topological = [v for v in range(n) if not waits[v]]
    for v in topological:
        for w in noise.users[v]:
            waits[w] -= 1
            if not waits[w]:
                topological.append(w)
    need(len(topological) == n, f"{place}: a sweep over a program with loops")

    def free(v):
        s = nodes[v].get("site")
        return s if s is not None and s in weights and decided[s] == OPEN else None

    def alone(v, noise_before):
        s = nodes[v].get("site")
        if s is None or decided[s] == ABSENT or free(v) is not None:
            return noise_before
        reset = noise.sites[s]["reset"]
        return reset if decided[s] == CHOSEN else min(reset, noise_before)

    lo, hi, most = [0] * n, [0] * n, [0] * n
    for v in topological:
        low, most[v] = before(nodes[v], lo.__getitem__), before(nodes[v], hi.__getitem__)
        if low > noise.limit(v):
            return
        high = min(most[v], noise.limit(v))
        if free(v) is None:
            lo[v], hi[v] = alone(v, low), alone(v, high)
        else:
            reset = noise.sites[free(v)]["reset"]
            lo[v], hi[v] = min(low, reset), max(high, reset)
    # So much leaves a node, or comes before its reset, without harm by it.
    room, floor = [0] * n, [0] * n
    for v in reversed(topological):
        bears = 1 << 90
        for w in noise.users[v]:
            (kind, plus), = nodes[w]["rule"].items()
            operands = nodes[w]["operands"]
            if kind == "max":
                bears = min(bears, room[w] - plus)
            elif kind == "sum":
                others = sum(hi[u] for u in operands if u != v)
                bears = min(bears, (room[w] - plus - others) // operands.count(v))
        floor[v] = max(lo[v], min(bears, hi[v]))
        s = nodes[v].get("site")
        room[v] = noise.limit(v) if s is not None and decided[s] == CHOSEN else min(noise.limit(v), bears)
    out, order = [not (hi[v] > floor[v] or most[v] > noise.limit(v)) for v in range(n)], []
    need(all(number(v) < n for v in step["order"]), f"{place}: there is no such node")
    for v in list(step["order"]) + topological:
        stack = [v]
        while stack:
            v = stack[-1]
            u = next((u for u in nodes[v].get("operands", []) if not out[u]), None)
            if u is not None and not out[v]:
                stack.append(u)
                continue
            if not out[v]:
                out[v] = True
                order.append(v)
            stack.pop()
    owners = [free(v) for v in order if free(v) is not None and hi[v] > floor[v]]
    need(len(set(owners)) == len(owners), f"{place}: a sweep over a site that nodes share")
    last = {u: at for at, v in enumerate(order) for u in nodes[v].get("operands", [])}
    total, reduced, rounded = walk.prices(proof, step["multipliers"], weights, place)
    cores_of = {}
    for row, y in proof["multipliers"][step["multipliers"]]:
        for s in proof["rows"][row].get("core", ()):
            cores_of.setdefault(s, []).append((row, number(y)))
    ends, rank = {}, {free(v): at for at, v in enumerate(order)}
    for row, _ in proof["multipliers"][step["multipliers"]]:
        ranks = [rank[s] for s in proof["rows"][row].get("core", ()) if s in rank]
        if ranks:
            ends.setdefault(max(ranks), set()).add(row)
    live, states = [], {(): (sum(w for s, w in weights.items() if decided[s] == CHOSEN), 0, frozenset())}
    for at, v in enumerate(order):
        keeps = last.get(v, -1) > at and hi[v] > floor[v]
        site, after, ended = free(v) if keeps else None, {}, ends.get(at, set())
        stays = [i for i, u in enumerate(live) if last[u] > at]
        for state, (weight, excess, hit) in states.items():
            level = dict(zip(live, state))
            now = before(nodes[v], lambda u: level.get(u, floor[u]))
            if now > noise.limit(v):
                continue
            ways = [(now if site is not None else alone(v, now), weight, excess + max(-reduced[site], 0) if site is not None else excess, hit)]
            if site is not None:
                again = sum(y for row, y in cores_of.get(site, ()) if row in hit)
                hits = hit.union(row for row, _ in cores_of.get(site, ()))
                ways.append((noise.sites[site]["reset"], weight + weights[site], excess + max(reduced[site], 0) + again, hits))
            for leaves, weight_, excess_, hit_ in ways:
                if rounded(total + excess_) >= step["least"]:
                    continue
                key = tuple(state[i] for i in stays) + ((max(leaves, floor[v]),) if keeps else ())
                old = after.get(key)
                if old is None or (weight_, excess_) < old[:2]:
                    after[key] = (weight_, excess_, hit_ - ended)
        states, live = after, [live[i] for i in stays] + ([v] if keeps else [])
    least = min((it[0] for it in states.values()), default=step["least"])
    need(least >= step["least"], f"{place}: a sweep finds a choice of {least}, less than {step['least']}")


def verify(system):
    noise = Noise(system["instance"])
    chosen = places(system["chosen"], len(noise.sites))
    noise.exact = True
    noise.settle(set(range(len(noise.sites))) - set(chosen))
    over = [v for v in range(len(noise.nodes)) if noise.before[v] > noise.limit(v)]
    need(not over, f"the answer is not legal: node {over[:1]} is over its limit")
    noise.exact = False
    noise.settle(())
    cost = sum(noise.sites[s]["cost"] for s in chosen)
    need(cost == system["cost"], f"the answer costs {cost}, not {system['cost']}")
    walk, bound, owner = Walk(noise), 0, {}
    for at, part in enumerate(system["parts"]):
        for s in places(part["sites"], len(noise.sites)):
            need(owner.setdefault(s, at) == at, f"part {at}: site {s} is in part {owner[s]} too")
        bound += walk.proof(part, {s: noise.sites[s]["cost"] for s in part["sites"]}, f"part {at}")
    need(bound >= number(system["bound"]), f"the parts prove {bound}, not {system['bound']}")
    need(system["bound"] <= cost, f"a bound of {system['bound']} on an answer of {cost}")
    return cost, system["bound"]


def main(path):
    with open(path) as file:
        certificate = json.load(file)
    need((certificate["format"], certificate["version"]) == ("noisy-certificate", 1), "it is no certificate of version 1")
    named = [it["function"]["index"] for it in certificate["left"]] + [it["index"] for system in certificate["systems"] for it in system["functions"]]
    need(len(set(named)) == len(named), "a function is named twice")
    for system in certificate["systems"]:
        cost, bound = verify(system)
        for function in system["functions"]:
            print(json.dumps({"verified": True, "function": function["name"], "cost": cost, "bound": bound}))


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    try:
        main(sys.argv[1])
    except Wrong as why:
        print(json.dumps({"verified": False, "why": str(why)}))
        sys.exit(1)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, StopIteration, RecursionError) as why:
        print(json.dumps({"verified": False, "why": f"it cannot be read: {why!r}"}))
        sys.exit(1)
