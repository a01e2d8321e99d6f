// The engine under node: node serve.js ENGINE_FOLDER WORKER; one JSON request a line in, one JSON answer a line out.
const fs = require("fs"), path = require("path");
const [folder, worker] = process.argv.slice(2);
const createEngine = require(path.resolve(folder, "engine.js"));
const { engineCalls } = require(path.resolve(worker));
const bytes = fs.readFileSync(path.join(folder, "engine.wasm"));
(async () => {
  const module = await WebAssembly.compile(bytes);
  const engine = await createEngine({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
  });
  const run = engineCalls(engine);
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const request = JSON.parse(line), began = performance.now(), used = process.cpuUsage();
    for (const name of Object.keys(request.files || {})) if (Array.isArray(request.files[name])) request.files[name] = Uint8Array.from(request.files[name]);
    if (request.start) request.start.weights = Float64Array.from(request.start.weights);
    const { status, error, warnings, text, files } = run(request);
    const cpu = process.cpuUsage(used).user / 1000;
    const read = Object.fromEntries(Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString("latin1")]));
    console.log(JSON.stringify({ status, error, warnings, text, files: read, ms: performance.now() - began, cpu }));
  });
})();
