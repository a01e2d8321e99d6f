// The state of the page, its link, and the commands that repeat it.
const SCALES = ["1", "0.5", "0.2", "0.1", "0.01", "0.001", "1e-4", "1e-5", "1e-6", "1e-8", "1e-10", "1e-15", "1e-20", "1e-50", "1e-100", "1e-200", "1e-300", "limit"];
const WIDTHS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 80, 120, 200];
const LOSSES = ["logistic", "logistic2", "exp"];
const INITS = ["balanced", "balanced-gaussian", "gaussian", "mmv", "unb", "xavier", "he"];
const CATALOGUE = [
  ["gen:planar", "orthogonally separable"], ["gen:xor", "XOR"], ["gen:symmetric-six", "symmetric, six points"],
  ["gen:hinted", "hinted (LLWA)"], ["gen:DS-WP1", "no local optimum (WP)"], ["gen:pair,t=0.6", "two points"],
  ["gen:gaussian,n=12,d=2,seed=3", "random labels"], ["gen:orthant,n=16,d=2", "two orthants"],
  ["gen:separated,d=3", "three dimensions"], ["gen:symmetric,d=3", "symmetric, 3-D"], ["gen:orthant,n=20,d=6", "six dimensions"],
];
const LIMITS = { points: 400, width: 1000, d: 50 };

const blank = () => ({ source: "gen:planar", X: [], y: [], bias: false, scale: "1e-6", width: 20, leak: 0, loss: "logistic", init: "balanced", seed: 0, start: null, view: null });

const csvOf = (state) => {
  const d = state.X.length ? state.X[0].length : 2;
  const head = Array.from({ length: d }, (_, j) => "x" + (j + 1)).concat("label").join(",");
  return [head, ...state.X.map((x, i) => [...x, state.y[i]].join(","))].join("\n") + "\n";
};

// Whole state to and from the part of the address behind "#". Numbers are written so that they read back to the same bits.
function toFragment(state, position) {
  const p = new URLSearchParams();
  if (state.source) p.set("data", state.source);
  else p.set("points", state.X.map((x, i) => [...x, state.y[i] > 0 ? "+" : "-"].join(",")).join(";"));
  const plain = blank();
  for (const key of ["scale", "width", "leak", "loss", "init", "seed"]) if (state[key] !== plain[key]) p.set(key, state[key]);
  if (state.bias) p.set("bias", "1");
  if (state.start) p.set("start", state.start.W.map((w, k) => [...w, state.start.a[k]].join(",")).join(";"));
  if (state.view) p.set("view", state.view.join(","));
  if (position !== undefined) p.set("at", position.toFixed(4));
  return p.toString().replace(/%2C/g, ",").replace(/%3B/g, ";").replace(/%3A/g, ":").replace(/%3D/g, "=");
}
function fromFragment(text) {
  const p = new URLSearchParams(text.replace(/^#/, "").replace(/\+/g, "%2B")), state = blank();
  const number = (value, low, high, what) => {
    const x = Number(value);
    if (value === "" || !Number.isFinite(x) || x < low || x > high) throw new Error(`the link has ${what} ${value}`);
    return x;
  };
  const rows = (value) => value.split(";").map((row) => row.split(","));
  if (p.has("points")) {
    state.source = null;
    for (const row of rows(p.get("points"))) {
      const label = row.pop();
      if (label !== "+" && label !== "-") throw new Error(`the link has a point of class ${label}`);
      state.X.push(row.map((v) => number(v, -1e9, 1e9, "a coordinate")));
      state.y.push(label === "+" ? 1 : -1);
    }
    if (state.X.some((x) => x.length !== state.X[0].length)) throw new Error("the link has points of different lengths");
  } else if (p.has("data")) state.source = p.get("data");
  if (p.has("scale")) {
    state.scale = p.get("scale");
    if (state.scale !== "limit") number(state.scale, 1e-320, 1e6, "the scale");
  }
  if (p.has("width")) state.width = Math.round(number(p.get("width"), 1, LIMITS.width, "the width"));
  if (p.has("leak")) state.leak = number(p.get("leak"), 0, 1, "the leak");
  if (p.has("seed")) state.seed = Math.round(number(p.get("seed"), 0, 2 ** 53, "the seed"));
  for (const [key, list] of [["loss", LOSSES], ["init", INITS]])
    if (p.has(key)) {
      if (!list.includes(p.get(key))) throw new Error(`the link has the ${key} ${p.get(key)}`);
      state[key] = p.get(key);
    }
  state.bias = p.get("bias") === "1";
  if (p.has("start")) {
    const table = rows(p.get("start")).map((row) => row.map((v) => number(v, -1e300, 1e300, "a weight")));
    state.start = { a: table.map((row) => row.pop()), W: table };
  }
  if (p.has("view")) {
    state.view = p.get("view").split(",").map((v) => number(v, -1e12, 1e12, "a place of the picture"));
    if (state.view.length !== 3 || !(state.view[2] > 0)) throw new Error("the link has no place of the picture");
  }
  return { state, at: p.has("at") ? number(p.get("at"), 0, 1, "the moment") : null };
}

// Flags that the state stands for.
function flags(state, { data = true } = {}) {
  const words = [];
  if (data && state.bias) words.push("--bias", "1");
  words.push("--scale", state.scale, "--leak", String(state.leak), "--loss", state.loss);
  if (!state.start) words.push("--width", String(state.width), "--init", state.init, "--seed", String(state.seed));
  return words;
}
const dataWord = (state) => state.source || "points.csv";
const startOf = (state) => state.start && {
  m: state.start.W.length, d: state.start.W[0].length, leak: state.leak,
  weights: Float64Array.from([...state.start.W.flat(), ...state.start.a]),
};
const flowWords = (state, frames, extra = []) =>
  ["flow", dataWord(state), ...flags(state), ...(state.start ? ["--weights", "(network)"] : []), "--branches", "all", "--frames", String(frames), ...extra];

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'");
function commandLine(state) {
  const lines = [];
  if (!state.source) lines.push("cat > points.csv <<'END'\n" + csvOf(state) + "END");
  if (state.start) lines.push("cat > start.json <<'END'\n" + JSON.stringify({ leak: state.leak, W: state.start.W, a: state.start.a }) + "\nEND");
  lines.push(["reluflow", "explain", dataWord(state), ...flags(state), ...(state.start ? ["--weights", "start.json"] : []), "--branches", "all"].map(quoted).join(" "));
  return lines.join("\n");
}
function python(state) {
  const option = (words) => {
    const list = [];
    for (let k = 0; k < words.length; k += 2) {
      const value = words[k + 1], isText = ["--scale", "--loss", "--init"].includes(words[k]) && !Number.isFinite(Number(value));
      list.push(words[k].slice(2).replace(/-/g, "_") + "=" + (isText ? JSON.stringify(value) : value));
    }
    return list.join(", ");
  };
  const lines = ["import reluflow"];
  let data = JSON.stringify(state.source);
  if (!state.source) {
    lines.splice(0, 1, "import numpy as np", "import reluflow", "", `X = np.array(${JSON.stringify(state.X)})`, `y = np.array(${JSON.stringify(state.y)})`);
    data = "X, y";
  }
  if (state.start) {
    if (state.source) lines.unshift("import numpy as np");
    lines.push(`net = reluflow.Network(np.array(${JSON.stringify(state.start.W)}), np.array(${JSON.stringify(state.start.a)}), leak=${state.leak})`);
  }
  lines.push("", `result = reluflow.explain(${data}, ${option(flags(state))}${state.start ? ", weights=net" : ""}, branches="all")`, "print(result)");
  return lines.join("\n");
}
