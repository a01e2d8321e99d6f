// What leaves the page: a link, a command line, Python, pictures, tables, proofs; and CSV that comes in.
function openDialog(...content) {
  const dialog = $("dialog");
  dialog.replaceChildren(...content, html("div", { class: "row" }, html("button", { onclick: () => dialog.close(), id: "close" }, "Close")));
  if (!dialog.open) dialog.showModal();
  return dialog;
}
function download(name, content, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = html("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 2000);
}
async function copy(button, text) {
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch (error) { // no clipboard on a page from disk: the text is there to be selected
    button.textContent = "Select and copy below";
  }
  setTimeout(() => { button.textContent = name; }, 1600);
}
function pictureOf(app) {
  const styles = ["ink", "soft", "faint", "line", "card", "wash", "pos", "neg", "good", "bad", "accent", "page"];
  const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: "0 0 820 400", width: 820, height: 400, style: styles.map((s) => `--${s}:${colour(s)}`).join(";") + ";font-family:sans-serif;font-size:11px" });
  const shade = app.plane.canvas.toDataURL("image/png");
  root.append(svg("rect", { width: 820, height: 400, fill: "var(--page)" }), svg("image", { href: shade, width: 400, height: 400, preserveAspectRatio: "none" }));
  const part = (x, view) => svg("svg", { x, width: 400, height: 400, viewBox: "0 0 400 400" }, ...[...view.children].map((c) => c.cloneNode(true))); // cuts at its edge
  root.append(part(0, app.plane.svg), part(420, app.ways.svg));
  return new XMLSerializer().serializeToString(root);
}
function framesCsv(app) {
  const { film } = app, d = film.d, names = Array.from({ length: d }, (_, j) => "w" + (j + 1));
  const rows = [["frame", "log_t", "log_loss", "neuron", ...names, "a", "log_norm"].join(",")];
  const cell = (v) => (Number.isFinite(v) ? String(v) : "");
  film.frames.forEach((f, i) => f.directions.forEach((u, k) => rows.push([i, cell(f.logT), cell(f.logLoss), k, ...Array.from(u).map(cell), cell(f.logNorms[k])].join(","))));
  return rows.join("\n") + "\n";
}
function shareDialog(app) {
  const link = () => location.href.split("#")[0] + "#" + toFragment(app.state, app.position);
  const box = html("pre", { id: "share-text" }, link());
  const button = (id, name, text) => {
    const b = html("button", { id }, name);
    b.addEventListener("click", () => { box.textContent = text(); copy(b, text()); });
    return b;
  };
  const proofState = html("p", { class: "note", id: "proof-verdict", role: "status" });
  const prove = html("button", { id: "prove" }, "Proof of the optimum");
  prove.addEventListener("click", async () => {
    proofState.textContent = "proving …";
    const proof = await app.prove();
    proofState.textContent = proof.error ? proof.error : `${proof.bytes.length} bytes; checked here, in exact arithmetic: ${proof.verdict}`;
    if (proof.bytes) { save.hidden = false; save.onclick = () => download("optimum.proof", proof.bytes); }
  });
  const save = html("button", { id: "save-proof", hidden: true }, "Save proof file");
  const file = html("input", { type: "file", id: "check-file", "aria-label": "proof file to check" });
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    const answer = await engine.ask({ check: new Uint8Array(await file.files[0].arrayBuffer()) });
    proofState.textContent = answer.cancelled ? "cancelled" : answer.line;
  });
  openDialog(html("h2", {}, "Share"), html("div", { class: "row" }, button("copy-link", "Copy link", link), button("copy-command", "Copy command line", () => commandLine(app.state)), button("copy-python", "Copy Python", () => python(app.state))), box,
    html("h2", {}, "Export"), html("div", { class: "row" },
      html("button", { id: "save-svg", onclick: () => download("reluflow.svg", pictureOf(app), "image/svg+xml") }, "SVG"),
      html("button", { id: "save-csv", onclick: () => download("frames.csv", framesCsv(app), "text/csv") }, "Frames as CSV"),
      html("button", { id: "save-points", onclick: () => download("points.csv", csvOf(app.state), "text/csv") }, "Points as CSV"),
      html("button", { id: "save-json", onclick: async (event) => { event.target.disabled = true; download("flow.json", await app.json(), "application/json"); event.target.disabled = false; } }, "JSON")),
    html("h2", { style: "margin-top:14px" }, "Proof"), html("p", { class: "note" }, "The best margin comes with a proof file. This page checks it with integers, sharing nothing with the engine that wrote it; rfcheck and the Python checker do the same."),
    html("div", { class: "row" }, prove, save), proofState, html("p", { class: "note" }, "Check another file: ", file));
}
function pasteDialog(app) {
  const area = html("textarea", { id: "csv", "aria-label": "CSV", spellcheck: "false", placeholder: "x1,x2,label\n1,2,1\n-1,0.5,-1" }), error = html("p", { class: "error", id: "csv-error", role: "alert" });
  area.value = csvOf(app.state);
  const take = html("button", { class: "main", id: "take-csv" }, "Use these points");
  take.addEventListener("click", async () => {
    error.textContent = "";
    const why = await app.takeText(area.value, "pasted.csv");
    if (why) error.textContent = why;
    else $("dialog").close();
  });
  const file = html("input", { type: "file", id: "csv-file", "aria-label": "file with data" });
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    let blob = file.files[0];
    if (/\.gz$/.test(blob.name)) blob = await new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
    area.value = await blob.text();
  });
  openDialog(html("h2", {}, "Points from text"), html("p", { class: "note" }, "One sample a row, the class in the last column; two classes. The engine reads it as the program does."), area, error, html("div", { class: "row" }, take, file));
}
