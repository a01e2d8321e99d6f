"""Checks a proof file of reluflow (docs/proof.md) in exact arithmetic: ``python -m reluflow.checker FILE``.

Standard library only; shares no code with the program that wrote the file, nor with rfcheck, the checker in C.
One line is printed: ``accepted ...`` (exit status 0), ``rejected line N: why`` (1), or ``malformed line N: why`` (2).
The first line with a problem decides; on one line, syntax comes before checks. There is no rounding and no tolerance.

Numbers are pairs (m, e): m 2^e, a dyadic; m is an integer, or a Fraction where the file has one that is not dyadic.
Vectors are pairs (list of m, e) with one exponent for all entries, so that adding a multiple is one shift.
"""

import re
import sys
from fractions import Fraction
from functools import reduce

NUMBER = re.compile(r"(-?)(?:0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]{1,9})|([0-9]+)(?:/([0-9]+))?)\Z")
INDEX = re.compile(r"[0-9]{1,9}\Z")
CLAIMS = ("optimum", "infeasible", "separable", "inseparable", "kkt")
LENGTH = "the line is too short or too long"
ZERO, ONE = (0, 0), (1, 0)

class Verdict(Exception):
    """(exit status, why): 1, a check of the proof fails; 2, the text is no proof file."""

def require(holds, why, status=1):
    if not holds:
        raise Verdict(status, why)
    return holds

def expected(holds, why): return require(holds, why, 2)

# ---- exact numbers ---------------------------------------------------------------------------------------------------
def shift(m, bits): return m << bits if isinstance(m, int) else m * (1 << bits)  # bits >= 0; an integer stays one
def add(a, b): return (a[0] + shift(b[0], b[1] - a[1]), a[1]) if a[1] <= b[1] else (shift(a[0], a[1] - b[1]) + b[0], b[1])
def mul(a, b): return (a[0] * b[0], a[1] + b[1])
def signed(sign, a): return a if sign > 0 else (-a[0], a[1])
def sub(a, b): return add(a, signed(-1, b))
def at_most(a, b): return sub(a, b)[0] <= 0
def dot(v, w): return (sum(a * b for a, b in zip(v[0], w[0])), v[1] + w[1])
def bounds_norm(rho, v): return rho[0] >= 0 and at_most(dot(v, v), mul(rho, rho))  # rho >= |v|, without a square root
def total(numbers): return reduce(add, numbers, ZERO)

# ---- text: numbers, signs, terms -------------------------------------------------------------------------------------
def index(text): return int(expected(INDEX.match(text), "not an index")[0])
def sign_of(text, signs=("+1", "-1")): return expected(text in signs, "not a sign") - 2 * signs.index(text)

def parse(text):
    """A hexadecimal float as %a prints it, an integer, or a fraction p/q with q > 0."""
    match = expected(len(text) <= 20000 and NUMBER.match(text), "not a number")
    sign, whole, part, exponent, p, q = match.groups()
    if whole:
        m, e = int(whole + (part or ""), 16), int(exponent)
        expected(abs(e) <= 20000, "not a number")
        zeros = (m & -m).bit_length() - 1 if m else 0
        return signed(-1 if sign else 1, (m >> zeros, e - 4 * len(part or "") + zeros)) if m else ZERO
    expected(not q or int(q) > 0, "not a number")
    value = Fraction(int(sign + p), int(q or 1))
    return (value.numerator if value.denominator == 1 else value, 0)

def vector(numbers):
    e = min(n[1] for n in numbers)
    return ([shift(n[0], n[1] - e) for n in numbers], e)

def plus(v, c, x):
    """v + c x for vectors v, x and a number c"""
    if not c[0]:
        return v
    low = min(c[1] + x[1], v[1])
    c, mine = shift(c[0], c[1] + x[1] - low), v[1] - low
    old = [shift(a, mine) for a in v[0]] if mine else v[0]
    return ([a + c * b for a, b in zip(old, x[0])], low)

def decimal(r, up):
    """17 digits of r, rounded down or up; positional for 1e-5 <= |r| < 1e17."""
    value, digits = Fraction(r[0]) * (Fraction(2) ** r[1]), 0
    k = len(str(abs(value.numerator))) - len(str(value.denominator)) + 2
    while value and abs(digits) < 10**16:
        k -= 1
        scaled = value * Fraction(10) ** (16 - k)
        digits = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    scientific = k < -5 or k >= 17
    text = "0" * (-k if k < 0 and not scientific else 0) + str(abs(digits))
    whole = 1 if scientific or k < 0 else k + 1
    text = ("-" if digits < 0 else "") + text[:whole] + ("." + text[whole:] if text[whole:] else "")
    return text + (f"e{k:+03d}" if scientific else "")

def terms(tokens):
    """(kind, index, numbers) of i:a, i:a:b ("") and @i:a ("@"); a colon too many is part of the last number."""
    found = []
    for text in tokens:
        kind, parts = ("@", text[1:].split(":")) if text[:1] == "@" else ("", text.split(":"))
        expected(len(parts) == 2 or (len(parts) > 2 and not kind), "not a term")
        expected(len(parts) <= 3, "not a number")
        found.append((kind, index(parts[0]), [parse(part) for part in parts[1:]]))
    return found

class Tree:
    """tree s: no u with |u| <= 1 has F(u) > T, where F(u) = s sum lambda_i y_i phi(u.x_i)."""
    def __init__(self, data, weight, tau, s):
        self.data, self.weight, self.tau, self.n, self.x = data, weight, tau, data.n, data.x
        self.small = [mul(data.leak, w) for w in weight]
        self.kind = [s * y for y in data.y]  # 1: own, -1: opposite
        self.side, self.high, self.low = [0] * data.n, [None] * data.n, [None] * data.n  # of z_i = u.x_i on the path
        self.caps, self.path = [], []  # path: (sample, its bounds before, number of caps, whether a second child comes)

    def rule_norm(self, v, rho, multipliers):
        """Rule N: v.u <= rho - sum mu_k b_k, given |r| <= rho for r = v + sum c_j sigma_j x_j + sum mu_k a_k:
        |u| <= 1, sigma_j z_j >= 0 and a_k.u >= b_k hold on this node, and multipliers are >= 0."""
        bound = rho
        for kind, i, values in multipliers:
            require(len(values) == 1 and values[0][0] >= 0, "a multiplier is one number >= 0")
            require(i < (len(self.caps) if kind else self.n), "no such sample, or no such cap on this path")
            require(kind or self.side[i] != 0, "the side of a sample is not known here")
            a, b = self.caps[i] if kind else (self.x[i], ZERO)
            v, bound = plus(v, signed(1 if kind else self.side[i], values[0]), a), sub(bound, mul(values[0], b))
        require(bounds_norm(rho, v), "rho is less than the norm")
        return bound

    def slope(self, i, values):
        """One term of rule E. Own: a chord above the convex lambda phi at both ends of its range is above it between.
        Opposite: -lambda phi(z) <= -gamma z for gamma in [alpha lambda, lambda]."""
        gamma, low, high, least, most = values[0], self.low[i], self.high[i], self.small[i], self.weight[i]
        if self.kind[i] < 0:
            require(len(values) == 1, "opposite: i:gamma")
            require(at_most(least, gamma) and at_most(gamma, most), "gamma not in [alpha lambda, lambda]")
            return ZERO
        require(len(values) == 2, "own: i:gamma:e")
        require(self.side[i] == 0 and low and high, "named: own, no side, both bounds known")
        require(add(mul(sub(gamma, most), high), values[1])[0] >= 0, "the chord is too low at h")
        require(add(mul(sub(gamma, least), low), values[1])[0] >= 0, "the chord is too low at l")
        return values[1]

    def rule_envelope(self, named):
        """Rule E: g and C with F(u) <= g.u + C on this node."""
        g, constant, seen = self.data.zero, ZERO, set()
        for kind, i, values in named:
            require(not kind and i < self.n, "no such sample")
            require(self.weight[i][0] > 0 and i not in seen, "named twice, or without weight")
            seen.add(i)
            constant = add(constant, self.slope(i, values))
            g = plus(g, signed(self.kind[i], values[0]), self.x[i])
        for i in range(self.n):
            if self.weight[i][0] and i not in seen:
                require(self.kind[i] < 0 or self.side[i] != 0, "an own sample without a side is not named")
                large = self.kind[i] > 0 and self.side[i] > 0
                g = plus(g, signed(self.kind[i], self.weight[i] if large else self.small[i]), self.x[i])
        return g, constant

    def learn(self, i, side, split=False):
        """A new side (0: only a bound) of sample i, which has none yet; what was known before stays on the path."""
        require(i < self.n and self.side[i] == 0, "no such sample, or it already has a side")
        self.path.append((i, self.low[i], self.high[i], len(self.caps), split))
        self.side[i] = side

    def lemma_bound(self, tokens, sigma):
        """h i H rho ...: z_i <= H; l i L rho ...: z_i >= L. Rule N with v = x_i or -x_i."""
        expected(len(tokens) >= 3, "the line is too short")
        i, bound, rho, multipliers = index(tokens[0]), parse(tokens[1]), parse(tokens[2]), terms(tokens[3:])
        require(i < self.n, "no such sample")
        proved = self.rule_norm(plus(self.data.zero, (sigma, 0), self.x[i]), rho, multipliers)
        require(at_most(proved, signed(sigma, bound)), "the bound is not proved")
        self.learn(i, -sigma if sigma * bound[0] <= 0 else 0)
        (self.high if sigma > 0 else self.low)[i] = bound

    def lemma_maximiser(self, tokens):
        """m i +: at a maximiser u = r/|r|, r = sum coefficient_j (own: x_j, opposite: -x_j), own coefficients fixed by
        their sides where known, all others anything in [alpha lambda, lambda]; x_i.r >= 0 for all of these."""
        expected(len(tokens) == 2, LENGTH)
        i, side, least = index(tokens[0]), sign_of(tokens[1], ("+", "-")), ZERO
        require(i < self.n and self.side[i] == 0, "no such sample, or it already has a side")
        for j in range(self.n):
            if self.weight[j][0]:
                z = signed(self.kind[j] * side, dot(self.x[i], self.x[j]))
                large = self.side[j] > 0 if self.kind[j] > 0 and self.side[j] else z[0] < 0
                least = add(least, mul(z, self.weight[j] if large else self.small[j]))
        require(least[0] >= 0, "the side is not proved")
        self.learn(i, side)

    def close(self, tokens, envelope):
        """e rho ... / ...: F(u) <= g.u + C <= T. n rho ...: 0 = 0.u < 0. No u is left in this node."""
        expected(tokens, "the line is too short")
        rho, tokens = parse(tokens[0]), tokens[1:]
        middle = (tokens + ["/"]).index("/") if envelope else -1
        named = terms(tokens[: max(middle, 0)])
        expected(middle < len(tokens), "the line is too short")
        multipliers = terms(tokens[middle + 1 :])
        g, constant = self.rule_envelope(named) if envelope else (self.data.zero, ZERO)
        bound = self.rule_norm(g, rho, multipliers)
        require(at_most(add(bound, constant), self.tau) if envelope else bound[0] < 0, "the node is not closed")
        while self.path:  # back to the last split whose second child is still to come; False: the tree is done
            i, self.low[i], self.high[i], caps, split = self.path.pop()
            self.side[i] = 0
            if split:
                del self.caps[caps:]
                self.learn(i, -1)
                return True
        return False

    def check(self, line):
        for word, *tokens in iter(line, None):
            if word in ("h", "l"):
                self.lemma_bound(tokens, 1 if word == "h" else -1)
            elif word == "m":
                self.lemma_maximiser(tokens)
            elif word == "c":  # T < F(u) <= g.u + C, so g.u >= T - C
                g, constant = self.rule_envelope(terms(tokens))
                self.caps.append((g, sub(self.tau, constant)))
            elif word == "s":  # this node is z_i >= 0; z_i <= 0 comes when it is done
                expected(len(tokens) == 1, LENGTH)
                self.learn(index(tokens[0]), 1, split=True)
            else:
                expected(word in ("e", "n"), "not a statement of a tree")
                if not self.close(tokens, word == "e"):
                    return

class Proof:
    """The file: its lines, its head (the only sign that a may have; 0: both), and one method per claim."""
    def __init__(self, file):
        self.file, self.number, self.tokens, self.only, self.x, self.y = file, 0, [], 0, [], []

    def line(self):
        """The tokens of the next line that is no comment: printable ASCII, separated by one space."""
        raw = b"#"
        while raw[:1] == b"#":
            self.number += 1
            raw = self.file.readline()
            expected(raw, "the file ends before qed")
        raw = raw[:-1] if raw[-1:] == b"\n" else raw
        expected(all(32 <= byte <= 126 for byte in raw), "a character that is not printable ASCII")
        self.tokens = raw.decode("ascii").split(" ")
        expected("" not in self.tokens, "tokens are separated by one space")
        return self.tokens

    def expect(self, *words, count=1):
        """What follows the first token, which is one of `words`: `count` tokens, unless that is None."""
        tokens = self.line()
        expected(tokens[0] in words, "not the statement that belongs here")
        expected(count is None or len(tokens) == count + 1, LENGTH)
        return tokens[1:]

    def numbers(self, word, count=1): return [parse(text) for text in self.expect(word, count=count)]
    def head(self):
        expected(self.expect("reluflow-proof") == ["1"], "not version 1")
        (claim,) = self.expect("claim")
        expected(claim in CLAIMS, "no such claim")
        (self.leak,) = self.numbers("leak")
        require(at_most(ZERO, self.leak) and at_most(self.leak, ONE), "the leak is not in [0, 1]")
        signs = self.expect("signs")[0] if claim in CLAIMS[:2] else "both"
        self.only = 0 if signs == "both" else sign_of(signs, ("+", "-"))
        self.n, self.d = (index(text) for text in self.expect("data", count=2))
        expected(self.n >= 1 and self.d >= 1, "no data")
        for _ in range(self.n):
            label, *row = self.expect("x", count=self.d + 1)
            self.y.append(sign_of(label))
            self.x.append(vector([parse(text) for text in row]))
        self.zero = ([0] * self.d, 0)
        return claim

    def neuron(self, i, w):  # y_i phi(w.x_i)
        z = dot(w, self.x[i])
        return signed(self.y[i], mul(z, self.leak) if z[0] < 0 else z)

    def weights(self, values, some=False, vanish=False):
        """Multipliers >= 0, `some` of them > 0; their sum, and that of multiplier_i y_i x_i, which must `vanish`."""
        require(all(value[0] >= 0 for value in values), "a multiplier is negative")
        require(not some or any(value[0] for value in values), "all multipliers are 0")
        rows = reduce(lambda sum, i: plus(sum, signed(self.y[i], values[i]), self.x[i]), range(self.n), self.zero)
        require(not vanish or not any(rows[0]), "the weighted sum of the rows is not 0")
        return total(values), rows

    def trees(self, weight, tau):
        for s in (self.only,) if self.only else (1, -1):
            expected(sign_of(self.expect("tree")[0]) == s, "the tree of the other sign")
            Tree(self, weight, tau, s).check(self.line)

    def network(self):
        """U: with mu the least margin, sum |u_k| / mu <= sum rho_k / mu <= U."""
        upper, q, length = parse(self.tokens[1]), [ZERO] * self.n, ZERO
        for _ in range(index(self.expect("neurons")[0])):
            first, *numbers = self.expect("u", count=self.d + 2)
            s, numbers = sign_of(first), [parse(text) for text in numbers]
            u, rho = vector(numbers[:-1]), numbers[-1]
            require(not self.only or s == self.only, "a neuron of a sign that is not allowed")
            require(bounds_norm(rho, u), "rho is less than the norm")
            length = add(length, rho)
            q = [add(q[i], signed(s, self.neuron(i, u))) for i in range(self.n)]
        for margin in q:
            require(margin[0] > 0, "the network does not separate the data")
            require(at_most(length, mul(upper, margin)), "the network is longer than U")
        return upper

    def optimum(self):
        """sum lambda <= sum_i lambda_i y_i f(x_i) = sum_k F(u_k) <= T sum |u_k| for margins >= 1."""
        self.expect("upper", "lower")
        upper = self.network() if self.tokens[0] == "upper" else None
        lower = self.numbers("lower")[0] if upper else parse(self.tokens[1])
        (tau,) = self.numbers("tau")
        require(tau[0] > 0, "tau is not positive")
        weight = self.numbers("lambda", self.n)
        require(at_most(mul(lower, tau), self.weights(weight)[0]), "the sum of lambda is less than L T")
        self.trees(weight, tau)
        return f"optimum {decimal(lower, False)} <= V" + (f" <= {decimal(upper, True)}" if upper else "")

    def separable(self):
        """Every unit w has min_i y_i w.x_i <= w.(sum alpha_i y_i x_i)/A <= rho2/A; the one given reaches L."""
        *w, rho = self.numbers("w", self.d + 1)
        w = vector(w)
        require(rho[0] > 0 and bounds_norm(rho, w), "rho is not positive or less than the norm")
        (lower,) = self.numbers("lower")
        require(lower[0] > 0, "L is not positive")
        for x, y in zip(self.x, self.y):
            require(at_most(mul(lower, rho), signed(y, dot(w, x))), "w has a smaller margin than L")
        (upper,) = self.numbers("upper")
        *weight, rho = self.numbers("alpha", self.n + 1)
        length, rows = self.weights(weight, some=True)
        require(bounds_norm(rho, rows), "rho is less than the norm")
        require(at_most(rho, mul(upper, length)), "U is not proved")
        return f"separable {decimal(lower, False)} <= margin <= {decimal(upper, True)}"

    def inseparable(self):
        """sum alpha_i y_i x_i = 0, alpha >= 0 not all 0: no w has every y_i w.x_i > 0."""
        self.weights(self.numbers("alpha", self.n), some=True, vanish=True)
        return "inseparable"

    def infeasible(self):
        """sum_i f_i y_i phi(u.x_i) = 0 for every u: sum f_i y_i x_i = 0 and, unless phi is linear, sum f_i y_i |x_i| = 0
        on each line through 0 (the |u.v| of different lines are independent). One sign of a: by a tree."""
        weight, lines = self.numbers("farkas", self.n), {}
        self.weights(weight, some=True, vanish=not self.only)
        if self.only:
            self.trees(weight, ZERO)
            return "infeasible"
        for w, y, (entries, e) in zip(weight, self.y, self.x):
            if w[0] and any(entries):  # the line: the row divided by its first entry that is not 0
                pivot = next(entry for entry in entries if entry)
                line = tuple(Fraction(entry) / pivot for entry in entries)
                lines[line] = add(lines.get(line, ZERO), mul(signed(y, w), (abs(pivot), e)))
        require(at_most(ONE, self.leak) or not any(s[0] for s in lines.values()), "the sum over a line is not 0")
        return "infeasible"

    def kkt(self):
        """theta = (w_k, a_k): q_i = y_i f(x_i) >= 1, |residual| <= E |theta|, 2 sum lambda_i (q_i - 1) <= D |theta|^2."""
        network, size, q, square, kink = [], ZERO, [ZERO] * self.n, ZERO, None
        for _ in range(index(self.expect("network")[0])):
            a, *w = self.numbers("n", self.d + 1)
            w = vector(w)
            network.append((a, w))
            size = add(size, add(mul(a, a), dot(w, w)))
            q = [add(q[i], mul(a, self.neuron(i, w))) for i in range(self.n)]
        require(all(at_most(ONE, margin) for margin in q), "a margin is less than 1")
        (epsilon,), (delta,) = self.numbers("epsilon"), self.numbers("delta")
        tokens = self.expect("kink", "lambda", count=None)
        if self.tokens[0] == "kink":
            expected(len(tokens) == 1, LENGTH)
            kink, tokens = parse(tokens[0]), self.expect("lambda", count=None)
        weight = [parse(text) for text in expected(len(tokens) == self.n and tokens, LENGTH)]
        self.weights(weight)
        require(min(epsilon[0], delta[0], (kink or ZERO)[0]) >= 0, "a bound is negative")
        slack = total(mul(value, sub(margin, ONE)) for value, margin in zip(weight, q))
        require(at_most(add(slack, slack), mul(delta, size)), "complementarity is above delta")
        self.expect("slopes", count=0)
        for a, w in network:
            width, residual, rest = mul(mul(kink, kink), dot(w, w)) if kink else ZERO, plus(self.zero, ONE, w), a
            for i, (h, x) in enumerate(zip(self.numbers("h", self.n), self.x)):
                z = dot(w, x)
                exact = sub(h, ONE if z[0] > 0 else self.leak)[0] == 0
                require(exact or at_most(mul(z, z), mul(width, dot(x, x))), "a slope is wrong away from a kink")
                require(at_most(self.leak, h) and at_most(h, ONE), "a slope outside [alpha, 1]")
                residual = plus(residual, signed(-self.y[i], mul(weight[i], mul(a, h))), x)
                rest = sub(rest, mul(weight[i], self.neuron(i, w)))
            square = add(square, add(dot(residual, residual), mul(rest, rest)))
        require(at_most(square, mul(mul(epsilon, epsilon), size)), "stationarity is above epsilon")
        tail = f", kinks within {decimal(kink, True)}" if kink else ""
        return f"kkt stationarity <= {decimal(epsilon, True)}, complementarity <= {decimal(delta, True)}{tail}"

def check(file):
    """The verdict on an open binary file: (exit status, line)."""
    proof = Proof(file)
    try:
        verdict = getattr(proof, proof.head())()
        proof.expect("qed", count=0)
        proof.number += 1
        expected(not file.read(1), "something follows qed")
        return 0, "accepted " + verdict
    except Verdict as error:
        return error.args[0], f"{('rejected', 'malformed')[error.args[0] - 1]} line {proof.number}: {error.args[1]}"

def main(arguments):
    getattr(sys, "set_int_max_str_digits", int)(0)
    try:
        with open(arguments[0] if len(arguments) == 1 else "", "rb") as file:
            status, line = check(file)
    except OSError:
        status, why = 2, "the file cannot be read" if len(arguments) == 1 else "usage: checker FILE"
        line = "malformed line 0: " + why
    print(line)
    return status

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
