// The data: points that can be dragged, what the network says at the moment shown, and where it says nothing.
const FAR = 6; // times the middle one of the points' distances: farther ones must not make the others specks
class Plane {
  constructor(box, app) {
    this.app = app;
    this.size = 400;
    this.canvas = html("canvas", { width: 176, height: 176, "aria-hidden": "true" });
    this.back = svg("g"), this.front = svg("g");
    this.svg = svg("svg", { viewBox: "0 0 400 400", role: "group", "aria-label": "points; arrow keys move the chosen one, Enter flips it, Delete removes it" }, this.back, this.front);
    const button = (id, text, name, act) => html("button", { id, "aria-label": name, title: name, onclick: act }, text);
    box.append(this.canvas, this.svg);
    box.after(html("div", { class: "zoom" }, button("closer", "+", "closer", () => this.zoom(0.8)), button("wider", "−", "wider", () => this.zoom(1.25)),
      button("fit", "Fit", "all points; again: without those far away", () => this.fit())));
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, (event) => this.release(event));
    this.svg.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(Math.min(Math.max(event.deltaY, -200), 200) / 400), pointerIn(this.svg, event, this.size)); }, { passive: false });
    // One finger scrolls the page, two belong to the picture.
    this.svg.addEventListener("touchstart", (event) => { if (event.touches.length > 1) event.preventDefault(); }, { passive: false });
    this.fingers = new Map();
  }
  // What a pixel of this view is in the space of the data: flat (d = 2, with or without bias), turned (3), projected (more).
  layout() {
    const { X, y, bias } = this.app.state, d = X.length ? X[0].length : 2;
    this.d = d;
    this.kind = d === 2 ? "flat" : d === 3 && !bias ? "ball" : "shadow";
    if (this.kind === "shadow") this.plane = planeOf(X, y);
    this.sizes = X.map((x) => (this.kind === "flat" ? Math.max(Math.abs(x[0]), Math.abs(x[1])) : this.kind === "ball" ? Math.hypot(...x) : Math.hypot(...this.plane.of(x))));
    const { view } = this.app.state;
    if (!this.drag || this.drag.i === undefined) this.frame = !view ? [0, 0, this.reachOf(this.usual())] : this.kind === "ball" ? [0, 0, view[2]] : view;
    this.reach = this.frame[2];
    this.svg.style.touchAction = this.kind === "ball" ? "none" : "pan-y";
  }
  // ---- what part of the plane is seen: [x, y of the middle, half the side]; without a choice of the user all points but
  // those far away from the others, which stand as arrows at the edge
  reachOf(sizes) { return 1.28 * Math.max(1e-9, ...sizes) || 1.28; }
  usual() {
    const sorted = [...this.sizes].sort((a, b) => a - b), middle = sorted[Math.floor((sorted.length - 1) / 2)], near = sorted.filter((v) => v <= FAR * middle);
    return sorted.length < 4 || !(middle > 0) ? sorted : near;
  }
  get some() { return this.sizes.length > this.usual().length; } // are far away
  zoom(factor, at = [this.size / 2, this.size / 2]) {
    const [x, y, reach] = this.frame, c = this.size / 2, all = this.reachOf(this.sizes), next = Math.min(Math.max(reach * factor, 1e-3 * this.reachOf(this.usual())), 10 * all), s = reach - next;
    const keeps = this.kind !== "ball"; // the place under the pointer stays where it is
    this.look(keeps ? [x + (s * (at[0] - c)) / c, y - (s * (at[1] - c)) / c, next] : [0, 0, next]);
  }
  // All points; from there, where some are far away, the others again.
  fit() {
    const { view } = this.app.state, all = [0, 0, this.reachOf(this.sizes)];
    this.look(view && String(view) === String(all) ? null : this.some || view ? all : null);
  }
  look(view) {
    this.app.state.view = view && view.map((v) => Number(v.toPrecision(6)));
    this.app.redraw();
    this.app.link();
  }
  toScreen(x) {
    const p = this.kind === "flat" ? x : this.kind === "ball" ? turn.of(x) : this.plane.of(x), c = this.size / 2;
    return [c + (c * (p[0] - this.frame[0])) / this.reach, c - (c * (p[1] - this.frame[1])) / this.reach, p[2] || 0];
  }
  toData(sx, sy) {
    const c = this.size / 2, digits = Math.max(0, 3 - Math.floor(Math.log10(this.reach)));
    const round = (v) => Number(v.toFixed(Math.min(digits, 12)));
    const p = [this.frame[0] + ((sx - c) / c) * this.reach, this.frame[1] + ((c - sy) / c) * this.reach];
    return this.kind === "flat" ? p.map(round) : p;
  }
  draw(now) {
    this.layout();
    this.shade(now);
    this.marks(now);
  }
  // Colour by y's sign, stronger where the output is larger.
  shade(now) {
    const { canvas } = this, n = canvas.width, context = canvas.getContext("2d"), image = context.createImageData(n, n);
    const rgb = [colour("pos-rgb"), colour("neg-rgb")].map((text) => text.split(",").map(Number));
    const { leak, bias } = this.app.state;
    this.grid = null;
    if (now) {
      const live = flatten(now.neurons.filter((k) => k.share > 1e-9)), values = new Float64Array(n * n), x = new Float64Array(this.d + (bias ? 1 : 0));
      let largest = 0;
      if (this.kind === "flat" && !bias) largest = this.cone(values, live, leak);
      else
      for (let r = 0; r < n; r++)
        for (let c = 0; c < n; c++) {
          const u = this.frame[0] + (((c + 0.5) / n) * 2 - 1) * this.reach, v = this.frame[1] + (1 - ((r + 0.5) / n) * 2) * this.reach;
          if (this.kind === "flat") { x[0] = u; x[1] = v; }
          else if (this.kind === "ball") {
            const radius = this.reach * 0.94, rest = radius * radius - u * u - v * v;
            if (rest < 0) { values[r * n + c] = NaN; continue; }
            x.set(turn.back([u, v, Math.sqrt(rest)]));
          } else x.set(this.plane.point([u, v]));
          if (bias) x[this.d] = 1;
          const value = flatOutput(live, x, leak);
          values[r * n + c] = value;
          largest = Math.max(largest, Math.abs(value));
        }
      for (let k = 0; k < n * n; k++) {
        const value = values[k], strength = Math.pow(Math.abs(value) / (largest || 1), 0.55), tone = rgb[value > 0 ? 0 : 1];
        if (!(Math.abs(value) > 1e-9 * largest)) continue;
        image.data[4 * k] = tone[0], image.data[4 * k + 1] = tone[1], image.data[4 * k + 2] = tone[2], image.data[4 * k + 3] = 18 + 105 * strength;
      }
      this.grid = { values, n, largest };
    }
    context.putImageData(image, 0, 0);
  }
  // Without a bias f(x) = |x| f(x/|x|): one turn around the circle is enough for all pixels. Returns the largest |value|.
  cone(values, live, leak) {
    const n = this.canvas.width, steps = 1440, x = this.frame[0] / this.reach, y = this.frame[1] / this.reach;
    if (this.turned !== x + "," + y) { // of every pixel: its place on the circle, and its distance from the origin
      this.turned = x + "," + y;
      this.turns = new Float64Array(n * n), this.away = new Float64Array(n * n);
      for (let r = 0; r < n; r++)
        for (let c = 0; c < n; c++) {
          const u = x + ((c + 0.5) / n) * 2 - 1, v = y + 1 - ((r + 0.5) / n) * 2;
          this.turns[r * n + c] = (((Math.atan2(v, u) / (2 * Math.PI)) + 1) % 1) * steps;
          this.away[r * n + c] = Math.hypot(u, v);
        }
    }
    const around = Float64Array.from({ length: steps + 1 }, (_, k) => flatOutput(live, [Math.cos((2 * Math.PI * k) / steps), Math.sin((2 * Math.PI * k) / steps)], leak));
    let largest = 0;
    for (let k = 0; k < n * n; k++) {
      const t = this.turns[k], i = Math.floor(t), s = t - i;
      values[k] = this.reach * this.away[k] * (around[i] + s * (around[i + 1] - around[i]));
      largest = Math.max(largest, Math.abs(values[k]));
    }
    return largest;
  }
  // Without a bias f is a cone over the circle: it changes its sign, or becomes zero, along rays, found by bisection.
  rays(now) {
    const live = flatten(now.neurons.filter((k) => k.share > 1e-12)), { leak } = this.app.state, steps = 720, [ox, oy] = this.toScreen([0, 0]), far = 2 * this.size + Math.hypot(ox, oy), parts = [];
    const f = (t) => flatOutput(live, [Math.cos(t), Math.sin(t)], leak);
    const values = Array.from({ length: steps }, (_, k) => f((2 * Math.PI * k) / steps)), floor = 1e-9 * Math.max(...values.map(Math.abs));
    const kind = (v) => (v > floor ? 1 : v < -floor ? -1 : 0);
    for (let k = 0; k < steps; k++) {
      const here = kind(values[k]);
      if (here === kind(values[(k + 1) % steps])) continue;
      let low = (2 * Math.PI * k) / steps, high = (2 * Math.PI * (k + 1)) / steps;
      for (let turns = 0; turns < 30; turns++) {
        const middle = (low + high) / 2;
        if (kind(f(middle)) === here) low = middle; else high = middle;
      }
      parts.push(`M${ox.toFixed(2)} ${oy.toFixed(2)}L${(ox + far * Math.cos(low)).toFixed(2)} ${(oy - far * Math.sin(low)).toFixed(2)}`);
    }
    return parts.join("");
  }
  // Where f changes sign: marching over the grid.
  boundary() {
    const { values, n, largest } = this.grid, step = this.size / n, parts = [];
    const at = (r, c) => values[r * n + c], floor = 1e-7 * largest;
    for (let r = 0; r + 1 < n; r++)
      for (let c = 0; c + 1 < n; c++) {
        const corner = [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)];
        if (corner.some(Number.isNaN) || corner.every((v) => Math.abs(v) < floor)) continue;
        const cuts = [];
        for (let k = 0; k < 4; k++) {
          const a = corner[k], b = corner[(k + 1) % 4];
          if (a > 0 === b > 0) continue;
          const s = a / (a - b), from = [[c, r], [c + 1, r], [c + 1, r + 1], [c, r + 1]][k], to = [[c + 1, r], [c + 1, r + 1], [c, r + 1], [c, r]][k];
          cuts.push([(from[0] + s * (to[0] - from[0]) + 0.5) * step, (from[1] + s * (to[1] - from[1]) + 0.5) * step]);
        }
        for (let k = 0; k + 1 < cuts.length; k += 2) parts.push(`M${cuts[k][0].toFixed(1)} ${cuts[k][1].toFixed(1)}L${cuts[k + 1][0].toFixed(1)} ${cuts[k + 1][1].toFixed(1)}`);
      }
    return parts.join("");
  }
  marks(now) {
    const { state } = this.app, c = this.size / 2;
    this.back.replaceChildren();
    if (this.kind === "ball") this.back.append(svg("circle", { cx: c, cy: c, r: c * 0.94, fill: "none", stroke: "var(--line)" }));
    else {
      const [ox, oy] = this.origin();
      this.back.append(svg("path", { d: `M0 ${oy}H${2 * c}M${ox} 0V${2 * c}`, stroke: "var(--line)", fill: "none" }));
      this.ticks();
    }
    if (this.grid) this.back.append(svg("path", { d: this.kind === "flat" && !state.bias ? this.rays(now) : this.boundary(), stroke: "var(--ink)", "stroke-width": 1.6, fill: "none", "stroke-linecap": "round", class: "boundary" }));
    const outputs = now && state.X.map((x, i) => state.y[i] * outputOf(now.neurons, state.bias ? [...x, 1] : x, state.leak));
    this.outputs = outputs;
    const least = outputs ? Math.min(...outputs) : NaN;
    while (this.front.children.length > state.X.length) this.front.lastChild.remove();
    while (this.front.children.length < state.X.length) this.front.append(this.point(this.front.children.length));
    state.X.forEach((x, i) => {
      const g = this.front.children[i], [sx, sy, pz] = this.toScreen(x), [px, py] = [sx, sy].map((v) => Math.min(Math.max(v, 15), this.size - 15)), out = sx < 0 || sy < 0 || sx > this.size || sy > this.size, wrong = outputs && outputs[i] <= 0, tight = outputs && least > 0 && outputs[i] <= least * (1 + 1e-6);
      g.setAttribute("transform", out ? `translate(${px.toFixed(2)} ${py.toFixed(2)})` : `translate(${sx.toFixed(2)} ${sy.toFixed(2)})`);
      g.classList.toggle("out", out);
      g.setAttribute("opacity", this.kind === "ball" && pz < 0 ? 0.45 : 1);
      g.setAttribute("aria-label", `sample ${i}, class ${state.y[i] > 0 ? "+1" : "−1"}, at ${x.map((v) => shown(v, 4)).join(", ")}` + (wrong ? ", not fitted" : "") + (out ? ", outside the picture" : ""));
      g.classList.toggle("chosen", this.app.chosen === i);
      const [halo, disc, sign, arrow] = g.children;
      arrow.setAttribute("transform", `rotate(${((Math.atan2(sy - py, sx - px) * 180) / Math.PI).toFixed(1)})`);
      arrow.setAttribute("fill", ofSign(state.y[i]));
      arrow.setAttribute("display", out ? "inline" : "none");
      halo.setAttribute("stroke", wrong ? "var(--bad)" : tight ? "var(--ink)" : "var(--card)");
      halo.setAttribute("stroke-width", wrong || tight ? 2 : 1.5);
      halo.setAttribute("stroke-dasharray", wrong ? "3 2" : "none");
      disc.setAttribute("fill", ofSign(state.y[i]));
      sign.setAttribute("d", state.y[i] > 0 ? "M-3.2 0H3.2M0 -3.2V3.2" : "M-3.2 0H3.2");
    });
  }
  origin() { const c = this.size / 2, [x, y, reach] = this.frame; return [c - (c * x) / reach, c + (c * y) / reach]; }
  ticks() {
    const raw = this.reach / 2.5, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((s) => s * power >= raw) * power, c = this.size / 2;
    const [ox, oy] = this.origin(), row = Math.min(Math.max(oy, 0), this.size - 16) + 13, column = Math.min(Math.max(ox, 0), this.size - 40) + 5;
    for (const j of [0, 1]) {
      const from = Math.ceil((this.frame[j] - this.reach * 0.97) / step), to = Math.floor((this.frame[j] + this.reach * 0.97) / step);
      for (let k = from; k <= to; k++) {
        const at = (c * (k * step - this.frame[j])) / this.reach, text = shown(Number((k * step).toPrecision(12)), 6);
        if (k) this.back.append(j ? svg("text", { x: column, y: c - at + 4 }, text) : svg("text", { x: c + at, y: row, "text-anchor": "middle" }, text));
      }
    }
  }
  point(i) {
    const g = svg("g", { class: "point", tabindex: 0, role: "button" }, svg("circle", { r: 10.5, fill: "var(--card)", class: "halo" }), svg("circle", { r: 7.5 }),
      svg("path", { stroke: "var(--card)", "stroke-width": 1.8, "stroke-linecap": "round" }), svg("path", { d: "M13 0L7 -5V5Z", class: "arrow" }));
    hint(g, () => {
      const { state } = this.app, q = this.outputs && this.outputs[i];
      return `sample ${i}, class ${state.y[i] > 0 ? "+1" : "−1"}\nx = (${state.X[i].map(exact).join(", ")})` + (this.outputs ? `\ny f(x)/|θ|² = ${exact(q)}` : "") + (g.classList.contains("out") ? "\noutside the picture: Fit shows it" : "");
    });
    g.addEventListener("focus", () => this.app.choose(i));
    g.addEventListener("keydown", (event) => this.key(event, i));
    return g;
  }
  key(event, i) {
    const { app } = this, step = (event.shiftKey ? 0.1 : 0.02) * this.reach;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }, way = ways[event.key];
    if (way && this.kind === "flat") app.movePoint(i, [0, 1].map((j) => Number((app.state.X[i][j] + step * way[j]).toPrecision(6))));
    else if (this.kind === "ball" && turn.key(event)) app.redraw();
    else if (event.key === "Enter" || event.key === " " || event.key === "f") app.flip(i);
    else if (event.key === "Delete" || event.key === "Backspace") app.remove(i);
    else if (event.key === "+" || event.key === "=") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
  press(event) {
    const group = event.target.closest(".point"), at = pointerIn(this.svg, event, this.size);
    this.svg.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, at);
    if (this.fingers.size > 1) { this.drag = { pinch: true }; return event.preventDefault(); }
    if (group) {
      const i = [...this.front.children].indexOf(group);
      group.focus({ preventScroll: true });
      this.app.choose(i);
      if (this.kind === "flat") this.drag = { i, moved: false };
    } else if (this.kind === "ball") this.drag = { turning: at };
    else this.drag = { fresh: at, from: this.frame };
    event.preventDefault();
  }
  move(event) {
    if (!this.drag) return;
    const at = pointerIn(this.svg, event, this.size), { drag } = this;
    if (drag.pinch) return this.pinch(event.pointerId, at);
    if (drag.turning) {
      turn.spin((at[0] - drag.turning[0]) / 120, -(at[1] - drag.turning[1]) / 120);
      drag.turning = at;
      this.app.redraw();
    } else if (drag.i !== undefined) {
      drag.moved = true;
      tip.hide();
      this.app.movePoint(drag.i, this.toData(...at.map((v) => Math.min(Math.max(v, 4), this.size - 4))));
    } else if (drag.panning || Math.hypot(at[0] - drag.fresh[0], at[1] - drag.fresh[1]) > 8) {
      const c = this.size / 2, [x, y, reach] = drag.from;
      drag.panning = true;
      this.frame = [x - (reach * (at[0] - drag.fresh[0])) / c, y + (reach * (at[1] - drag.fresh[1])) / c, reach];
      this.look(this.frame);
    }
  }
  // Two fingers: the points of the plane under them stay under them.
  pinch(id, at) {
    const [other] = [...this.fingers].filter(([k]) => k !== id).map(([, place]) => place), before = this.fingers.get(id);
    this.fingers.set(id, at);
    if (!other || !before) return;
    const apart = (p) => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 10), middle = (p) => [(p[0] + other[0]) / 2, (p[1] + other[1]) / 2], c = this.size / 2;
    const [m0, m1] = [middle(before), middle(at)], [x, y, reach] = this.frame;
    if (this.kind !== "ball") this.frame = [x - (reach * (m1[0] - m0[0])) / c, y + (reach * (m1[1] - m0[1])) / c, reach];
    this.zoom(apart(before) / apart(at), m1);
  }
  release(event) {
    const { drag } = this;
    this.fingers.delete(event.pointerId);
    if (drag && drag.pinch) { if (!this.fingers.size) this.drag = null; return; } // the last finger of two adds nothing
    this.drag = null;
    if (!drag) return;
    if (drag.fresh) { if (!drag.panning && this.kind === "flat" && event.type === "pointerup") this.app.addPoint(this.toData(...drag.fresh)); }
    else if (drag.moved) this.app.settled();
  }
}
