// Checks a proof file (docs/proof.md) in exact arithmetic, with the integers that every browser has. It shares nothing with
// the engine that wrote the file; its verdicts are word for word those of rfcheck and of python -m reluflow.checker.
// A number is [n, d, e]: n/d 2^e with integers n, d > 0; a vector is [list of n, d, e], one d and e for all entries.
const checker = (() => {
  const ZERO = [0n, 1n, 0], ONE = [1n, 1n, 0], LENGTH = "the line is too short or too long";
  class Verdict extends Error { constructor(kind, why) { super(why); this.kind = kind; } }
  const malformed = (why) => { throw new Verdict("malformed", why); };
  const require = (holds, why) => { if (!holds) throw new Verdict("rejected", why); };

  // ---- numbers and vectors
  const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
  const up = (n, bits) => (bits ? n << BigInt(bits) : n);
  function add(a, b) {
    if (!a[0] || !b[0]) return a[0] ? a : b;
    const e = Math.min(a[2], b[2]); let x = up(a[0], a[2] - e), y = up(b[0], b[2] - e);
    if (a[1] === b[1]) return [x + y, a[1], e];
    const g = gcd(a[1], b[1]); return [x * (b[1] / g) + y * (a[1] / g), (a[1] / g) * b[1], e];
  }
  const minus = (a) => [-a[0], a[1], a[2]], sub = (a, b) => add(a, minus(b)), atMost = (a, b) => sub(a, b)[0] <= 0n;
  const mul = (a, b) => [a[0] * b[0], a[1] * b[1], a[2] + b[2]], whole = (k) => [BigInt(k), 1n, 0];
  function vector(numbers) {
    const e = Math.min(...numbers.map((a) => a[2])); const d = numbers.reduce((p, a) => (p / gcd(p, a[1])) * a[1], 1n);
    return [numbers.map((a) => up(a[0], a[2] - e) * (d / a[1])), d, e];
  }
  function plus(v, c, x) { // v + c x
    if (!c[0]) return v; const cd = c[1] * x[1], ce = c[2] + x[2], e = Math.min(v[2], ce), g = gcd(v[1], cd);
    const own = up(cd / g, v[2] - e), other = up(c[0] * (v[1] / g), ce - e);
    return [v[0].map((a, k) => a * own + other * x[0][k]), (v[1] / g) * cd, e];
  }
  const dot = (v, w) => [v[0].reduce((sum, a, k) => sum + a * w[0][k], 0n), v[1] * w[1], v[2] + w[2]];
  const boundsNorm = (rho, v) => rho[0] >= 0n && atMost(dot(v, v), mul(rho, rho)), isZero = (v) => v[0].every((a) => !a);
  function parse(text) {
    if (text.length > 20000) malformed("not a number");
    let m = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?[0-9]{1,9})$/.exec(text);
    if (m) {
      const part = m[3] || "", e = Number(m[4]), n = BigInt("0x" + m[2] + part);
      if (Math.abs(e) > 20000) malformed("not a number"); return n ? [m[1] ? -n : n, 1n, e - 4 * part.length] : ZERO;
    }
    m = /^(-?[0-9]+)(?:\/([0-9]+))?$/.exec(text); if (!m || (m[2] && BigInt(m[2]) === 0n)) malformed("not a number");
    const n = BigInt(m[1]), d = BigInt(m[2] || 1), g = gcd(n, d); return n ? [n / g, d / g, 0] : ZERO;
  }
  // 17 digits rounded down or up; positional for 1e-5 <= |r| < 1e17.
  function decimal(r, upwards) {
    if (!r[0]) return "0"; let n = r[2] > 0 ? up(r[0], r[2]) : r[0], d = r[2] < 0 ? up(r[1], -r[2]) : r[1], digits = 0n;
    const g = gcd(n, d), size = (x) => (x < 0n ? -x : x), limit = 10n ** 16n; n /= g; d /= g;
    let k = size(n).toString().length - d.toString().length + 2;
    while (size(digits) < limit) {
      k--; const p = k < 16 ? n * 10n ** BigInt(16 - k) : n, q = k > 16 ? d * 10n ** BigInt(k - 16) : d; digits = p / q;
      if (p % q && upwards === p > 0n) digits += upwards ? 1n : -1n;
    }
    const scientific = k < -5 || k >= 17; const text = "0".repeat(k < 0 && !scientific ? -k : 0) + size(digits);
    const first = scientific || k < 0 ? 1 : k + 1;
    const shown = (digits < 0n ? "-" : "") + text.slice(0, first) + (text.length > first ? "." + text.slice(first) : "");
    return shown + (scientific ? "e" + (k < 0 ? "-" : "+") + String(Math.abs(k)).padStart(2, "0") : "");
  }

  // ---- lines and tokens
  class Reader {
    constructor(bytes) { this.bytes = bytes; this.at = 0; this.number = 0; this.tokens = []; }
    line() {
      let raw; do {
        this.number++; if (this.at >= this.bytes.length) malformed("the file ends before qed");
        let end = this.bytes.indexOf(10, this.at); if (end < 0) end = this.bytes.length;
        raw = this.bytes.subarray(this.at, end); this.at = end + 1;
      } while (raw[0] === 35);
      if (raw.some((byte) => byte < 32 || byte > 126)) malformed("a character that is not printable ASCII");
      this.tokens = new TextDecoder().decode(raw).split(" ");
      if (this.tokens.includes("")) malformed("tokens are separated by one space"); return this.tokens;
    }
    expect(words, count) {
      const tokens = this.line();
      if (!words.split("|").includes(tokens[0])) malformed("not the statement that belongs here");
      if (count !== undefined && tokens.length !== count + 1) malformed(LENGTH); return tokens.slice(1);
    }
    value(word) { return parse(this.expect(word, 1)[0]); }
    finish() { this.expect("qed", 0); this.number++; if (this.at < this.bytes.length) malformed("something follows qed"); }
  }
  const index = (text) => (/^[0-9]{1,9}$/.test(text) ? Number(text) : malformed("not an index"));
  const sign = (text, p = "+1", m = "-1") => (text === p ? 1 : text === m ? -1 : malformed("not a sign"));
  const terms = (tokens) => tokens.map((text) => { // i:a, i:a:b and @i:a
    const cap = text[0] === "@", parts = (cap ? text.slice(1) : text).split(":");
    if (parts.length < 2 || (cap && parts.length > 2)) malformed("not a term");
    if (parts.length > 3) malformed("not a number"); return { cap, i: index(parts[0]), values: parts.slice(1).map(parse) };
  });

  // ---- tree s: no u with |u| <= 1 has F(u) > T, F(u) = s sum lambda_i y_i phi(u.x_i)
  class Tree {
    constructor(data, weight, tau, s) {
      Object.assign(this, { data, weight, tau, s, caps: [], path: [] }); this.small = weight.map((w) => mul(data.leak, w));
      this.side = Array(data.n).fill(0); this.low = Array(data.n).fill(null); this.high = Array(data.n).fill(null);
    }
    normRule(v, rho, multipliers) { // v.u <= what is returned
      let bound = rho; for (const { cap, i, values } of multipliers) {
        require(values.length === 1 && values[0][0] >= 0n, "a multiplier is one number >= 0");
        require(i < (cap ? this.caps.length : this.data.n), "no such sample, or no such cap on this path");
        require(cap || this.side[i] !== 0, "the side of a sample is not known here");
        v = plus(v, cap || this.side[i] > 0 ? values[0] : minus(values[0]), cap ? this.caps[i].a : this.data.x[i]);
        if (cap) bound = sub(bound, mul(values[0], this.caps[i].b));
      }
      require(boundsNorm(rho, v), "rho is less than the norm"); return bound;
    }
    slope(i, values) {
      const [gamma, e] = values, low = this.low[i], high = this.high[i];
      const own = this.data.y[i] === this.s, form = own ? "own: i:gamma:e" : "opposite: i:gamma";
      require(values.length === (own ? 2 : 1), form);
      const between = own || (atMost(this.small[i], gamma) && atMost(gamma, this.weight[i]));
      require(between, "gamma not in [alpha lambda, lambda]"); if (!own) return ZERO;
      require(this.side[i] === 0 && low && high, "named: own, no side, both bounds known");
      require(add(mul(sub(gamma, this.weight[i]), high), e)[0] >= 0n, "the chord is too low at h");
      require(add(mul(sub(gamma, this.small[i]), low), e)[0] >= 0n, "the chord is too low at l"); return e;
    }
    envelopeRule(named) { // F(u) <= g.u + constant
      let g = this.data.zero, constant = ZERO; const seen = new Set();
      for (const { cap, i, values } of named) {
        require(!cap && i < this.data.n, "no such sample");
        require(this.weight[i][0] > 0n && !seen.has(i), "named twice, or without weight"); seen.add(i);
        constant = add(constant, this.slope(i, values));
        g = plus(g, this.data.y[i] === this.s ? values[0] : minus(values[0]), this.data.x[i]);
      }
      for (let i = 0; i < this.data.n; i++) {
        if (seen.has(i) || !this.weight[i][0]) continue; const own = this.data.y[i] === this.s;
        if (own) require(this.side[i] !== 0, "an own sample without a side is not named");
        g = plus(g, !own ? minus(this.small[i]) : this.side[i] > 0 ? this.weight[i] : this.small[i], this.data.x[i]);
      }
      return { g, constant };
    }
    cap({ g, constant }) { this.caps.push({ a: g, b: sub(this.tau, constant) }); } // T < F(u) <= g.u + C
    learn(i, split = false) {
      require(i < this.data.n && this.side[i] === 0, "no such sample, or it already has a side");
      this.path.push({ i, low: this.low[i], high: this.high[i], caps: this.caps.length, split });
    }
    bound(tokens, sigma) { // h i H rho ...: z_i <= H;  l i L rho ...: z_i >= L
      if (tokens.length < 3) malformed("the line is too short");
      const i = index(tokens[0]), bound = parse(tokens[1]), rho = parse(tokens[2]), multipliers = terms(tokens.slice(3));
      require(i < this.data.n, "no such sample");
      const proved = this.normRule(plus(this.data.zero, whole(sigma), this.data.x[i]), rho, multipliers);
      require(atMost(proved, sigma > 0 ? bound : minus(bound)), "the bound is not proved"); this.learn(i);
      (sigma > 0 ? this.high : this.low)[i] = bound; if (BigInt(sigma) * bound[0] <= 0n) this.side[i] = -sigma;
    }
    maximiser(tokens) { // m i +: x_i.r >= 0 for every r that may be a multiple of the maximiser
      if (tokens.length !== 2) malformed(LENGTH); let least = ZERO;
      const i = index(tokens[0]), side = sign(tokens[1], "+", "-"); this.learn(i);
      for (let j = 0; j < this.data.n; j++) {
        if (!this.weight[j][0]) continue;
        const own = this.data.y[j] === this.s, known = own ? this.side[j] : 0; let z = dot(this.data.x[i], this.data.x[j]);
        if (own !== side > 0) z = minus(z);
        least = add(least, mul(z, (known ? known > 0 : z[0] < 0n) ? this.weight[j] : this.small[j]));
      }
      require(least[0] >= 0n, "the side is not proved"); this.side[i] = side;
    }
    close(tokens, envelope) {
      if (!tokens.length) malformed("the line is too short");
      const rho = parse(tokens[0]); let rest = tokens.slice(1), named = [];
      if (envelope) {
        const middle = rest.indexOf("/"); named = terms(middle < 0 ? rest : rest.slice(0, middle));
        if (middle < 0) malformed("the line is too short"); rest = rest.slice(middle + 1); }
      const multipliers = terms(rest);
      const { g, constant } = envelope ? this.envelopeRule(named) : { g: this.data.zero, constant: ZERO };
      const bound = this.normRule(g, rho, multipliers);
      require(envelope ? atMost(add(bound, constant), this.tau) : bound[0] < 0n, "the node is not closed");
      for (let step; (step = this.path.pop()); ) { // back to the last split whose second child is to come
        this.low[step.i] = step.low; this.high[step.i] = step.high; this.side[step.i] = 0; if (!step.split) continue;
        this.caps.length = step.caps; this.learn(step.i); this.side[step.i] = -1; return true;
      }
      return false;
    }
    check(reader) {
      if (sign(reader.expect("tree", 1)[0]) !== this.s) malformed("the tree of the other sign");
      for (let open = true; open; ) {
        const [word, ...tokens] = reader.line();
        if (word === "h" || word === "l") this.bound(tokens, word === "h" ? 1 : -1);
        else if (word === "m") this.maximiser(tokens);
        else if (word === "c") this.cap(this.envelopeRule(terms(tokens)));
        else if (word === "s") {
          if (tokens.length !== 1) malformed(LENGTH); const i = index(tokens[0]); this.learn(i, true); this.side[i] = 1;
        } else if (word === "e" || word === "n") open = this.close(tokens, word === "e");
        else malformed("not a statement of a tree");
      }
    }
  }

  // ---- the head, and one function per claim
  function head(reader) {
    if (reader.expect("reluflow-proof", 1)[0] !== "1") malformed("not version 1");
    const data = { claim: reader.expect("claim", 1)[0], only: 0, x: [], y: [] };
    if (!claims[data.claim]) malformed("no such claim"); data.leak = reader.value("leak");
    require(atMost(ZERO, data.leak) && atMost(data.leak, ONE), "the leak is not in [0, 1]");
    const signs = data.claim === "optimum" || data.claim === "infeasible" ? reader.expect("signs", 1)[0] : "both";
    data.only = signs === "both" ? 0 : sign(signs, "+", "-");
    [data.n, data.d] = reader.expect("data", 2).map(index); if (data.n < 1 || data.d < 1) malformed("no data");
    for (let i = 0; i < data.n; i++) {
      const row = reader.expect("x", data.d + 1); data.y.push(sign(row[0])); data.x.push(vector(row.slice(1).map(parse)));
    } data.zero = [Array(data.d).fill(0n), 1n, 0]; return data;
  }
  const signed = (z, y) => (y > 0 ? z : minus(z)), phi = (z, leak) => (z[0] < 0n ? mul(z, leak) : z);
  const neuron = (data, i, w) => signed(phi(dot(w, data.x[i]), data.leak), data.y[i]); // y_i phi(w.x_i)
  const weighted = (data, weight) => weight.reduce((v, w, i) => plus(v, data.y[i] > 0 ? w : minus(w), data.x[i]), data.zero);
  function weights(tokens, some = false) {
    let total = ZERO; const values = tokens.map(parse);
    for (const value of values) { require(value[0] >= 0n, "a multiplier is negative"); total = add(total, value); }
    require(!some || total[0] > 0n, "all multipliers are 0"); return { values, total };
  }
  const trees = (data, reader, weight, tau) =>
    (data.only ? [data.only] : [1, -1]).forEach((s) => new Tree(data, weight, tau, s).check(reader));
  function network(data, reader) {
    const upper = parse(reader.tokens[1]), count = index(reader.expect("neurons", 1)[0]);
    let q = Array(data.n).fill(ZERO), length = ZERO;
    for (let k = 0; k < count; k++) {
      const row = reader.expect("u", data.d + 2), s = sign(row[0]), numbers = row.slice(1).map(parse);
      const rho = numbers.pop(), u = vector(numbers);
      require(!data.only || s === data.only, "a neuron of a sign that is not allowed");
      require(boundsNorm(rho, u), "rho is less than the norm"); length = add(length, rho);
      q = q.map((sum, i) => add(sum, mul(whole(s), neuron(data, i, u))));
    }
    for (const margin of q) {
      require(margin[0] > 0n, "the network does not separate the data");
      require(atMost(length, mul(upper, margin)), "the network is longer than U");
    } return upper;
  }
  const claims = {
    __proto__: null, optimum(data, reader) {
      reader.expect("upper|lower", 1); const upper = reader.tokens[0] === "upper" ? network(data, reader) : null;
      const lower = upper ? reader.value("lower") : parse(reader.tokens[1]), tau = reader.value("tau");
      require(tau[0] > 0n, "tau is not positive"); const { values, total } = weights(reader.expect("lambda", data.n));
      require(atMost(mul(lower, tau), total), "the sum of lambda is less than L T"); trees(data, reader, values, tau);
      return `optimum ${decimal(lower, false)} <= V` + (upper ? ` <= ${decimal(upper, true)}` : "");
    },
    separable(data, reader) {
      const numbers = reader.expect("w", data.d + 1).map(parse), rho = numbers.pop(), w = vector(numbers);
      require(rho[0] > 0n && boundsNorm(rho, w), "rho is not positive or less than the norm");
      const lower = reader.value("lower"), least = mul(lower, rho); require(lower[0] > 0n, "L is not positive");
      data.x.forEach((x, i) => require(atMost(least, signed(dot(w, x), data.y[i])), "w has a smaller margin than L"));
      const upper = reader.value("upper"), tokens = reader.expect("alpha", data.n + 1);
      const length = parse(tokens[data.n]), { values, total } = weights(tokens.slice(0, -1), true);
      require(boundsNorm(length, weighted(data, values)), "rho is less than the norm");
      require(atMost(length, mul(upper, total)), "U is not proved");
      return `separable ${decimal(lower, false)} <= margin <= ${decimal(upper, true)}`;
    },
    inseparable(data, reader) {
      const { values } = weights(reader.expect("alpha", data.n), true);
      require(isZero(weighted(data, values)), "the weighted sum of the rows is not 0"); return "inseparable";
    },
    infeasible(data, reader) {
      const { values } = weights(reader.expect("farkas", data.n), true), lines = new Map();
      if (data.only) { trees(data, reader, values, ZERO); return "infeasible"; }
      require(isZero(weighted(data, values)), "the weighted sum of the rows is not 0");
      data.x.forEach((x, i) => { // one line through 0: the row divided by its common factor, first entry positive
        if (!values[i][0] || isZero(x)) return;
        const common = x[0].reduce(gcd, 0n), first = x[0].find((a) => a) < 0n ? -common : common;
        const line = x[0].map((a) => a / first).join(), t = mul(whole(data.y[i]), mul(values[i], [common, x[1], x[2]]));
        lines.set(line, add(lines.get(line) || ZERO, t)); });
      require(atMost(ONE, data.leak) || [...lines.values()].every((sum) => !sum[0]), "the sum over a line is not 0");
      return "infeasible";
    },
    kkt(data, reader) {
      const neurons = [], count = index(reader.expect("network", 1)[0]);
      let size = ZERO, q = Array(data.n).fill(ZERO), square = ZERO, slack = ZERO, kink = null;
      for (let k = 0; k < count; k++) {
        const numbers = reader.expect("n", data.d + 1).map(parse), a = numbers.shift(), w = vector(numbers);
        neurons.push({ a, w }); size = add(size, add(mul(a, a), dot(w, w)));
        q = q.map((sum, i) => add(sum, mul(a, neuron(data, i, w))));
      }
      require(q.every((margin) => atMost(ONE, margin)), "a margin is less than 1");
      const epsilon = reader.value("epsilon"), delta = reader.value("delta"); let tokens = reader.expect("kink|lambda");
      if (reader.tokens[0] === "kink") {
        if (tokens.length !== 1) malformed(LENGTH); kink = parse(tokens[0]); tokens = reader.expect("lambda");
      }
      if (tokens.length !== data.n) malformed(LENGTH); const weight = weights(tokens).values;
      require([epsilon, delta, kink || ZERO].every((a) => a[0] >= 0n), "a bound is negative");
      weight.forEach((l, i) => { slack = add(slack, mul(l, sub(q[i], ONE))); });
      require(atMost(add(slack, slack), mul(delta, size)), "complementarity is above delta"); reader.expect("slopes", 0);
      for (const { a, w } of neurons) {
        const width = kink ? mul(mul(kink, kink), dot(w, w)) : ZERO; let rest = a, residual = plus(data.zero, ONE, w);
        reader.expect("h", data.n).map(parse).forEach((h, i) => {
          const x = data.x[i], z = dot(w, x), exact = !sub(h, z[0] > 0n ? ONE : data.leak)[0];
          require(exact || atMost(mul(z, z), mul(width, dot(x, x))), "a slope is wrong away from a kink");
          require(atMost(data.leak, h) && atMost(h, ONE), "a slope outside [alpha, 1]");
          residual = plus(residual, mul(mul(whole(-data.y[i]), weight[i]), mul(a, h)), x);
          rest = sub(rest, mul(weight[i], neuron(data, i, w))); });
        square = add(square, add(dot(residual, residual), mul(rest, rest)));
      }
      require(atMost(square, mul(mul(epsilon, epsilon), size)), "stationarity is above epsilon");
      const tail = kink ? `, kinks within ${decimal(kink, true)}` : "";
      return `kkt stationarity <= ${decimal(epsilon, true)}, complementarity <= ${decimal(delta, true)}${tail}`;
    },
  };
  // The verdict on the bytes of a file: {status: 0 accepted, 1 rejected, 2 malformed; line}.
  function check(bytes) {
    const reader = new Reader(bytes);
    try {
      const data = head(reader), verdict = claims[data.claim](data, reader); reader.finish();
      return { status: 0, line: "accepted " + verdict };
    } catch (error) {
      if (!(error instanceof Verdict)) throw error;
      return { status: error.kind === "rejected" ? 1 : 2, line: `${error.kind} line ${reader.number}: ${error.message}` };
    }
  }
  return { check };
})();
if (typeof module !== "undefined") module.exports = checker;
