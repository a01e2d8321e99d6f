// The page's side of the engine: one worker, the newest question first; a worker that is busy with an old one is replaced.
const engine = (() => {
  let module, worker, alive, next = 1, waiting = new Map(), onProgress = () => {};

  async function unpack(text) {
    const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it cannot unpack the engine (DecompressionStream)");
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  function spawn() {
    const source = ["engine-glue", "engine-worker"].map((id) => document.getElementById(id).textContent).join("\n");
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    alive = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.ready) resolve();
        else if (data.broken) reject(new Error(data.broken));
        else if (data.progress) onProgress(data.progress);
        else {
          const ask = waiting.get(data.id);
          waiting.delete(data.id);
          if (data.result.broken) renew();
          if (ask) ask.resolve({ ...data.result, ms: data.ms });
        }
      };
      worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
    });
    worker.postMessage({ module });
    return alive;
  }
  function renew() {
    worker.terminate();
    for (const ask of waiting.values()) ask.resolve({ cancelled: true });
    waiting.clear();
    return spawn();
  }
  return {
    async load(progress) {
      onProgress = progress;
      module = await WebAssembly.compile(await unpack(document.getElementById("engine-wasm").textContent));
      await spawn();
    },
    busy: () => waiting.size > 0,
    // Drops what is being computed. A worker that is done anyway in a moment would not answer sooner.
    async cancel() { if (waiting.size) await renew(); },
    async ask(request) {
      await alive;
      return new Promise((resolve) => {
        const id = next++;
        waiting.set(id, { resolve });
        worker.postMessage({ id, ...request });
      });
    },
  };
})();
