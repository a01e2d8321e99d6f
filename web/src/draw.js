// Small tools for drawing: SVG elements, colours of the page, the hint that follows the pointer, rotations.
const $ = (id) => document.getElementById(id);
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const ofSign = (s) => (s > 0 ? "var(--pos)" : "var(--neg)");

const tip = {
  show(event, text) {
    const box = $("tip");
    if (!text) return tip.hide();
    box.textContent = text;
    box.classList.add("on");
    const at = event.target.getBoundingClientRect ? event.target.getBoundingClientRect() : { left: 0, top: 0 };
    const x = event.clientX || at.left, y = event.clientY || at.top;
    box.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + "px";
    box.style.top = Math.max(8, Math.min(y + 16, innerHeight - box.offsetHeight - 8)) + "px";
  },
  hide() { $("tip").classList.remove("on"); },
};
function hint(element, text) { // text: a function, asked when it is shown
  element.addEventListener("pointermove", (event) => tip.show(event, text()));
  element.addEventListener("pointerleave", tip.hide);
  element.addEventListener("focus", (event) => tip.show(event, text()));
  element.addEventListener("blur", tip.hide);
}

// A rotation of space, kept for the sphere and for data in three dimensions.
const turn = {
  matrix: [[0.80, 0.60, 0], [-0.25, 0.33, 0.91], [0.55, -0.73, 0.41]],
  spin(dx, dy) {
    const c = Math.cos(dx), s = Math.sin(dx), e = Math.cos(dy), f = Math.sin(dy);
    const [p, q, r] = turn.matrix;
    const mix = (a, b, u, v) => a.map((x, j) => u * x + v * b[j]);
    const p1 = mix(p, r, c, s), r1 = mix(p, r, -s, c); // about the vertical of the screen
    const q2 = mix(q, r1, e, f), r2 = mix(q, r1, -f, e); // about the horizontal
    turn.matrix = [p1, q2, r2];
    turn.clean();
  },
  clean() { // keep it a rotation
    const unit = (v) => { const n = Math.hypot(...v); return v.map((x) => x / n); };
    const dot = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0);
    const p = unit(turn.matrix[0]), q0 = turn.matrix[1], q = unit(q0.map((x, j) => x - dot(p, q0) * p[j]));
    turn.matrix = [p, q, [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]];
  },
  // By an arrow key, when it is one.
  key(event) {
    const way = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] }[event.key];
    if (way) turn.spin(...way);
    return !!way;
  },
  of: (x) => turn.matrix.map((row) => row[0] * x[0] + row[1] * x[1] + row[2] * x[2]),
  back: (v) => [0, 1, 2].map((j) => turn.matrix[0][j] * v[0] + turn.matrix[1][j] * v[1] + turn.matrix[2][j] * v[2]),
};
turn.clean();

// More than three dimensions: the plane of the two class means, and how much of the data lies in it.
function planeOf(X, y) {
  const d = X[0].length, mean = (s) => {
    const rows = X.filter((_, i) => y[i] === s), v = Array(d).fill(0);
    rows.forEach((x) => x.forEach((a, j) => { v[j] += a / rows.length; }));
    return v;
  };
  const dot = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0), axis = (j) => Array.from({ length: d }, (_, k) => (k === j ? 1 : 0));
  const unit = (v) => { const n = Math.hypot(...v); return n > 1e-9 ? v.map((a) => a / n) : null; };
  const e = unit(mean(1)) || axis(0), across = (v) => v.map((a, j) => a - dot(v, e) * e[j]);
  let f = unit(across(mean(-1)));
  for (let j = 0; !f && j < d; j++) f = unit(across(axis(j)));
  let whole = 0, inside = 0;
  for (const x of X) { whole += dot(x, x); inside += dot(x, e) ** 2 + dot(x, f) ** 2; }
  return { e, f, share: whole > 0 ? inside / whole : 1, of: (x) => [dot(x, e), dot(x, f)], point: (p) => e.map((a, j) => a * p[0] + f[j] * p[1]) };
}
const pointerIn = (element, event, size) => {
  const box = element.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * size, ((event.clientY - box.top) / box.height) * size];
};
