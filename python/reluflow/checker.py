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

HEXADECIMAL = re.compile(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]{1,9})\Z")
FRACTION = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?\Z")
INDEX = re.compile(r"[0-9]{1,9}\Z")
CLAIMS = ("optimum", "infeasible", "separable", "inseparable", "kkt")
ZERO, ONE = (0, 0), (1, 0)


class Rejected(Exception):
    """A check fails."""


class Malformed(Exception):
    """Not a proof file."""


def require(holds, why):
    """A check of the proof."""
    if not holds:
        raise Rejected(why)


def expected(holds, why):
    """A check of the text."""
    if not holds:
        raise Malformed(why)


# ---- exact numbers ---------------------------------------------------------------------------------------------------


def shift(m, bits):
    """m 2^bits, bits >= 0; an integer stays one."""
    return m << bits if isinstance(m, int) else m * (1 << bits)


def add(a, b):
    if a[1] < b[1]:
        a, b = b, a
    return (shift(a[0], a[1] - b[1]) + b[0], b[1]) if a[0] else b


def negative(a):
    return (-a[0], a[1])


def sub(a, b):
    return add(a, negative(b))


def mul(a, b):
    return (a[0] * b[0], a[1] + b[1])


def at_most(a, b):
    """a <= b"""
    return sub(a, b)[0] <= 0


def simple(m):
    """A Fraction that is an integer, as an integer."""
    return m.numerator if isinstance(m, Fraction) and m.denominator == 1 else m


def parse(text):
    """A hexadecimal float as %a prints it, an integer, or a fraction p/q with q > 0."""
    expected(len(text) <= 20000, "not a number")
    match = HEXADECIMAL.match(text)
    if match:
        sign, whole, part, exponent = match.groups()
        m, e = int(whole + (part or ""), 16), int(exponent)
        expected(abs(e) <= 20000, "not a number")
        e -= 4 * len(part or "")
        zeros = (m & -m).bit_length() - 1 if m else 0
        return (-(m >> zeros) if sign else m >> zeros, e + zeros) if m else ZERO
    match = FRACTION.match(text)
    expected(match and (not match.group(2) or int(match.group(2)) > 0), "not a number")
    return (simple(Fraction(int(match.group(1)), int(match.group(2) or 1))), 0)


def vector_of(numbers):
    e = min(n[1] for n in numbers)
    return ([shift(n[0], n[1] - e) for n in numbers], e)


def plus(v, c, x):
    """v + c x for vectors v, x and a number c."""
    if not c[0]:
        return v
    e = c[1] + x[1]
    low = min(e, v[1])
    c, mine = shift(c[0], e - low), v[1] - low
    old = [shift(a, mine) for a in v[0]] if mine else v[0]
    return ([a + c * b for a, b in zip(old, x[0])], low)


def dot(v, w):
    return (sum(a * b for a, b in zip(v[0], w[0])), v[1] + w[1])


def bounds_norm(rho, v):
    """rho >= |v|, without a square root"""
    return rho[0] >= 0 and at_most(dot(v, v), mul(rho, rho))


def decimal(r, up):
    """17 digits of r, rounded down or up; positional for 1e-5 <= |r| < 1e17."""
    value = Fraction(r[0]) * (Fraction(2) ** r[1])
    if value == 0:
        return "0"
    k = len(str(abs(value.numerator))) - len(str(value.denominator)) + 2
    digits = 0
    while abs(digits) < 10**16:
        k -= 1
        scaled = value * Fraction(10) ** (16 - k)
        digits = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    text = str(abs(digits))
    scientific = k < -5 or k >= 17
    text = "0" * (-k if k < 0 and not scientific else 0) + text
    whole = 1 if scientific or k < 0 else k + 1
    shown = ("-" if digits < 0 else "") + text[:whole] + ("." + text[whole:] if text[whole:] else "")
    return shown + (f"e{k:+03d}" if scientific else "")


# ---- lines and tokens ------------------------------------------------------------------------------------------------


class Reader:
    """Lines of tokens; `number` is the line being read."""

    def __init__(self, file):
        self.file, self.number, self.tokens = file, 0, []

    def line(self):
        """The tokens of the next line that is no comment: printable ASCII, separated by one space."""
        while True:
            self.number += 1
            raw = self.file.readline()
            expected(raw, "the file ends before qed")
            if raw[:1] != b"#":
                break
        raw = raw[:-1] if raw[-1:] == b"\n" else raw
        expected(all(32 <= byte <= 126 for byte in raw), "a character that is not printable ASCII")
        self.tokens = raw.decode("ascii").split(" ")
        expected("" not in self.tokens, "tokens are separated by one space")
        return self.tokens

    def expect(self, *words, count=None):
        """What follows the first token, which is one of `words`; `count` tokens where given."""
        tokens = self.line()
        expected(tokens[0] in words, "not the statement that belongs here")
        expected(count is None or len(tokens) == count + 1, "the line is too short or too long")
        return tokens[1:]

    def number_line(self, word):
        return parse(self.expect(word, count=1)[0])

    def finish(self):
        self.expect("qed", count=0)
        self.number += 1
        expected(not self.file.read(1), "something follows qed")


def index(text):
    expected(INDEX.match(text), "not an index")
    return int(text)


def sign(text, plus_text="+1", minus_text="-1"):
    expected(text in (plus_text, minus_text), "not a sign")
    return 1 if text == plus_text else -1


def terms(tokens):
    """(kind, index, numbers) of i:a, i:a:b ("") and @i:a ("@")."""
    found = []
    for text in tokens:
        kind, parts = ("@", text[1:].split(":")) if text[:1] == "@" else ("", text.split(":"))
        # A colon too many is part of the last number, and then that is none.
        expected(len(parts) == 2 or (len(parts) > 2 and not kind), "not a term")
        expected(len(parts) <= 3, "not a number")
        found.append((kind, index(parts[0]), [parse(part) for part in parts[1:]]))
    return found


# ---- the rules of a tree ---------------------------------------------------------------------------------------------


class Tree:
    """tree s: no u with |u| <= 1 has F(u) > T, where F(u) = s sum lambda_i y_i phi(u.x_i)."""

    def __init__(self, data, weight, tau, s):
        self.data, self.weight, self.tau, self.s = data, weight, tau, s
        self.small = [mul(data.leak, w) for w in weight]
        self.side = [0] * data.n  # of z_i = u.x_i on the present path
        self.high, self.low = [None] * data.n, [None] * data.n
        self.caps = []
        self.path = []  # (sample, its side and bounds before, number of caps, whether a second child is to come)

    def rule_norm(self, v, rho, multipliers):
        """Rule N: v.u <= rho - sum mu_k b_k, given |r| <= rho for r = v + sum c_j sigma_j x_j + sum mu_k a_k:
        |u| <= 1, sigma_j z_j >= 0 and a_k.u >= b_k hold on this node, and multipliers are >= 0."""
        bound = rho
        for kind, i, values in multipliers:
            require(len(values) == 1 and values[0][0] >= 0, "a multiplier is one number >= 0")
            require(i < (len(self.caps) if kind else self.data.n), "no such sample, or no such cap on this path")
            if kind:
                a, b = self.caps[i]
                v, bound = plus(v, values[0], a), sub(bound, mul(values[0], b))
            else:
                require(self.side[i] != 0, "the side of a sample is not known here")
                v = plus(v, values[0] if self.side[i] > 0 else negative(values[0]), self.data.x[i])
        require(bounds_norm(rho, v), "rho is less than the norm")
        return bound

    def slope(self, i, values):
        """One term of rule E. Own: a chord above the convex lambda phi at both ends of its range is above it between.
        Opposite: -lambda phi(z) <= -gamma z for gamma in [alpha lambda, lambda]."""
        gamma = values[0]
        if self.data.y[i] != self.s:
            require(len(values) == 1, "opposite: i:gamma")
            require(at_most(self.small[i], gamma) and at_most(gamma, self.weight[i]), "gamma not in [alpha lambda, lambda]")
            return ZERO
        low, high = self.low[i], self.high[i]
        require(len(values) == 2, "own: i:gamma:e")
        require(self.side[i] == 0 and low is not None and high is not None, "named: own, no side, both bounds known")
        require(add(mul(sub(gamma, self.weight[i]), high), values[1])[0] >= 0, "the chord is too low at h")
        require(add(mul(sub(gamma, self.small[i]), low), values[1])[0] >= 0, "the chord is too low at l")
        return values[1]

    def rule_envelope(self, named):
        """Rule E: g and C with F(u) <= g.u + C on this node."""
        g, constant, seen = self.data.zero, ZERO, set()
        for kind, i, values in named:
            require(not kind and i < self.data.n, "no such sample")
            require(self.weight[i][0] > 0 and i not in seen, "named twice, or without weight")
            seen.add(i)
            constant = add(constant, self.slope(i, values))
            g = plus(g, values[0] if self.data.y[i] == self.s else negative(values[0]), self.data.x[i])
        for i in range(self.data.n):
            if i in seen or not self.weight[i][0]:
                continue
            if self.data.y[i] == self.s:
                require(self.side[i] != 0, "an own sample without a side is not named")
                g = plus(g, self.weight[i] if self.side[i] > 0 else self.small[i], self.data.x[i])
            else:
                g = plus(g, negative(self.small[i]), self.data.x[i])
        return g, constant

    def learn(self, i, split=False):
        """Before a change of what is known of sample i, which has no side yet."""
        require(i < self.data.n and self.side[i] == 0, "no such sample, or it already has a side")
        self.path.append((i, self.low[i], self.high[i], len(self.caps), split))

    def lemma_bound(self, tokens, sigma):
        """h i H rho ...: z_i <= H; l i L rho ...: z_i >= L. Rule N with v = x_i or -x_i."""
        expected(len(tokens) >= 3, "the line is too short")
        i, bound, rho, multipliers = index(tokens[0]), parse(tokens[1]), parse(tokens[2]), terms(tokens[3:])
        require(i < self.data.n, "no such sample")
        v = plus(self.data.zero, (sigma, 0), self.data.x[i])
        proved = self.rule_norm(v, rho, multipliers)
        require(at_most(proved, bound if sigma > 0 else negative(bound)), "the bound is not proved")
        self.learn(i)
        (self.high if sigma > 0 else self.low)[i] = bound
        if sigma * bound[0] <= 0:
            self.side[i] = -sigma

    def lemma_maximiser(self, tokens):
        """m i +: at a maximiser u = r/|r|, r = sum coefficient_j (own: x_j, opposite: -x_j), own coefficients fixed by
        their sides where known, all others anything in [alpha lambda, lambda]; x_i.r >= 0 for all of these."""
        expected(len(tokens) == 2, "the line is too short or too long")
        i, side, least = index(tokens[0]), sign(tokens[1], "+", "-"), ZERO
        self.learn(i)
        for j in range(self.data.n):
            if not self.weight[j][0]:
                continue
            own = self.data.y[j] == self.s
            z = dot(self.data.x[i], self.data.x[j])
            z = z if own == (side > 0) else negative(z)
            known = self.side[j] if own else 0
            large = known > 0 if known else z[0] < 0
            least = add(least, mul(z, self.weight[j] if large else self.small[j]))
        require(least[0] >= 0, "the side is not proved")
        self.side[i] = side

    def close(self, tokens, envelope):
        """e rho ... / ...: F(u) <= g.u + C <= T. n rho ...: 0 = 0.u < 0. No u is left in this node."""
        expected(tokens, "the line is too short")
        rho, tokens, named = parse(tokens[0]), tokens[1:], []
        if envelope:
            middle = tokens.index("/") if "/" in tokens else len(tokens)
            named = terms(tokens[:middle])
            expected(middle < len(tokens), "the line is too short")
            tokens = tokens[middle + 1 :]
        multipliers = terms(tokens)
        g, constant = self.rule_envelope(named) if envelope else (self.data.zero, ZERO)
        bound = self.rule_norm(g, rho, multipliers)
        closed = at_most(add(bound, constant), self.tau) if envelope else bound[0] < 0
        require(closed, "the node is not closed")

    def second_child(self):
        """Back to the last split whose second child is still to come; False: the tree is done."""
        while self.path:
            i, self.low[i], self.high[i], caps, split = self.path.pop()
            self.side[i] = 0
            if split:
                del self.caps[caps:]
                self.learn(i)
                self.side[i] = -1
                return True
        return False

    def check(self, reader):
        expected(sign(reader.expect("tree", count=1)[0]) == self.s, "the tree of the other sign")
        is_open = True
        while is_open:
            word, *tokens = reader.line()
            if word in ("h", "l"):
                self.lemma_bound(tokens, 1 if word == "h" else -1)
            elif word == "m":
                self.lemma_maximiser(tokens)
            elif word == "c":  # T < F(u) <= g.u + C, so g.u >= T - C
                g, constant = self.rule_envelope(terms(tokens))
                self.caps.append((g, sub(self.tau, constant)))
            elif word == "s":  # this node is z_i >= 0; z_i <= 0 comes when it is done
                expected(len(tokens) == 1, "the line is too short or too long")
                i = index(tokens[0])
                self.learn(i, split=True)
                self.side[i] = 1
            elif word in ("e", "n"):
                self.close(tokens, word == "e")
                is_open = self.second_child()
            else:
                raise Malformed("not a statement of a tree")


# ---- claims ----------------------------------------------------------------------------------------------------------


class Data:
    """The head of the file: claim, leak (alpha), signs (the only sign that a may have; 0: both), rows and labels."""

    def __init__(self, reader):
        expected(reader.expect("reluflow-proof", count=1) == ["1"], "not version 1")
        self.claim, self.only, self.x, self.y = reader.expect("claim", count=1)[0], 0, [], []
        expected(self.claim in CLAIMS, "no such claim")
        self.leak = reader.number_line("leak")
        require(at_most(ZERO, self.leak) and at_most(self.leak, ONE), "the leak is not in [0, 1]")
        if self.claim in ("optimum", "infeasible"):
            signs = reader.expect("signs", count=1)[0]
            self.only = 0 if signs == "both" else sign(signs, "+", "-")
        self.n, self.d = (index(text) for text in reader.expect("data", count=2))
        expected(self.n >= 1 and self.d >= 1, "no data")
        for _ in range(self.n):
            label, *row = reader.expect("x", count=self.d + 1)
            self.y.append(sign(label))
            self.x.append(vector_of([parse(text) for text in row]))
        self.zero = ([0] * self.d, 0)

    def neuron(self, i, w):
        """y_i phi(w.x_i)"""
        z = dot(w, self.x[i])
        z = mul(z, self.leak) if z[0] < 0 else z
        return z if self.y[i] > 0 else negative(z)

    def weighted(self, weight):
        """sum_i weight_i y_i x_i"""
        total = self.zero
        for w, y, x in zip(weight, self.y, self.x):
            total = plus(total, w if y > 0 else negative(w), x)
        return total


def weights(tokens):
    values = [parse(text) for text in tokens]
    total = ZERO
    for value in values:
        require(value[0] >= 0, "a multiplier is negative")
        total = add(total, value)
    return values, total


def check_network(data, reader):
    """U: with mu the least margin, sum |u_k| / mu <= sum rho_k / mu <= U."""
    upper = parse(reader.tokens[1])
    q, length = [ZERO] * data.n, ZERO
    for _ in range(index(reader.expect("neurons", count=1)[0])):
        first, *numbers = reader.expect("u", count=data.d + 2)
        s, numbers = sign(first), [parse(text) for text in numbers]
        u, rho = vector_of(numbers[:-1]), numbers[-1]
        require(not data.only or s == data.only, "a neuron of a sign that is not allowed")
        require(bounds_norm(rho, u), "rho is less than the norm")
        length = add(length, rho)
        q = [add(q[i], mul((s, 0), data.neuron(i, u))) for i in range(data.n)]
    for margin in q:
        require(margin[0] > 0, "the network does not separate the data")
        require(at_most(length, mul(upper, margin)), "the network is longer than U")
    return upper


def claim_optimum(data, reader):
    """sum lambda <= sum_i lambda_i y_i f(x_i) = sum_k F(u_k) <= T sum |u_k| for margins >= 1."""
    reader.expect("upper", "lower", count=1)
    upper = check_network(data, reader) if reader.tokens[0] == "upper" else None
    lower = reader.number_line("lower") if upper else parse(reader.tokens[1])
    tau = reader.number_line("tau")
    require(tau[0] > 0, "tau is not positive")
    weight, total = weights(reader.expect("lambda", count=data.n))
    require(at_most(mul(lower, tau), total), "the sum of lambda is less than L T")
    check_trees(data, reader, weight, tau)
    return f"optimum {decimal(lower, False)} <= V" + (f" <= {decimal(upper, True)}" if upper else "")


def check_trees(data, reader, weight, tau):
    for s in (data.only,) if data.only else (1, -1):
        Tree(data, weight, tau, s).check(reader)


def claim_separable(data, reader):
    """Every unit w has min_i y_i w.x_i <= w.(sum alpha_i y_i x_i)/A <= rho2/A; the one given reaches L."""
    *w, rho = (parse(text) for text in reader.expect("w", count=data.d + 1))
    w = vector_of(w)
    require(rho[0] > 0 and bounds_norm(rho, w), "rho is not positive or less than the norm")
    lower = reader.number_line("lower")
    require(lower[0] > 0, "L is not positive")
    for x, y in zip(data.x, data.y):
        require(at_most(mul(lower, rho), mul((y, 0), dot(w, x))), "w has a smaller margin than L")
    upper = reader.number_line("upper")
    tokens = reader.expect("alpha", count=data.n + 1)
    rho = parse(tokens[-1])
    weight, total = weights(tokens[:-1])
    require(total[0] > 0, "all multipliers are 0")
    require(bounds_norm(rho, data.weighted(weight)), "rho is less than the norm")
    require(at_most(rho, mul(upper, total)), "U is not proved")
    return f"separable {decimal(lower, False)} <= margin <= {decimal(upper, True)}"


def claim_inseparable(data, reader):
    """sum alpha_i y_i x_i = 0, alpha >= 0 not all 0: no w has every y_i w.x_i > 0."""
    weight, total = weights(reader.expect("alpha", count=data.n))
    require(total[0] > 0, "all multipliers are 0")
    require(not any(data.weighted(weight)[0]), "the weighted sum of the rows is not 0")
    return "inseparable"


def claim_infeasible(data, reader):
    """sum_i f_i y_i phi(u.x_i) = 0 for every u: sum f_i y_i x_i = 0 and, unless phi is linear, the sum of f_i y_i |x_i|
    over the rows of each line through 0 (the |u.v| of different lines are independent). One sign s of a: a tree."""
    weight, total = weights(reader.expect("farkas", count=data.n))
    require(total[0] > 0, "all multipliers are 0")
    if data.only:
        check_trees(data, reader, weight, ZERO)
        return "infeasible"
    require(not any(data.weighted(weight)[0]), "the weighted sum of the rows is not 0")
    lines = {}
    for w, y, (entries, e) in zip(weight, data.y, data.x):
        if w[0] and any(entries):  # the line: the row divided by its first entry that is not 0
            pivot = next(entry for entry in entries if entry)
            line = tuple(Fraction(entry) / pivot for entry in entries)
            lines[line] = add(lines.get(line, ZERO), mul(mul((y, 0), w), (abs(pivot), e)))
    linear = at_most(ONE, data.leak)
    require(linear or not any(value[0] for value in lines.values()), "the sum over a line is not 0")
    return "infeasible"


def claim_kkt(data, reader):
    """theta = (w_k, a_k): q_i = y_i f(x_i) >= 1, |residual| <= E |theta|, 2 sum lambda_i (q_i - 1) <= D |theta|^2."""
    network, size, q, square = [], ZERO, [ZERO] * data.n, ZERO
    for _ in range(index(reader.expect("network", count=1)[0])):
        a, *w = (parse(text) for text in reader.expect("n", count=data.d + 1))
        w = vector_of(w)
        network.append((a, w))
        size = add(size, add(mul(a, a), dot(w, w)))
        q = [add(q[i], mul(a, data.neuron(i, w))) for i in range(data.n)]
    require(all(at_most(ONE, margin) for margin in q), "a margin is less than 1")
    epsilon, delta, kink = reader.number_line("epsilon"), reader.number_line("delta"), None
    tokens = reader.expect("kink", "lambda")
    if reader.tokens[0] == "kink":
        expected(len(tokens) == 1, "the line is too short or too long")
        kink, tokens = parse(tokens[0]), reader.expect("lambda")
    expected(len(tokens) == data.n, "the line is too short or too long")
    weight, _ = weights(tokens)
    require(min(epsilon[0], delta[0], (kink or ZERO)[0]) >= 0, "a bound is negative")
    slack = ZERO
    for i in range(data.n):
        slack = add(slack, mul(weight[i], sub(q[i], ONE)))
    require(at_most(add(slack, slack), mul(delta, size)), "complementarity is above delta")
    reader.expect("slopes", count=0)
    for a, w in network:
        slopes, rest = [parse(text) for text in reader.expect("h", count=data.n)], a
        width, residual = mul(mul(kink, kink), dot(w, w)) if kink else ZERO, plus(data.zero, ONE, w)
        for i, h in enumerate(slopes):
            z, x = dot(w, data.x[i]), data.x[i]
            exact = sub(h, ONE if z[0] > 0 else data.leak)[0] == 0
            require(exact or at_most(mul(z, z), mul(width, dot(x, x))), "a slope is wrong away from a kink")
            require(at_most(data.leak, h) and at_most(h, ONE), "a slope outside [alpha, 1]")
            residual = plus(residual, mul(mul((-data.y[i], 0), weight[i]), mul(a, h)), x)
            rest = sub(rest, mul(weight[i], data.neuron(i, w)))
        square = add(square, add(dot(residual, residual), mul(rest, rest)))
    require(at_most(square, mul(mul(epsilon, epsilon), size)), "stationarity is above epsilon")
    tail = f", kinks within {decimal(kink, True)}" if kink else ""
    return f"kkt stationarity <= {decimal(epsilon, True)}, complementarity <= {decimal(delta, True)}{tail}"


def check(file):
    """The verdict on an open binary file: (exit status, line)."""
    reader = Reader(file)
    try:
        data = Data(reader)
        verdict = globals()["claim_" + data.claim](data, reader)
        reader.finish()
        return 0, "accepted " + verdict
    except Rejected as why:
        return 1, f"rejected line {reader.number}: {why}"
    except Malformed as why:
        return 2, f"malformed line {reader.number}: {why}"


def main(arguments):
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    try:
        with open(arguments[0] if len(arguments) == 1 else "", "rb") as file:
            status, line = check(file)
    except OSError:
        status, line = 2, "malformed line 0: " + ("the file cannot be read" if len(arguments) == 1 else "usage: checker FILE")
    print(line)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
