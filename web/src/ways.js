// The neurons as particles: on the circle of directions with its sectors, valleys, ridges and extremal directions; on a sphere
// that turns; or in the shadow of more dimensions.
class Ways {
  constructor(box, app) {
    this.app = app;
    this.svg = svg("svg", { viewBox: "0 0 400 400", role: "group", "aria-label": "directions of the neurons" });
    this.back = svg("g"), this.front = svg("g");
    this.svg.append(this.back, this.front);
    box.append(this.svg);
    this.svg.addEventListener("keydown", (event) => { if (this.kind() === "ball" && turn.key(event)) { event.preventDefault(); this.app.redraw(); } });
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, () => { if (this.drag && this.drag.k !== undefined) this.app.settled(); this.drag = null; });
  }
  get rows() { const { X, bias } = this.app.state; return bias ? X.map((x) => [...x, 1]) : X; }
  kind() { const rows = this.rows, d = rows.length ? rows[0].length : 2; return d === 2 ? "circle" : d === 3 ? "ball" : "shadow"; }
  draw(now, film, seen) {
    const kind = this.kind(), rows = this.rows;
    $("ways-title").textContent = kind === "circle" ? "Directions of the neurons" : kind === "ball" ? "Directions, on a sphere that turns" : "Directions, in a plane of two classes";
    this.back.replaceChildren();
    if (kind === "shadow") this.plane = planeOf(rows, this.app.state.y);
    if (kind === "circle") this.circle(rows, seen);
    else if (kind === "ball") this.ball(rows, seen);
    else this.shadow(rows);
    if (kind === "ball") this.svg.setAttribute("tabindex", 0);
    else this.svg.removeAttribute("tabindex");
    this.svg.style.touchAction = kind === "ball" ? "none" : "pan-y";
    this.particles(now, film, kind);
  }
  // G(w) = sum y_i phi(w.x_i): what a small neuron of a > 0 climbs and one of a < 0 descends.
  potential(rows, w) {
    const { y, leak } = this.app.state;
    return rows.reduce((sum, x, i) => {
      const z = x.reduce((s, v, j) => s + v * w[j], 0);
      return sum + y[i] * (z > 0 ? z : leak * z);
    }, 0);
  }
  circle(rows, seen) {
    const R = 118, c = 200, at = (angle, r) => [c + r * Math.cos(angle), c - r * Math.sin(angle)];
    const steps = 360, values = Array.from({ length: steps }, (_, k) => this.potential(rows, [Math.cos((2 * Math.PI * k) / steps), Math.sin((2 * Math.PI * k) / steps)]));
    const largest = Math.max(...values.map(Math.abs), 1e-12);
    const curve = values.map((v, k) => at((2 * Math.PI * k) / steps, R + 40 + (28 * v) / largest));
    for (const s of [1, -1]) { // where G > 0: outward, in the colour of +; where < 0: inward
      const inside = values.map((v, k) => at((2 * Math.PI * k) / steps, R + 40 + (28 * (s * v > 0 ? v : 0)) / largest));
      const base = values.map((_, k) => at((2 * Math.PI * k) / steps, R + 40)).reverse();
      this.back.append(svg("path", { d: "M" + inside.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") + "ZM" + base.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") + "Z", fill: ofSign(s), opacity: 0.2, "fill-rule": "evenodd" }));
    }
    this.back.append(svg("path", { d: "M" + curve.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") + "Z", fill: "none", stroke: "var(--faint)", "stroke-width": 1 }));
    this.back.append(svg("circle", { cx: c, cy: c, r: R, fill: "var(--card)", stroke: "var(--line)", "stroke-width": 1.5 }));
    rows.forEach((x, i) => { // the two directions that do not see sample i
      if (!Math.hypot(...x)) return;
      const angle = Math.atan2(x[1], x[0]) + Math.PI / 2, [x1, y1] = at(angle, R), [x2, y2] = at(angle + Math.PI, R);
      const line = svg("line", { x1, y1, x2, y2, stroke: ofSign(this.app.state.y[i]), opacity: 0.35, "stroke-width": 1 });
      hint(line, () => `hyperplane of sample ${i}: directions on it do not see that sample`);
      this.back.append(line);
    });
    for (const [list, s] of seen ? [[seen.extremal && seen.extremal.positive, 1], [seen.extremal && seen.extremal.negative, -1]] : [])
      for (const { direction, G } of list || []) {
        const angle = Math.atan2(direction[1], direction[0]), [x, y] = at(angle, R + 40 + (28 * this.potential(rows, direction)) / largest);
        const mark = svg("path", { d: s > 0 ? "M0 -6L5.5 4H-5.5Z" : "M0 6L5.5 -4H-5.5Z", transform: `translate(${x} ${y})`, fill: ofSign(s), stroke: "var(--card)" });
        hint(mark, () => `extremal direction for ${s > 0 ? "positive" : "negative"} neurons\n(${exact(direction[0])}, ${exact(direction[1])})\ngrowth rate ${exact(G)}`);
        this.back.append(mark);
      }
  }
  ball(rows, seen) {
    const R = 168, c = 200;
    this.back.append(svg("circle", { cx: c, cy: c, r: R, fill: "var(--card)", stroke: "var(--line)", "stroke-width": 1.5 }));
    rows.forEach((x, i) => { // great circle of directions orthogonal to x
      const n = Math.hypot(...x);
      if (!n) return;
      const u = x.map((v) => v / n), helper = Math.abs(u[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0];
      const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
      let e = cross(u, helper);
      e = e.map((v) => v / Math.hypot(...e));
      const f = cross(u, e);
      for (const front of [false, true]) {
        const parts = [];
        let open = false;
        for (let k = 0; k <= 72; k++) {
          const t = (2 * Math.PI * k) / 72, p = turn.of(e.map((v, j) => v * Math.cos(t) + f[j] * Math.sin(t)));
          if (p[2] >= 0 === front) { parts.push((open ? "L" : "M") + (c + R * p[0]).toFixed(1) + " " + (c - R * p[1]).toFixed(1)); open = true; } else open = false;
        }
        this.back.append(svg("path", { d: parts.join(""), fill: "none", stroke: ofSign(this.app.state.y[i]), opacity: front ? 0.45 : 0.13 }));
      }
    });
    for (const [list, s] of seen ? [[seen.extremal && seen.extremal.positive, 1], [seen.extremal && seen.extremal.negative, -1]] : [])
      for (const { direction, G } of list || []) {
        const p = turn.of(direction);
        const mark = svg("path", { d: s > 0 ? "M0 -6L5.5 4H-5.5Z" : "M0 6L5.5 -4H-5.5Z", transform: `translate(${c + R * p[0]} ${c - R * p[1]})`, fill: ofSign(s), stroke: "var(--card)", opacity: p[2] < 0 ? 0.3 : 1 });
        hint(mark, () => `extremal direction for ${s > 0 ? "positive" : "negative"} neurons\n(${Array.from(direction).map(exact).join(", ")})\ngrowth rate ${exact(G)}`);
        this.back.append(mark);
      }
  }
  shadow() {
    this.back.append(svg("circle", { cx: 200, cy: 200, r: 168, fill: "var(--card)", stroke: "var(--line)", "stroke-width": 1.5 }), svg("path", { d: "M32 200H368M200 32V368", stroke: "var(--line)" }));
  }
  place(w, kind) {
    const n = Math.hypot(...w) || 1;
    if (kind === "circle") return [200 + (118 * w[0]) / n, 200 - (118 * w[1]) / n, 1];
    const p = kind === "ball" ? turn.of(Array.from(w, (v) => v / n)) : this.plane.of(Array.from(w, (v) => v / n));
    return [200 + 168 * p[0], 200 - 168 * p[1], p[2] === undefined ? 1 : p[2]];
  }
  particles(now, film, kind) {
    if (!now) return this.front.replaceChildren();
    while (this.front.children.length > now.neurons.length) this.front.lastChild.remove();
    while (this.front.children.length < now.neurons.length) this.front.append(this.particle(this.front.children.length));
    const most = Math.max(...now.neurons.map((n) => n.share));
    this.now = now;
    const trail = film && now.place > 0 ? film : null;
    now.neurons.forEach((neuron, k) => {
      const g = this.front.children[k], [path, disc] = g.children, [x, y, z] = this.place(neuron.w, kind), dead = film.dead.has(k), gone = film.vanishing.has(k);
      disc.setAttribute("cx", x.toFixed(2)), disc.setAttribute("cy", y.toFixed(2));
      disc.setAttribute("r", (2.6 + 6 * Math.sqrt(neuron.share / most)).toFixed(2));
      disc.setAttribute("fill", dead ? "var(--card)" : ofSign(neuron.a));
      disc.setAttribute("stroke", dead ? ofSign(neuron.a) : gone ? "var(--faint)" : "var(--card)");
      disc.setAttribute("stroke-dasharray", dead ? "2 1.6" : "none");
      disc.setAttribute("opacity", z < 0 ? 0.3 : dead || gone ? 0.75 : 1);
      g.classList.toggle("loose", this.app.loose);
      if (this.app.loose && kind === "circle") g.setAttribute("tabindex", 0);
      else g.removeAttribute("tabindex");
      if (trail && now.neurons.length <= 120) {
        const from = Math.max(0, Math.floor(now.place) - 16), points = [];
        for (let i = from; i <= now.place; i++) points.push(this.place(film.frames[i].directions[k].subarray(0, film.d), kind));
        points.push([x, y, z]);
        path.setAttribute("d", "M" + points.map((p) => p[0].toFixed(1) + " " + p[1].toFixed(1)).join("L"));
        path.setAttribute("stroke", ofSign(neuron.a));
      } else path.setAttribute("d", "");
    });
  }
  particle(k) {
    const g = svg("g", { class: "neuron" }, svg("path", { fill: "none", "stroke-width": 1.4, opacity: 0.35 }), svg("circle", { "stroke-width": 1.2 }));
    hint(g, () => {
      const neuron = this.now.neurons[k], flow = this.app.film.flow, fate = flow.alignment && flow.alignment.neurons && flow.alignment.neurons[k];
      return `neuron ${k}, a ${neuron.a > 0 ? "> 0" : "< 0"}${fate ? ", destiny " + fate.destiny : ""}\nw/|(w,a)| = (${Array.from(neuron.w).map(exact).join(", ")})\na/|(w,a)| = ${exact(neuron.a)}\n${this.now.limit ? "" : "ln |(w,a)| = " + shown(neuron.logNorm, 8) + "\n"}share of |θ|² = ${shown(neuron.share, 6)}`;
    });
    g.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 1, ArrowUp: 1, ArrowRight: -1, ArrowDown: -1 }[event.key];
      if (!step || !this.app.loose) return;
      const { w } = this.now.neurons[k];
      event.preventDefault();
      this.app.moveNeuron(k, Math.atan2(w[1], w[0]) + (step * Math.PI) / 60);
    });
    return g;
  }
  press(event) {
    const group = event.target.closest(".neuron"), at = pointerIn(this.svg, event, 400);
    if (group && this.app.loose && this.kind() === "circle") this.drag = { k: [...this.front.children].indexOf(group) };
    else if (this.kind() === "ball") this.drag = { turning: at };
    else return;
    this.svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  }
  move(event) {
    if (!this.drag) return;
    const at = pointerIn(this.svg, event, 400);
    if (this.drag.turning) {
      turn.spin((at[0] - this.drag.turning[0]) / 120, -(at[1] - this.drag.turning[1]) / 120);
      this.drag.turning = at;
      this.app.redraw();
    } else this.app.moveNeuron(this.drag.k, Math.atan2(200 - at[1], at[0] - 200));
  }
}
