// Limit beside optimum, the controls, the sentences.
const brief = (x) => shown(x, Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? 5 : 7); // as many digits as a card holds
function drawVerdict(app) {
  const box = $("verdict"), { best, current: flow } = app;
  box.replaceChildren();
  if (!flow) return;
  // The quick run stands alone: until the words' second run, at a hundredth of its tolerance, has ended at the same place,
  // nothing is said to converge; where the two do not agree, the limit is not known.
  const checked = (app.flow.continuations || []).length ? (app.checkedWays || [])[app.branch] : app.checked;
  const doubt = flow.limit.status === "converged" && checked && checked.status !== "converged", limit = doubt ? { ...flow.limit, status: checked.status, why: checked.why } : flow.limit;
  const status = limit.status, alone = status === "converged" && !checked, chips = { converged: ["good", "converges"], branched: ["warn", "branches"], "not-separated": ["bad", "never separates"], undecided: ["warn", "undecided"], interrupted: ["warn", "ran out of time"] };
  const [tone, word] = alone ? ["warn", app.wordsBusy ? "confirming…" : "one run"] : chips[status] || ["warn", status];
  const margin = status === "converged" ? limit.margin : null, top = best && best.margin;
  const known = margin > 0 && top > 0, share = known ? Math.min(margin / top, 1) : 0;
  const proved = best && best.status === "optimal";
  box.append(html("div", { class: "head" }, html("h2", {}, "Limit and optimum"), html("span", { class: "chip " + tone, id: "status" }, word)),
    html("div", { class: "pair" },
      html("div", {}, html("p", {}, "gradient flow ends at"), html("div", { class: "big", id: "limit-margin", title: exact(margin) }, margin === null ? "–" : brief(margin))),
      html("div", {}, html("p", {}, "best of any network"), html("div", { class: "big", id: "best-margin", title: exact(top) }, best ? (best.status === "infeasible" ? "none" : brief(top)) : "…"))),
    html("div", { class: "meter", role: "img", "aria-label": known ? `the flow reaches ${(100 * share).toFixed(2)} percent of the best margin` : "no share" }, html("i", { style: `width:${(100 * share).toFixed(2)}%` })));
  const words = [];
  if (known) {
    const gap = 1 - margin / top, who = alone ? "One run" : "The flow";
    words.push(Math.abs(gap) < 1e-7 ? who + " finds the best margin there is." : `${who} stops ${shown(100 * gap, 3)} % below the best margin.`);
  } else if (status === "not-separated") words.push("The loss stops falling with samples on the wrong side: there is no margin to compare.");
  else if (limit.why) words.push("The limit is not known: " + limit.why + ".");
  if (best) words.push(best.status === "infeasible" ? "No network fits these data (proved)." : proved ? `The optimum is proved to a relative gap of ${shown(best.gap, 2)}, reached by ${best.width_needed} neuron${best.width_needed === 1 ? "" : "s"}.` : `Best margin: a gap of ${shown(best.gap, 2)} is left, not proved.`);
  if (flow.branched) words.push("The flow meets a point with several ways on; each is followed:");
  box.append(html("p", { class: "note" }, words.join(" ")));
  const ways = app.flow.continuations || [];
  if (ways.length) box.append(html("div", { id: "branches" }, ...[app.flow, ...ways].slice(ways.length ? 1 : 0).map((way, k) =>
    html("button", { "aria-pressed": String(app.branch === k), onclick: () => app.takeBranch(k) },
      `way ${k + 1}: ${way.limit.status === "converged" ? "margin " + shown(way.limit.margin, 8) : way.limit.status}`))));
  if (limit.n_support || (limit.groups && limit.groups.length)) {
    const g = limit.groups.length;
    box.append(html("p", { class: "note" }, `${g} group${g === 1 ? "" : "s"} of equal neurons, ${limit.dead.length} dead, ${limit.vanishing.length} left behind; ${limit.support ? limit.support.length : 0} support samples.`));
  }
}

function drawWords(app) {
  const list = $("sentences"), chip = $("words-state");
  const lines = app.words || [];
  list.replaceChildren(...lines.map((line) => html("li", {}, line)));
  chip.hidden = !app.wordsBusy;
  list.classList.toggle("stale", !!app.wordsBusy); // still about the state before
  chip.textContent = "thinking";
  if (!lines.length) list.append(html("li", { class: "note" }, "…"));
  else if (app.state.start) list.prepend(html("li", { class: "note", id: "by-hand" }, "Neurons were moved by hand: the words are about that start, “given” below."));
}

function buildControls(app) {
  const box = $("controls"), field = (name, control, output) => html("div", { class: "field" }, html("label", { for: control.id }, name), control, output || "");
  const slider = (id, list, key, name, title) => {
    const input = html("input", { type: "range", id, min: 0, max: list.length - 1, step: 1, title }), output = html("output", { for: id });
    input.addEventListener("input", () => app.set({ [key]: list[input.value] }));
    const show = () => {
      let at = list.indexOf(app.state[key]);
      if (at < 0) at = list.length - 1; // from a link: a value of its own
      input.value = at;
      output.textContent = String(key === "width" && app.state.start ? app.state.start.W.length : app.state[key]) + (list.includes(app.state[key]) ? "" : " ");
      input.setAttribute("aria-valuetext", output.textContent);
    };
    app.onState(show);
    return field(name, input, output);
  };
  const select = (id, list, key, name) => {
    const input = html("select", { id }, ...list.map((value) => html("option", { value }, value)));
    input.addEventListener("change", () => app.set({ [key]: input.value }));
    app.onState(() => { input.value = app.state[key]; });
    return field(name, input);
  };
  const leak = html("input", { type: "range", id: "leak", min: 0, max: 1, step: 0.05 }), leakText = html("output", { for: "leak" });
  leak.addEventListener("input", () => app.set({ leak: Number(leak.value) }));
  app.onState(() => { leak.value = app.state.leak; leakText.textContent = shown(app.state.leak, 3); });
  const seed = html("input", { type: "number", id: "seed", min: 0, step: 1, class: "wide", "aria-label": "seed" });
  seed.addEventListener("change", () => { const v = Math.max(0, Math.floor(Number(seed.value) || 0)); app.set({ seed: v, start: null }); });
  app.onState(() => { seed.value = app.state.seed; });
  const bias = html("input", { type: "checkbox", id: "bias" });
  bias.addEventListener("change", () => app.set({ bias: bias.checked, start: null }));
  app.onState(() => { bias.checked = app.state.bias; });
  const hand = html("button", { id: "undo-start", onclick: () => app.set({ start: null }) }, "Drawn start again");
  app.onState(() => { hand.hidden = !app.state.start; for (const id of ["width", "init", "seed"]) $(id) && ($(id).disabled = !!app.state.start); });
  box.append(html("div", { class: "head" }, html("h2", {}, "Start and network"), html("button", { id: "dice", title: "another random start", onclick: () => app.set({ seed: app.state.seed + 1, start: null }) }, "Another start")),
    slider("scale", SCALES, "scale", "start scale", "size of the weights at t = 0; limit: infinitely small"),
    slider("width", WIDTHS, "width", "neurons"), field("leak", leak, leakText), select("loss", LOSSES, "loss", "loss"), select("init", INITS, "init", "start"),
    field("seed", seed), html("div", { class: "field" }, html("label", { for: "bias" }, "bias input"), html("label", { class: "wide", for: "bias", style: "display:flex;gap:8px;align-items:center" }, bias, "one more input, 1")), hand);
}
