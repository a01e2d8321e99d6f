// The way from t = 0 to infinity: phases, events, the slider, play; and loss, norm and margin along it.
const ICONS = { play: "M5 3l11 6.5L5 16z", stop: "M4 3h4v13H4zM11 3h4v13h-4z" };
class Timeline {
  constructor(app) {
    this.app = app;
    this.svg = $("track").querySelector("svg");
    this.svg.setAttribute("preserveAspectRatio", "none");
    $("slider").addEventListener("input", () => { this.stop(); app.goTo($("slider").value / 1000); });
    $("play").addEventListener("click", () => (this.running ? this.stop() : this.play()));
    this.icon();
    this.charts = [
      { name: "ln loss", value: (f) => f.logLoss, now: (n) => n.logLoss },
      { name: "ln |θ|", value: (f) => (f.limit ? Infinity : f.logNorm), now: (n) => (n.limit ? Infinity : n.logNorm) },
      { name: "normalised margin", value: (f, i) => this.margins[i], now: () => this.app.margin() },
    ];
    const box = $("charts").querySelector(".charts");
    for (const chart of this.charts) {
      chart.text = html("span");
      chart.svg = svg("svg", { viewBox: "0 0 300 128", preserveAspectRatio: "none", role: "img", "aria-label": chart.name + " along the run" });
      chart.top = html("small", { class: "top" }), chart.low = html("small", { class: "low" });
      box.append(html("div", { class: "chart" }, html("h3", {}, chart.name, chart.text), chart.svg, chart.top, chart.low));
      const follow = (event) => {
        const frame = chart.svg.getBoundingClientRect(), place = Math.min(Math.max((event.clientX - frame.left) / frame.width, 0), 1);
        const film = app.film;
        if (!film || !film.length) return;
        const i = Math.round(place * (film.length - 1)), f = film.frames[i];
        tip.show(event, `${timeText(f.logT)}\n${chart.name} = ${exact(chart.value(f, i))}`);
      };
      chart.svg.addEventListener("pointermove", follow);
      chart.svg.addEventListener("pointerleave", tip.hide);
      chart.svg.addEventListener("pointerdown", (event) => {
        const frame = chart.svg.getBoundingClientRect();
        this.stop();
        app.goTo(Math.min(Math.max((event.clientX - frame.left) / frame.width, 0), 1));
      });
    }
  }
  icon() {
    $("play").innerHTML = `<svg viewBox="0 0 19 19" aria-hidden="true"><path d="${this.running ? ICONS.stop : ICONS.play}"/></svg>`;
    $("play").setAttribute("aria-label", this.running ? "pause" : "play");
  }
  play(to = 1) {
    const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.app.position >= to - 1e-6) this.app.goTo(0);
    if (reduced) return this.app.goTo(to);
    let last = performance.now();
    this.running = true;
    this.icon();
    const step = (now) => {
      if (!this.running) return;
      const next = Math.min(this.app.position + (now - last) / 9000, to);
      last = now;
      this.app.goTo(next);
      if (next >= to) this.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  stop() { this.running = false; this.icon(); }
  // Phases of a film as places: alignment until no pattern changes any more, fitting, infinity.
  phases(film) {
    const { phases } = film.flow, ln = (t) => (t === null || t === undefined ? null : Math.log(t));
    let align = film.placeOf(ln(phases && phases.t_align)), fit = film.placeOf(ln(phases && phases.t_fit));
    if (align === null && film.frames.length && film.frames[1] && film.frames[1].logT === null) { // in the limit times are not known
      const leave = film.frames.findIndex((f) => f.logLoss < film.frames[0].logLoss - 0.02);
      align = leave > 0 ? leave / (film.length - 1) : null;
    }
    const apart = film.frames.findIndex((f, i) => this.margins[i] > 0);
    return { align, fit, apart: apart > 0 ? apart / (film.length - 1) : null };
  }
  load(film) {
    const { state } = this.app, rows = state.bias ? state.X.map((x) => [...x, 1]) : state.X;
    this.margins = film.frames.map((_, i) => {
      const { neurons } = film.at(film.length > 1 ? i / (film.length - 1) : 0);
      return Math.min(...rows.map((x, k) => state.y[k] * outputOf(neurons, x, state.leak)));
    });
    this.places = this.phases(film);
    this.drawTrack(film);
    this.drawCharts(film);
  }
  drawTrack(film) {
    const W = 1000, H = 64, { align, fit } = this.places, pieces = [];
    this.svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    this.svg.replaceChildren();
    const a = align === null ? 0 : align, b = fit === null || fit < a ? a : fit;
    pieces.push([0, a, "alignment", 0.16], [a, b, "growth", 0.1], [b, 1, film.decided ? "fitting, to infinity" : "fitting", 0.22]);
    for (const [from, to, name, opacity] of pieces) {
      if (to - from < 0.004) continue;
      this.svg.append(svg("rect", { x: from * W, y: 28, width: (to - from) * W - 2, height: 26, rx: 6, fill: "var(--accent)", opacity }));
    }
    const events = film.flow.events || [], bins = new Array(125).fill(0), rare = [];
    for (const event of events) {
      const place = event.log_t === null ? 0 : film.placeOf(event.log_t);
      if (place === null) continue;
      bins[Math.min(bins.length - 1, Math.floor(place * bins.length))]++;
      if (event.kind !== "cross") rare.push([place, event]);
    }
    const most = Math.max(1, ...bins);
    bins.forEach((count, k) => {
      if (count) this.svg.append(svg("rect", { x: k * 8 + 1, y: 26 - 20 * Math.sqrt(count / most), width: 6, height: 20 * Math.sqrt(count / most), fill: "var(--faint)", opacity: 0.55 }));
    });
    for (const [place, event] of rare.slice(0, 60)) this.svg.append(svg("path", { d: `M${(place * W).toFixed(1)} 4h0.01`, "stroke-width": 5, "stroke-linecap": "round", "vector-effect": "non-scaling-stroke", stroke: event.kind === "branch" ? "var(--bad)" : event.kind === "die" ? "var(--faint)" : "var(--accent)" }));
    let legend = $("track").querySelector(".phases");
    if (!legend) $("track").append((legend = html("div", { class: "phases", style: "position:absolute;left:0;right:0;bottom:-8px;height:16px;font-size:11.5px;color:var(--soft);pointer-events:none" })));
    legend.replaceChildren(...pieces.filter(([from, to]) => to - from > 0.09).map(([from, to, name]) => html("span", { style: `position:absolute;left:${(from * 100).toFixed(2)}%;width:${((to - from) * 100).toFixed(2)}%;overflow:hidden;white-space:nowrap;text-overflow:ellipsis` }, name)));
  }
  drawCharts(film) {
    for (const chart of this.charts) {
      const values = film.frames.map((f, i) => chart.value(f, i)), finite = values.filter(Number.isFinite), best = this.app.best;
      chart.svg.replaceChildren();
      if (!finite.length) continue;
      let shownValues = finite;
      if (chart.name !== "normalised margin") { // the end goes on for ever: the axis ends where the picture stops changing
        const sorted = [...finite].sort((x, y) => x - y);
        shownValues = chart.name === "ln loss" ? [sorted[sorted.length - 1], Math.max(sorted[0], sorted[sorted.length - 1] - 40)] : [sorted[0], sorted[sorted.length - 1]];
      } else if (best && best.margin) shownValues = [...finite, best.margin];
      let low = Math.min(...shownValues), high = Math.max(...shownValues);
      if (high - low < 1e-12) { low -= 1; high += 1; }
      chart.top.textContent = shown(high, 3), chart.low.textContent = shown(low, 3);
      const Y = (v) => 10 + 100 * (1 - (v - low) / (high - low)), X = (i) => (300 * i) / Math.max(1, film.length - 1);
      const line = [];
      values.forEach((v, i) => { if (Number.isFinite(v)) line.push(`${line.length ? "L" : "M"}${X(i).toFixed(1)} ${Math.min(Y(v), 122).toFixed(1)}`); });
      if (low < 0 && high > 0) chart.svg.append(svg("line", { x1: 0, x2: 300, y1: Y(0), y2: Y(0), stroke: "var(--line)", "vector-effect": "non-scaling-stroke" }));
      if (chart.name === "normalised margin" && best && best.margin)
        chart.svg.append(svg("line", { x1: 0, x2: 300, y1: Y(best.margin), y2: Y(best.margin), stroke: "var(--good)", "stroke-dasharray": "4 3", "vector-effect": "non-scaling-stroke" }));
      chart.svg.append(svg("path", { d: line.join(""), fill: "none", stroke: "var(--accent)", "stroke-width": 2, "vector-effect": "non-scaling-stroke", "stroke-linejoin": "round" }));
      chart.cursor = svg("line", { y1: 0, y2: 128, stroke: "var(--ink)", "stroke-width": 1, "vector-effect": "non-scaling-stroke", opacity: 0.6 });
      chart.svg.append(chart.cursor);
    }
  }
  draw(now) {
    if (!this.places) return;
    $("slider").value = Math.round(this.app.position * 1000);
    if (!now) return;
    const words = this.phaseName(), time = timeText(now.logT);
    $("slider").setAttribute("aria-valuetext", `${time}, ${words}`);
    $("moment").replaceChildren(html("b", {}, time), html("span", { class: "note" }, words));
    for (const chart of this.charts) {
      chart.text.textContent = shown(chart.now(now), 6);
      if (chart.cursor) chart.cursor.setAttribute("x1", 300 * this.app.position), chart.cursor.setAttribute("x2", 300 * this.app.position);
    }
  }
  phaseName() {
    const { align, fit, apart } = this.places, p = this.app.position;
    if (p >= 1 && this.app.film.decided) return "the limit";
    if (align !== null && p < align) return "alignment: directions turn";
    if (fit !== null && p < fit) return "growth: neurons leave zero";
    return apart !== null && p >= apart ? "to infinity: margins grow" : "fitting";
  }
}
