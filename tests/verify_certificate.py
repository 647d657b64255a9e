#!/usr/bin/env python3
"""Verifies what the optimizer answered: verify_certificate.py INSTANCE.json PLACEMENT.json

INSTANCE is the question and PLACEMENT the answer, as `cargo run --release -p noisy-placement --example answer` writes it. Prints
{"verified": true, "cost": .., "bound": ..}, where the bound is what the cores of the certificate prove, and exits with 0; or the first claim
that is not true, and 1. Shares nothing with the optimizer. What it checks is stated in docs/placement.md, section Certificates."""
import heapq
import json
import sys

UNIT, ENDLESS = 1 << 24, (1 << 32) - 1


class Wrong(Exception):
    pass


class Noise:
    """The least solution with all sites chosen, and what it becomes when some are not."""

    def __init__(self, instance):
        self.nodes, self.sites = instance["nodes"], instance["sites"]
        self.users = [[] for _ in self.nodes]
        self.nodes_of = [[] for _ in self.sites]
        for v, node in enumerate(self.nodes):
            for u in set(node.get("operands", [])):
                self.users[u].append(v)
            if "site" in node:
                self.nodes_of[node["site"]].append(v)
        self.base = [0] * len(self.nodes)
        self.raise_from(self.base, range(len(self.nodes)), lambda site: True, False)

    def raise_from(self, p, start, chosen, stop):
        """Raises noise until it settles, pass by pass; with `stop`, gives the first node that is found over its limit."""
        current, n_passes = set(start), 0
        while current:
            heap, queued, later = sorted(current), set(current), set()
            while heap:
                v = heapq.heappop(heap)
                queued.discard(v)
                node = self.nodes[v]
                (kind, level), = node["rule"].items()
                leaves = [self.sites[self.nodes[u]["site"]]["reset"]
                          if "site" in self.nodes[u] and chosen(self.nodes[u]["site"]) else p[u]
                          for u in node.get("operands", []) if kind != "source"]
                now = {"source": 0, "max": max(leaves, default=0), "sum": sum(leaves)}[kind] + level
                # What still rises after more passes than there are nodes rises for ever.
                now = ENDLESS if n_passes > len(self.nodes) and now > p[v] else min(now, ENDLESS)
                if stop and now > node.get("limit", ENDLESS):
                    return v
                if now <= p[v]:
                    continue
                p[v] = now
                for w in self.users[v]:
                    if w <= v:
                        later.add(w)
                    elif w not in queued:
                        queued.add(w)
                        heapq.heappush(heap, w)
            current, n_passes = later, n_passes + 1
        return None

    def over_without(self, absent):
        """A node that is over its limit when all sites but these are chosen, if there is one."""
        absent = set(absent)
        start = [w for s in absent for v in self.nodes_of[s] for w in self.users[v]]
        return self.raise_from(list(self.base), set(start), lambda site: site not in absent, True)


def verify(instance, answer):
    noise = Noise(instance)
    sites, n = instance["sites"], len(instance["sites"])
    chosen = answer["sites"]
    if sorted(set(chosen)) != chosen or any(not 0 <= s < n for s in chosen):
        raise Wrong("the sites are not increasing")
    start = range(len(noise.nodes))
    over = noise.raise_from([0] * len(noise.nodes), start, set(chosen).__contains__, True)
    if over is not None:
        raise Wrong(f"node {over} is over its limit")
    cost = sum(sites[s]["cost"] for s in chosen)
    if cost != answer["cost"]:
        raise Wrong(f"it costs {cost} and says {answer['cost']}")
    rises = [v for v, node in enumerate(noise.nodes)
             if "site" in node and sites[node["site"]]["reset"] > noise.base[v]]
    bound, owner = 0, {}
    for number, part in enumerate(answer["certificate"]["parts"]):
        total, paid, grain = 0, {}, part["grain"]
        for row, core in enumerate(part["cores"]):
            where, y = f"part {number}, row {row}", core["multiplier"]
            if rises:
                raise Wrong(f"{where}: a reset raises the noise of node {rises[0]}")
            if type(y) is not int or y < 0:
                raise Wrong(f"{where}: its multiplier is {y}")
            if any(type(s) is not int or not 0 <= s < n for s in core["sites"]):
                raise Wrong(f"{where}: a site that there is not")
            if len(set(core["sites"])) != len(core["sites"]):
                raise Wrong(f"{where}: a site twice")
            if noise.over_without(core["sites"]) is None:
                raise Wrong(f"{where}: is no core, all other sites suffice")
            total += y
            for s in core["sites"]:
                paid[s] = paid.get(s, 0) + y
                if owner.setdefault(s, number) != number:
                    raise Wrong(f"{where}: site {s} is in part {owner[s]} too")
                if grain < 1 or sites[s]["cost"] % grain:
                    raise Wrong(f"{where}: the cost of site {s} is no multiple of {grain}")
        total += sum(min(0, sites[s]["cost"] * UNIT - y) for s, y in paid.items())
        proven = -(-max(total, 0) // (grain * UNIT)) * grain if grain else 0
        if part["bound"] > proven:
            raise Wrong(f"part {number}: its rows prove {proven}, not {part['bound']}")
        bound += part["bound"]
    if not bound <= answer["lower_bound"] <= cost:
        raise Wrong(f"a bound of {answer['lower_bound']}, where {bound} is certified and {cost} is paid")
    return {"verified": True, "cost": cost, "bound": bound}


if __name__ == "__main__":
    try:
        with open(sys.argv[1]) as question, open(sys.argv[2]) as reply:
            print(json.dumps(verify(json.load(question), json.load(reply))))
    except Wrong as why:
        print(json.dumps({"verified": False, "why": str(why)}))
        sys.exit(1)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, StopIteration) as why:
        print(json.dumps({"verified": False, "why": f"it cannot be read: {why!r}"}))
        sys.exit(1)
