// The page's side of the engine: three workers on one compiled module. `quick` answers what has to follow the hand (limit and
// optimum), `film` makes the frames, `words` the explanation; the slow two are thrown away and made anew when the question changes.
class Worker3 {
  constructor() { this.waiting = new Map(); this.next = 1; }
  spawn(module) {
    const source = ["engine-glue", "engine-worker"].map((id) => document.getElementById(id).textContent).join("\n");
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.module = module;
    this.worker = worker;
    this.alive = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.ready) resolve();
        else if (data.broken) reject(new Error(data.broken));
        else if (data.progress) engine.onProgress(data.progress);
        else {
          const ask = this.waiting.get(data.id);
          this.waiting.delete(data.id);
          if (data.result.broken) this.drop();
          if (ask) ask({ ...data.result, ms: data.ms });
        }
      };
      worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
    });
    this.alive.catch(() => {});
    worker.postMessage({ module });
    return this.alive;
  }
  // Ends it; the next question makes another.
  drop() {
    if (this.worker) this.worker.terminate();
    this.worker = null;
    for (const ask of this.waiting.values()) ask({ cancelled: true });
    this.waiting.clear();
  }
  busy() { return this.waiting.size > 0; }
  cancel() { if (this.busy()) this.drop(); }
  async ask(request) {
    if (!this.worker) this.spawn(this.module);
    const id = this.next++, answer = new Promise((resolve) => this.waiting.set(id, resolve)), { worker } = this;
    await this.alive;
    if (worker === this.worker) worker.postMessage({ id, ...request });
    return answer;
  }
}
const engine = {
  quick: new Worker3(), film: new Worker3(), words: new Worker3(), onProgress() {},
  async load(progress) {
    engine.onProgress = progress;
    const packed = Uint8Array.from(atob($("engine-wasm").textContent.trim()), (c) => c.charCodeAt(0));
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it cannot unpack the engine (DecompressionStream)");
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    const module = await WebAssembly.compile(bytes);
    engine.film.module = engine.words.module = module;
    await engine.quick.spawn(module);
  },
  ask: (request) => engine.quick.ask(request),
  // Makes way for a new question: what takes long is dropped; a quick answer under way is waited for, a moment long.
  async makeWay() {
    engine.film.cancel();
    engine.words.cancel();
    for (let k = 0; engine.quick.busy() && k < 60; k++) await new Promise((resolve) => setTimeout(resolve, 5));
    engine.quick.cancel();
  },
};
