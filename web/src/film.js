// A finished run as something that can be shown at any moment: frames with the limit behind the last one.
class Film {
  constructor(flow, d) {
    this.flow = flow;
    this.d = d; // of the neurons' w
    this.frames = (flow.frames || []).map((f) => ({
      logT: f.log_t, logLoss: f.log_loss, logNorm: f.log_norm, margins: f.margins, logNorms: f.log_norms, directions: f.directions }));
    this.frames.forEach((f, i) => { // beyond every time only directions mean something
      if (f.logT === null && i && this.frames[1].logT !== null) f.logNorm = Infinity, f.logLoss = -Infinity;
    });
    if (this.frames.length) this.frames[0].logT = -Infinity; // the start, when there are frames
    const limit = flow.limit, last = this.frames[this.frames.length - 1];
    this.decided = limit.status === "converged" && !!limit.W;
    if (this.decided) {
      const m = limit.a.length, directions = [], logNorms = new Float64Array(m), size = last ? Math.max(...last.logNorms) : 0; // of the frame before
      for (let k = 0; k < m; k++) {
        const w = limit.W[k], norm = Math.hypot(...w, limit.a[k]);
        directions.push(norm > 0 ? Float64Array.from([...w, limit.a[k]], (v) => v / norm) : last ? last.directions[k] : new Float64Array(w.length + 1));
        logNorms[k] = norm > 0 ? Math.log(norm) + size : -Infinity;
      }
      this.frames.push({ logT: Infinity, logLoss: -Infinity, logNorm: Infinity, margins: null, logNorms, directions, limit: true });
    }
    this.m = this.frames.length ? this.frames[0].directions.length : 0;
    this.dead = new Set(limit.dead || []);
    this.vanishing = new Set(limit.vanishing || []);
  }
  get length() { return this.frames.length; }
  // Neurons at position 0..1: w (unit joint), a, share of |theta|^2; and what stands in the charts.
  at(position) {
    const count = this.length;
    if (!count) return null;
    const place = Math.min(Math.max(position, 0), 1) * (count - 1), i = Math.min(Math.floor(place), Math.max(count - 2, 0));
    const f = this.frames[i], g = this.frames[Math.min(i + 1, count - 1)], s = count > 1 ? place - i : 0, d = this.d;
    const neurons = [], mix = (a, b) => (s === 0 ? a : s === 1 ? b : Number.isFinite(a) && Number.isFinite(b) ? a + s * (b - a) : s < 0.5 ? a : b);
    let top = -Infinity, total = 0;
    for (let k = 0; k < this.m; k++) top = Math.max(top, mix(f.logNorms[k], g.logNorms[k]));
    for (let k = 0; k < this.m; k++) {
      const u = f.directions[k], v = g.directions[k], w = new Float64Array(d);
      let a = u[d] + s * (v[d] - u[d]), square = a * a;
      for (let j = 0; j < d; j++) { w[j] = u[j] + s * (v[j] - u[j]); square += w[j] * w[j]; }
      const norm = Math.sqrt(square) || 1, share = Math.exp(2 * (mix(f.logNorms[k], g.logNorms[k]) - top));
      for (let j = 0; j < d; j++) w[j] /= norm;
      a /= norm;
      total += share;
      neurons.push({ k, w, a, share, logNorm: mix(f.logNorms[k], g.logNorms[k]) });
    }
    for (const neuron of neurons) neuron.share /= total;
    return { neurons, place, frame: s < 0.5 ? f : g, logT: mix(f.logT, g.logT), logLoss: mix(f.logLoss, g.logLoss), logNorm: mix(f.logNorm, g.logNorm), limit: s > 0 ? g.limit && s === 1 : f.limit };
  }
  // Place (0..1) of a logarithm of time.
  placeOf(logT) {
    const f = this.frames;
    if (logT === null || Number.isNaN(logT)) return null;
    for (let i = 1; i < f.length; i++) {
      const b = f[i].logT;
      if (b === null || Number.isNaN(b)) return null;
      if (b >= logT) {
        const a = f[i - 1].logT, t0 = Math.exp(Math.min(a, 700)), t1 = Math.exp(Math.min(b, 700)), t = Math.exp(Math.min(logT, 700));
        const s = Number.isFinite(a) && b > 8 ? (logT - a) / (b - a) : t1 > t0 ? (t - t0) / (t1 - t0) : 0;
        return (i - 1 + (Number.isFinite(s) ? s : 0)) / (f.length - 1);
      }
    }
    return 1;
  }
}
// f(x) / |theta|^2
const outputOf = (neurons, x, leak) => {
  let sum = 0;
  for (const { w, a, share } of neurons) {
    let z = 0;
    for (let j = 0; j < w.length; j++) z += w[j] * x[j];
    sum += share * a * (z > 0 ? z : leak * z);
  }
  return sum;
};
// The same with the weights in one array, rows (share a, w), for many points.
function flatten(neurons) {
  const d = neurons.length ? neurons[0].w.length : 0, rows = new Float64Array(neurons.length * (d + 1));
  neurons.forEach(({ w, a, share }, k) => { rows[k * (d + 1)] = share * a; rows.set(w, k * (d + 1) + 1); });
  return { rows, d };
}
function flatOutput({ rows, d }, x, leak) {
  let sum = 0;
  for (let at = 0; at < rows.length; at += d + 1) {
    let z = 0;
    for (let j = 0; j < d; j++) z += rows[at + 1 + j] * x[j];
    sum += rows[at] * (z > 0 ? z : leak * z);
  }
  return sum;
}
const shown = (x, digits = 4) => {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  const text = Math.abs(x) >= 1e5 || (Math.abs(x) < 1e-3 && x !== 0) ? x.toExponential(Math.max(digits - 1, 1)) : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, "−").replace("e+", "e");
};
const exact = (x) => (x === null || x === undefined ? "not known" : String(x));
const timeText = (logT) => {
  if (logT === null || Number.isNaN(logT)) return "beyond every time";
  if (logT === -Infinity) return "t = 0";
  if (logT === Infinity) return "t = ∞";
  if (logT < 14) return "t = " + shown(Math.exp(logT), 3);
  return "ln t = " + shown(logT, 4);
};
