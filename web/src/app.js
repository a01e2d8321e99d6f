// The page: one state, one loop. A change asks the engine for the flow, then the optimum, then the words; newer changes
// take the place of older ones. Nothing here computes a limit: all numbers are the engine's.
const FRAMES = 160;
const app = {
  state: blank(), listeners: [], position: 0, branch: 0, chosen: null, loose: false, newLabel: 1, round: 0, lesson: null, times: {},
  onState(listener) { this.listeners.push(listener); },
  status(text, tone = "") {
    $("state").className = tone;
    $("state").lastElementChild.textContent = text;
  },

  // ---- changes
  set(changes, { keep = false } = {}) {
    Object.assign(this.state, changes);
    for (const listener of this.listeners) listener();
    this.link();
    return this.compute(keep);
  },
  own() { this.state.source = null; $("catalogue").value = ""; },
  movePoint(i, x) {
    this.own();
    this.state.X[i] = x;
    this.set({}, { keep: true });
    this.redraw();
  },
  settled() { this.link(); },
  addPoint(x) {
    if (this.state.X.length >= LIMITS.points) return this.status("no more than " + LIMITS.points + " points here", "bad");
    this.own();
    this.state.X.push(x);
    this.state.y.push(this.newLabel);
    this.choose(this.state.X.length - 1);
    return this.set({}, { keep: true });
  },
  flip(i) { this.own(); this.state.y[i] = -this.state.y[i]; return this.set({}, { keep: true }); },
  remove(i) {
    if (this.state.X.length <= 1) return this.status("one point has to stay", "bad");
    this.own();
    this.state.X.splice(i, 1);
    this.state.y.splice(i, 1);
    this.choose(null);
    return this.set({}, { keep: true });
  },
  choose(i) {
    this.chosen = i;
    $("flip").disabled = $("remove").disabled = i === null;
    [...this.plane.front.children].forEach((g, k) => g.classList.toggle("chosen", k === i));
  },
  moveNeuron(k, angle) { // the start of one neuron, its size kept; the others stay where they are
    const first = this.film && this.film.frames[0];
    if (!first || this.film.d !== 2) return;
    if (!this.state.start) { // weights divided by their common size, which is the scale's job
      const scale = this.state.scale === "limit" ? 0 : Math.log(Number(this.state.scale));
      const base = this.state.scale === "limit" ? Math.max(...first.logNorms) : scale;
      const size = Array.from(first.logNorms, (v) => Math.exp(v - base));
      this.state.start = { W: first.directions.map((u, j) => [u[0] * size[j], u[1] * size[j]]), a: first.directions.map((u, j) => u[2] * size[j]) };
    }
    const w = this.state.start.W[k], r = Math.hypot(...w);
    this.state.start.W[k] = [r * Math.cos(angle), r * Math.sin(angle)];
    this.goTo(0);
    this.set({}, { keep: true });
  },
  takeBranch(k) {
    this.branch = k;
    this.show();
  },

  // ---- data that come in
  async fetchPoints(source) {
    const answer = await engine.ask({ words: ["data", "make", source, "-o", "made.csv"], read: ["made.csv"] });
    if (answer.cancelled) return "cancelled";
    if (!answer.files["made.csv"] || answer.error) return answer.error || "the engine made no data";
    const why = this.readRows(new TextDecoder().decode(answer.files["made.csv"]));
    if (!why) this.state.source = source;
    return why;
  },
  // Rows that the engine itself has written: a header, numbers, the class last.
  readRows(text) {
    const rows = text.trim().split("\n").map((line) => line.split(","));
    if (rows[0].some((cell) => Number.isNaN(Number(cell)))) rows.shift();
    const labels = rows.map((row) => row.pop()), numeric = labels.every((label) => Number.isFinite(Number(label)));
    const names = [...new Set(labels)].sort((a, b) => (numeric ? Number(a) - Number(b) : a < b ? -1 : 1));
    if (names.length > 2) return `${names.length} classes: the explorer shows two`;
    if (rows.length > LIMITS.points) return `${rows.length} samples: the explorer takes ${LIMITS.points}; use the program for more`;
    if (rows[0].length < 2) return "one column of numbers: the explorer needs two or more";
    if (rows[0].length > LIMITS.d) return `${rows[0].length} columns: the explorer takes ${LIMITS.d}; use the program for more`;
    const plus = names.length === 2 ? names[1] : Number(names[0]) > 0 ? names[0] : null;
    this.state.X = rows.map((row) => row.map(Number));
    this.state.y = labels.map((label) => (label === plus ? 1 : -1));
    return null;
  },
  // Text of a user, read by the engine's reader; an error message, and nothing is lost, or null.
  async takeText(text, name) {
    const answer = await engine.ask({ words: ["data", "convert", name, "-o", "clean.csv"], files: { [name]: text }, read: ["clean.csv"] });
    if (answer.cancelled) return "busy: try again";
    if (answer.error || !answer.files["clean.csv"]) return answer.error || "not readable";
    const before = { X: this.state.X, y: this.state.y };
    const why = this.readRows(new TextDecoder().decode(answer.files["clean.csv"]));
    if (why) { Object.assign(this.state, before); return why; }
    endLesson(this);
    this.own();
    this.choose(null);
    this.position = 1;
    this.set({ start: null, bias: false, view: null });
    return null;
  },
  async open(fragment, at) {
    const { state, at: moment } = fromFragment(fragment);
    if (state.source) {
      const keep = this.state;
      this.state = state;
      await engine.makeWay();
      const why = await this.fetchPoints(state.source);
      if (why) { this.state = keep; throw new Error(why); }
    } else this.state = state;
    this.chosen = null;
    this.position = at !== undefined ? at : moment === null ? 1 : moment;
    $("catalogue").value = CATALOGUE.some(([source]) => source === state.source) ? state.source : "";
    await this.set({});
  },
  link() {
    clearTimeout(this.linking);
    this.linking = setTimeout(() => {
      try { history.replaceState(null, "", "#" + toFragment(this.state, this.position)); } catch (error) { /* a page inside a frame may not */ }
    }, 250);
  },

  // ---- computing
  async compute(keep) {
    const round = ++this.round, began = performance.now(), { state } = this;
    this.status("computing", "busy");
    this.wordsBusy = true;
    await engine.makeWay();
    if (round !== this.round) return;
    const files = state.source ? {} : { "points.csv": csvOf(state) }, start = startOf(state), fast = ["--verdict", "0", "--no-audit", "--trace", "0", "--once", "--time", "20", "--detail", "full"];
    const leak = [...(state.bias ? ["--bias", "1"] : []), "--leak", String(state.leak)];
    const ask = async (worker, words) => {
      const answer = await engine[worker].ask({ files, start, words });
      return round === this.round && !answer.cancelled ? answer : null;
    };
    const asked = [flowWords(state, 0, fast), ["maxmargin", dataWord(state), ...leak, "--time", "5"]].map((words) => ask("quick", words)); // the second works while the first is drawn
    const flow = await asked[0];
    if (!flow) return;
    if (!flow.answer) return this.status(flow.error || "no result", "bad");
    this.times.flow = flow.ms;
    this.best = keep ? this.best : null;
    this.checked = this.checkedWays = null;
    this.showLimit(flow.answer);
    const best = await asked[1];
    if (!best) return;
    this.best = best.answer && best.answer.global;
    this.times.best = best.ms;
    this.times.answer = performance.now() - began;
    this.times.round = round;
    drawVerdict(this);
    // While the hand still moves nothing that takes long is begun; where only the limit is shown it can wait longer.
    if (keep && this.film) await new Promise((resolve) => setTimeout(resolve, this.position >= 1 ? 150 : 30));
    if (round !== this.round) return;
    const film = ask("film", flowWords(state, FRAMES, fast));
    const words = ask("words", ["explain", dataWord(state), ...flags(state), ...(state.start ? ["--weights", "(network)"] : []), "--branches", "all", "--trace", "0", "--time", "30"]);
    const made = await film;
    if (!made) return;
    if (!made.answer) return this.status(made.error || "no result", "bad");
    this.times.film = made.ms;
    this.flow = made.answer;
    this.show();
    const said = await words;
    if (!said) return;
    this.checked = said.answer && said.answer.flow ? said.answer.flow.limit : null; // of two runs at different settings
    this.checkedWays = said.answer && said.answer.flow && (said.answer.flow.continuations || []).map((way) => way.limit);
    this.seen = said.answer && said.answer.inspect;
    this.words = said.answer ? said.answer.sentences : [said.error || "nothing to say"];
    this.wordsBusy = false;
    this.status("computed", "");
    this.times.all = performance.now() - began;
    drawVerdict(this);
    drawWords(this);
    this.redraw();
    document.body.dataset.done = String(round);
  },
  // The limit is known, the way to it not yet.
  showLimit(flow) {
    this.flow = flow;
    if (this.branch >= Math.max(1, (flow.continuations || []).length)) this.branch = 0;
    const ways = flow.continuations || [], now = (this.current = ways.length ? ways[this.branch] : flow), film = new Film(now, this.state.X[0].length + (this.state.bias ? 1 : 0));
    if (film.length && (this.position >= 1 || !this.film || this.film.d !== film.d)) {
      this.film = film;
      this.redraw();
    }
    drawVerdict(this);
    if (!this.times.first) this.times.first = performance.now();
  },
  show() {
    const ways = this.flow.continuations || [], flow = ways.length ? ways[this.branch] : this.flow;
    this.current = flow;
    this.film = new Film(flow, this.state.X[0].length + (this.state.bias ? 1 : 0));
    this.timeline.load(this.film);
    drawVerdict(this);
    drawWords(this);
    this.redraw();
    document.body.dataset.shown = String(this.round);
  },
  goTo(position) {
    this.position = position;
    this.redraw();
    this.link();
  },
  margin() { return this.plane.outputs ? Math.min(...this.plane.outputs) : NaN; },
  redraw() {
    const now = this.film && this.film.d === this.state.X[0].length + (this.state.bias ? 1 : 0) ? this.film.at(this.position) : null;
    this.plane.draw(now);
    this.ways.draw(now, this.film, this.seen && this.seen.d === (this.film && this.film.d) ? this.seen : null);
    this.timeline.draw(now);
    const notes = { flat: "Click to add a point, drag to move it. " + (this.state.bias ? "" : "The network has no bias, so every region is a cone from the origin."),
      ball: "Colour: what the network says in each direction. Drag or arrow keys turn it; Paste CSV changes points.", shadow: this.plane.plane ? `Shown: the plane of the two class means, which holds ${shown(100 * this.plane.plane.share, 3)} % of the data's length²; distances across it are lost.` : "" };
    const out = this.plane.front.querySelectorAll(".out").length;
    $("plane-note").textContent = notes[this.plane.kind] + (out ? ` ${out === 1 ? "One point lies" : out + " points lie"} outside the picture; Fit shows all.` : "");
    const ways = { circle: this.loose ? "Drag a neuron to move its start; by keyboard: Tab to it, then arrow keys." : "Outer curve: what small neurons climb (a > 0) or descend (a < 0); triangles: where they can end. Lines: hyperplanes of the samples.",
      ball: "Great circles: hyperplanes of the samples. Drag or arrow keys turn it.", shadow: "A direction in the plane lies on the circle; the nearer to the middle, the more of it is not shown." };
    $("circle-note").textContent = ways[this.ways.kind()];
    $("loose").hidden = this.ways.kind() !== "circle";
    $("add").disabled = this.plane.kind !== "flat";
  },

  // ---- products
  async json() {
    const answer = await engine.ask({ files: this.state.source ? {} : { "points.csv": csvOf(this.state) }, start: startOf(this.state), words: [...flowWords(this.state, FRAMES, ["--detail", "full"]), "--json"] });
    return answer.text || JSON.stringify({ error: answer.error });
  },
  async prove() {
    const { state } = this;
    const answer = await engine.ask({ files: state.source ? {} : { "points.csv": csvOf(state) }, words: ["maxmargin", dataWord(state), ...(state.bias ? ["--bias", "1"] : []), "--leak", String(state.leak), "--proof", "optimum.proof", "--time", "30"], read: ["optimum.proof"] });
    if (answer.cancelled) return { error: "cancelled" };
    const bytes = answer.files["optimum.proof"];
    if (!bytes) return { error: answer.error || answer.warnings || "no proof could be written" };
    const verdict = await engine.ask({ check: bytes });
    return { bytes, verdict: verdict.line || "not checked" };
  },
};

function theme(name) {
  document.documentElement.dataset.theme = name;
  if (app.film) app.redraw();
}
async function begin() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  app.plane = new Plane($("plane"), app);
  app.ways = new Ways($("circle"), app);
  app.timeline = new Timeline(app);
  buildControls(app);
  $("catalogue").append(html("option", { value: "" }, "own points"), ...CATALOGUE.map(([value, name]) => html("option", { value }, name)));
  $("legend").append(...[["pos", "a > 0, class +1"], ["neg", "a < 0, class −1"]].map(([c, name]) => html("span", {}, html("i", { style: `background:var(--${c})` }), name)), html("span", {}, html("i", { style: "border:1.5px dashed var(--faint)" }), "dead at the end"));
  const named = () => { $("class").textContent = app.newLabel > 0 ? "new: +1" : "new: −1"; $("class").style.color = ofSign(app.newLabel); };
  named();
  $("class").addEventListener("click", () => { app.newLabel = -app.newLabel; named(); });
  $("flip").addEventListener("click", () => app.chosen !== null && app.flip(app.chosen));
  $("remove").addEventListener("click", () => app.chosen !== null && app.remove(app.chosen));
  $("add").addEventListener("click", () => { if (app.plane.kind === "flat") { const k = app.state.X.length * 2.4; app.addPoint([0.5 * app.plane.reach * Math.cos(k), 0.5 * app.plane.reach * Math.sin(k)].map((v) => Number(v.toPrecision(3)))); } });
  $("paste").addEventListener("click", () => pasteDialog(app));
  $("share").addEventListener("click", () => shareDialog(app));
  $("lessons").addEventListener("click", () => lessonsDialog(app));
  $("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("loose").addEventListener("click", () => { app.loose = !app.loose; $("loose").setAttribute("aria-pressed", String(app.loose)); if (app.loose) app.goTo(0); else app.redraw(); });
  const report = (error) => app.status(String(error.message || error), "bad");
  $("catalogue").addEventListener("change", () => { if ($("catalogue").value) { endLesson(app); const keep = toFragment(app.state).replace(/(data|points|start|view)=[^&]*&?/g, ""); app.open("data=" + $("catalogue").value + "&" + keep, 1).catch(report); } });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select, button, dialog, .point") || event.ctrlKey || event.metaKey) return;
    if (event.key === " ") { event.preventDefault(); $("play").click(); }
  });
  window.addEventListener("hashchange", () => app.open(location.hash).catch(report));
  const given = JSON.parse($("given").textContent);
  app.state.X = [[1, 0], [-1, 0]], app.state.y = [1, -1];
  app.redraw();
  try {
    await engine.load((p) => app.status(p.phase, "busy"));
    const wanted = location.hash.length > 1 ? location.hash : given ? given.link : "data=gen:planar";
    await app.open(wanted).catch((error) => { report(error); return app.open("data=gen:planar"); });
  } catch (error) { report(error); }
}
window.reluflow = { app, engine, lessons: LESSONS, facts: () => lessonFacts(app), commandLine, python, toFragment, fromFragment };
begin();
