"""Small proof files of every kind of claim, made without the solver: random data, a naive search in doubles, and
rational arithmetic for the numbers that must be right. Used by mutations.py."""

import math
from fractions import Fraction as F


def text(value):
    """A number of the format that is exactly `value`."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, F):
        return str(value)
    return float(value).hex()


def exact(value):
    return F(value)


def above_root(square):
    """A double >= sqrt(square)."""
    guess = math.sqrt(square) if square > 0 else 0.0
    while F(guess) ** 2 < square:
        guess = math.nextafter(guess, math.inf)
    return guess


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def phi(z, leak):
    return z if z > 0 else leak * z


def bounded_least_squares(base, columns, low, high, start):
    """min |base + sum t_k column_k| over low <= t <= high by coordinate descent; t."""
    t = list(start)
    r = [b + sum(t[k] * column[j] for k, column in enumerate(columns)) for j, b in enumerate(base)]
    for _ in range(200):
        for k, column in enumerate(columns):
            size = dot(column, column)
            if size == 0:
                continue
            new = min(high[k], max(low[k], t[k] - dot(column, r) / size))
            if new != t[k]:
                r = [a + (new - t[k]) * b for a, b in zip(r, column)]
                t[k] = new
    return t


class Problem:
    """Data that a random network fits, multipliers, and one tree per sign."""

    def __init__(self, rng, claim="optimum"):
        self.rng, self.claim = rng, claim
        self.d = rng.choice((1, 2, 2, 2, 3))
        self.n = rng.randint(2, 6)
        self.leak = rng.choice((F(0), F(0), F(1, 8), F(1, 3), F(1, 2), F(1)))
        self.only = rng.choice((0, 0, 0, 1, -1)) if self.leak < 1 else 0
        self.network = [([rng.choice((-2.0, -1.0, 1.0, 0.5, 1.5)) for _ in range(self.d)], self.only or (-1) ** k)
                        for k in range(rng.randint(1, 3))]
        self.x, self.y = [], []
        for tried in range(1000):
            if len(self.x) == self.n:
                break
            row = [float(rng.randint(-8, 8)) / rng.choice((1, 1, 2, 3, 7)) for _ in range(self.d)]
            value = self.output(row)
            if abs(value) > F(1, 4):
                self.x.append(row)
                self.y.append(1 if value > 0 else -1)
        if not self.x:  # a network that is 0 everywhere
            raise ValueError("no data")
        self.n = len(self.x)
        self.weight = [rng.choice((0.0, rng.random(), rng.random(), 1.0)) for _ in range(self.n)]
        if not any(self.weight):
            self.weight[0] = 1.0

    def output(self, row):
        return sum(s * phi(dot(map(exact, u), map(exact, row)), self.leak) for u, s in self.network)

    def head(self, claim, signs=True):
        lines = ["reluflow-proof 1", "claim " + claim, "# made by a test", "leak " + text(self.leak)]
        if signs:
            lines.append("signs " + {0: "both", 1: "+", -1: "-"}[self.only])
        lines.append(f"data {self.n} {self.d}")
        return lines + [" ".join(["x", f"{y:+d}"] + [text(v) for v in row]) for row, y in zip(self.x, self.y)]


class Tree:
    """Refutes F(u) > T for the sign s by splitting, with whatever lemmas the dice ask for."""

    def __init__(self, problem, s, tau, weight):
        self.p, self.s, self.tau, self.w = problem, s, tau, weight
        self.leak = problem.leak
        self.own = [i for i in range(problem.n) if weight[i] and problem.y[i] == s]
        self.opposite = [i for i in range(problem.n) if weight[i] and problem.y[i] != s]
        self.lines = [f"tree {s:+d}"]

    def remainder(self, v, sides, caps, c, mu):
        """Exact r of rule N and a rho above its norm."""
        r = [exact(a) for a in v]
        for (j, side), value in zip(sorted(sides.items()), c):
            r = [a + F(value) * side * F(b) for a, b in zip(r, self.p.x[j])]
        for (a_k, _), value in zip(caps, mu):
            r = [a + F(value) * b for a, b in zip(r, a_k)]
        return above_root(dot(r, r))

    def multipliers(self, v, sides, caps):
        """c, mu, rho and the bound rho - sum mu b for v.u."""
        columns = [[side * b for b in self.p.x[j]] for j, side in sorted(sides.items())]
        columns += [[float(b) for b in a] for a, _ in caps]
        t = bounded_least_squares([float(a) for a in v], columns, [0] * len(columns), [math.inf] * len(columns),
                                  [0.0] * len(columns))
        c, mu = t[: len(sides)], t[len(sides) :]
        if sum(m * float(b) for m, (_, b) in zip(mu, caps)) < 0 or self.p.rng.random() < 0.5:
            mu = [0.0] * len(caps)
        rho = self.remainder(v, sides, caps, c, mu)
        return c, mu, rho, F(rho) - sum(F(m) * b for m, (_, b) in zip(mu, caps))

    def named(self, sides, c, mu):
        words = [f"{j}:{text(value)}" for (j, _), value in zip(sorted(sides.items()), c) if value]
        return words + [f"@{k}:{text(value)}" for k, value in enumerate(mu) if value]

    def bounds(self, i, sides, caps):
        """Lemmas h and l of a free own sample; its exact range (None: it got a side)."""
        found = []
        for sigma in (1, -1):
            v = [sigma * a for a in self.p.x[i]]
            c, mu, rho, bound = self.multipliers(v, sides, caps)
            shown = float(bound)
            while F(shown) < bound:
                shown = math.nextafter(shown, math.inf)
            if shown <= 0 and not any(c) and not any(mu):
                shown = max(shown, 5e-324)
            words = self.named(sides, c, mu)
            self.lines.append(" ".join(["h" if sigma > 0 else "l", str(i), text(sigma * shown), text(rho)] + words))
            if shown <= 0:
                sides[i] = -sigma
                return None
            found.append(sigma * F(shown))
        return found[1], found[0]

    def envelope(self, sides, caps):
        """Rule E: (exact g, exact C, words)."""
        g, constant, words = [F(0)] * self.p.d, F(0), []
        for i in self.own:
            w = F(self.w[i])
            if i not in sides:
                span = self.bounds(i, sides, caps)
                if span:
                    low, high = span
                    gamma = F(float(w * (high - self.leak * low) / (high - low)))
                    e = max((self.leak * w - gamma) * low, (w - gamma) * high)
                    words.append(f"{i}:{text(float(gamma))}:{text(e)}")
                    constant += e
            if i in sides:
                gamma = w if sides[i] > 0 else self.leak * w
            g = [a + gamma * F(b) for a, b in zip(g, self.p.x[i])]
        columns = [[-b for b in self.p.x[i]] for i in self.opposite]
        columns += [[side * b for b in self.p.x[j]] for j, side in sorted(sides.items())]
        low = [float(self.leak) * self.w[i] for i in self.opposite] + [0.0] * len(sides)
        high = [self.w[i] for i in self.opposite] + [math.inf] * len(sides)
        t = bounded_least_squares([float(a) for a in g], columns, low, high, low)
        for i, gamma in zip(self.opposite, t):
            lowest = self.leak * F(self.w[i])
            gamma = min(F(self.w[i]), max(lowest, F(gamma)))
            if gamma != lowest:
                words.append(f"{i}:{text(gamma) if gamma.denominator == 3 else text(float(gamma))}")
                gamma = F(float(gamma)) if gamma.denominator != 3 else gamma
            g = [a - gamma * F(b) for a, b in zip(g, self.p.x[i])]
        return g, constant, words

    def maximiser(self, i, side, sides):
        """Whether lemma m gives sample i this side."""
        least = F(0)
        for j in self.own + self.opposite:
            z = dot(map(F, self.p.x[i]), map(F, self.p.x[j])) * side * (1 if j in self.own else -1)
            known = sides.get(j, 0) if j in self.own else 0
            w = F(self.w[j])
            least += z * (w if (known > 0 if known else z < 0) else self.leak * w)
        return least >= 0

    def node(self, sides, caps):
        rng, sides, caps = self.p.rng, dict(sides), list(caps)
        if rng.random() < 0.7:
            for i in range(self.p.n):
                for side in (1, -1):
                    if i not in sides and rng.random() < 0.6 and self.maximiser(i, side, sides):
                        self.lines.append(f"m {i} {'+' if side > 0 else '-'}")
                        sides[i] = side
        if rng.random() < 0.5:
            g, constant, words = self.envelope(sides, caps)
            self.lines.append(" ".join(["c"] + words))
            caps.append((g, self.tau - constant))
            c, mu, rho, bound = self.multipliers([0] * self.p.d, sides, [])
            t = bounded_least_squares([float(a) for a in g], [[s * b for b in self.p.x[j]] for j, s in sorted(sides.items())],
                                      [0.0] * len(sides), [math.inf] * len(sides), [0.0] * len(sides))
            mu = [0.0] * (len(caps) - 1) + [1.0]
            rho = self.remainder([0] * self.p.d, sides, caps, t, mu)
            if F(rho) < caps[-1][1]:
                self.lines.append(" ".join(["n", text(rho)] + self.named(sides, t, mu)))
                return
        g, constant, words = self.envelope(sides, caps)
        c, mu, rho, bound = self.multipliers(g, sides, caps)
        if bound + constant <= self.tau:
            self.lines.append(" ".join(["e", text(rho)] + words + ["/"] + self.named(sides, c, mu)))
            return
        free = [i for i in self.own if i not in sides] or [i for i in range(self.p.n) if i not in sides]
        if not free:
            raise ValueError("the tree does not close")
        i = rng.choice(free)
        self.lines.append(f"s {i}")
        self.node({**sides, i: 1}, caps)
        self.node({**sides, i: -1}, caps)


def largest(x, y, s, weight, leak, d, rng):
    """max of F over the unit ball, from below: rays, gradients of the cells around them, and ascent from random starts."""
    rows = [[float(v) for v in row] for row in x]
    scale = [float(w) * s * label for w, label in zip(weight, y)]
    leak = float(leak)

    def value(u):
        size = math.sqrt(dot(u, u)) or 1.0
        return sum(c * phi(dot(u, row) / size, leak) for c, row in zip(scale, rows))

    def gradient(u):
        g = [0.0] * d
        for c, row in zip(scale, rows):
            slope = c * (1.0 if dot(u, row) > 0 else leak)
            g = [a + slope * b for a, b in zip(g, row)]
        return g

    starts = [[float(k == j) * sign for k in range(d)] for j in range(d) for sign in (1, -1)]
    starts += [[rng.gauss(0, 1) for _ in range(d)] for _ in range(30)]
    if d == 2:
        for row in rows:
            for turn in (1, -1):
                starts += [[-turn * row[1] + t * row[0], turn * row[0] + t * row[1]] for t in (0.0, 1e-7, -1e-7)]
    best = 0.0
    for u in starts:
        for _ in range(12):
            best = max(best, value(u))
            u = gradient(u)
            if not any(u):
                break
    return best


def optimum(rng):
    p = Problem(rng)
    signs = (p.only,) if p.only else (1, -1)
    top = max(largest(p.x, p.y, s, p.weight, p.leak, p.d, rng) for s in signs)
    tau = F(float(max(top, 0.01) * rng.choice((1.001, 1.05, 1.3))))
    lines = p.head("optimum")
    lower = float(sum(map(F, p.weight)) / tau)
    while F(lower) * tau > sum(map(F, p.weight)):
        lower = math.nextafter(lower, 0)
    if rng.random() < 0.8:
        rho = [above_root(dot(map(F, u), map(F, u))) for u, _ in p.network]
        margin = min(y * p.output(row) for row, y in zip(p.x, p.y))
        upper = float(sum(map(F, rho)) / margin)
        while F(upper) * margin < sum(map(F, rho)):
            upper = math.nextafter(upper, math.inf)
        lines += ["upper " + text(upper), f"neurons {len(p.network)}"]
        lines += [" ".join(["u", f"{s:+d}"] + [text(v) for v in u] + [text(r)]) for (u, s), r in zip(p.network, rho)]
    lines += ["lower " + text(lower), "tau " + text(float(tau)), " ".join(["lambda"] + [text(w) for w in p.weight])]
    for s in signs:
        tree = Tree(p, s, tau, p.weight)
        tree.node({}, [])
        lines += tree.lines
    return lines + ["qed"]


def separable(rng):
    p = Problem(rng)
    w = [rng.choice((-2.0, 1.0, 3.0)) for _ in range(p.d)]
    p.x = [row for row in p.x if dot(map(F, row), map(F, w)) != 0] or [[1.0] * p.d]
    p.n = len(p.x)
    if dot(map(F, p.x[0]), map(F, w)) == 0:
        w[0] += 0.5
    p.y = [1 if dot(map(F, row), map(F, w)) > 0 else -1 for row in p.x]
    rho = above_root(dot(map(F, w), map(F, w)))
    margin = min(y * dot(map(F, row), map(F, w)) for row, y in zip(p.x, p.y))
    lower = float(margin / F(rho))
    while F(lower) * F(rho) > margin:
        lower = math.nextafter(lower, 0)
    alpha = [rng.choice((0.0, rng.random())) for _ in range(p.n)]
    alpha[0] = 1.0
    total = [sum(F(a) * y * F(row[j]) for a, y, row in zip(alpha, p.y, p.x)) for j in range(p.d)]
    rho2 = above_root(dot(total, total))
    upper = F(rho2) / sum(map(F, alpha))
    return p.head("separable", False) + [" ".join(["w"] + [text(v) for v in w] + [text(rho)]), "lower " + text(lower),
            "upper " + text(upper), " ".join(["alpha"] + [text(a) for a in alpha] + [text(rho2)]), "qed"]


def vanishing(rng, claim):
    """Rows and multipliers with sum f_i y_i x_i = 0, also on every line: pairs on the same line."""
    p = Problem(rng)
    p.only = 0
    rows, labels, weight = [], [], []
    for row in p.x:
        factor = rng.choice((1, 2, 4))
        rows += [row, [factor * v for v in row]]
        labels += [1, -1]
        weight += [factor, 1] if rng.random() < 0.8 or not weight else [0, 0]
    if rng.random() < 0.3:  # a row 0 lies on no line and counts for nothing
        at = rng.randrange(len(rows) + 1)
        rows.insert(at, [0.0] * p.d)
        labels.insert(at, rng.choice((1, -1)))
        weight.insert(at, rng.choice((0, 1, 3)))
    p.x, p.y, p.n = rows, labels, len(rows)
    word = "farkas" if claim == "infeasible" else "alpha"
    return p.head(claim, claim == "infeasible") + [" ".join([word] + [str(w) for w in weight]), "qed"]


def infeasible(rng):
    """Both signs; or one sign: two rows on a ray with the labels the wrong way round, by a tree."""
    if rng.random() < 0.6:
        return vanishing(rng, "infeasible")
    p = Problem(rng)
    p.only = rng.choice((1, -1))
    row = p.x[0]
    p.x, p.y, p.n, p.leak = [row, [2 * v for v in row]], [p.only, -p.only], 2, p.leak
    lines = p.head("infeasible") + ["farkas 2 1", f"tree {p.only:+d}"]
    # F(u) = 2 phi(z) - phi(2z) = 0: with a side, slopes are known and cancel
    return lines + ["s 0", "e 0 1:1 /", f"e 0 1:{text(p.leak)} /", "qed"]


def kkt(rng):
    """An exact KKT point on one sample on every line: x = e_1 scaled, one balanced neuron per label; or nearly so."""
    d, leak = rng.choice((1, 2, 3)), rng.choice((F(0), F(1, 4), F(1)))
    size = rng.choice((1.0, 2.0, 4.0))
    root = math.sqrt(1 / size)
    if root * root * size < 1:
        root = math.nextafter(root, 2)
    row = [size] + [0.0] * (d - 1)
    rows, labels = [row], [1]
    network = [(root, [root] + [0.0] * (d - 1))]
    kinked = d > 1 and rng.random() < 0.6
    if kinked:
        rows.append([0.0] * (d - 1) + [size])
        labels.append(-1)
        network.append((-root, [0.0] * (d - 1) + [root]))
    n = len(rows)
    weight = [1 / size] * n
    slopes = [[F(1) if i == k else leak for i in range(n)] for k in range(len(network))]
    if rng.random() < 0.5:  # a neuron off its place
        network[0] = (network[0][0], [network[0][1][0]] + [1e-9] * (d - 1))
        if kinked:
            slopes[0][1] = F(0) if leak == 0 else leak

    def evaluate(i):
        return labels[i] * sum(F(a) * phi(dot(map(F, w), map(F, rows[i])), leak) for a, w in network)

    while min(evaluate(i) for i in range(n)) < 1:
        network = [(a * 1.0000001, [v * 1.0000001 for v in w]) for a, w in network]
    theta = sum(F(a) ** 2 + sum(F(v) ** 2 for v in w) for a, w in network)
    square, slack = F(0), sum(F(weight[i]) * (evaluate(i) - 1) for i in range(n))
    for (a, w), h in zip(network, slopes):
        r = [F(v) - sum(F(weight[i]) * labels[i] * F(a) * h[i] * F(rows[i][j]) for i in range(n)) for j, v in enumerate(w)]
        rest = F(a) - sum(F(weight[i]) * labels[i] * phi(dot(map(F, w), map(F, rows[i])), leak) for i in range(n))
        square += dot(r, r) + rest * rest
    delta = float(2 * slack / theta)
    while F(delta) * theta < 2 * slack:
        delta = math.nextafter(delta, math.inf)
    lines = ["reluflow-proof 1", "claim kkt", "leak " + text(leak), f"data {n} {d}"]
    lines += [" ".join(["x", f"{y:+d}"] + [text(v) for v in x]) for x, y in zip(rows, labels)]
    lines += [f"network {len(network)}"] + [" ".join(["n", text(a)] + [text(v) for v in w]) for a, w in network]
    lines += ["epsilon " + text(above_root(square / theta)), "delta " + text(delta), "kink " + text(1e-8)]
    lines += [" ".join(["lambda"] + [text(w) for w in weight]), "slopes"]
    return lines + [" ".join(["h"] + [text(v) for v in h]) for h in slopes] + ["qed"]


MAKERS = {"optimum": optimum, "separable": separable, "inseparable": lambda rng: vanishing(rng, "inseparable"),
          "infeasible": infeasible, "kkt": kkt}
