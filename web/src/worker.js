// The engine in its worker: {id, words, files, start, read, check} in, {id, status, answer, error, warnings, files} out.
// The glue of the compiler stands above this text and defines createEngine. Also runs under node (tests): see serve().
function engineCalls(engine) {
  const text = (at) => engine.UTF8ToString(at);
  function arrays() {
    const list = [], count = engine._engine_arrays();
    for (let k = 0; k < count; k++) {
      const rows = engine._engine_rows(k), cols = engine._engine_cols(k), size = cols < 0 ? rows : rows * cols;
      const numbers = engine._engine_numbers(k), integers = engine._engine_integers(k);
      let values;
      if (numbers) values = engine.HEAPF64.slice(numbers >> 3, (numbers >> 3) + size);
      else {
        values = new Float64Array(size);
        for (let i = 0; i < size; i++) // 64-bit integers, small ones: low word, sign from the high word
          values[i] = engine.HEAPU32[(integers >> 2) + 2 * i] + 4294967296 * engine.HEAP32[(integers >> 2) + 2 * i + 1];
      }
      list.push({ rows, cols, values });
    }
    return list;
  }
  // Puts the arrays that were set aside back into the answer: flat ones as typed arrays, tables with rows and cols.
  function restore(value, list) {
    if (Array.isArray(value)) return value.map((item) => restore(item, list));
    if (!value || typeof value !== "object") return value;
    if (typeof value.array === "number" && Object.keys(value).length === 1) {
      const { rows, cols, values } = list[value.array];
      if (cols < 0) return values;
      const table = [];
      for (let i = 0; i < rows; i++) table.push(values.subarray(i * cols, (i + 1) * cols));
      return table;
    }
    for (const key of Object.keys(value)) value[key] = restore(value[key], list);
    return value;
  }
  return function run({ words, files, start, read }) {
    for (const name of Object.keys(files || {})) engine.FS.writeFile(name, files[name]);
    if (start) {
      const at = engine._malloc(8 * start.weights.length);
      engine.HEAPF64.set(start.weights, at >> 3);
      engine._engine_start(start.m, start.d, start.leak, at);
      engine._free(at);
    } else engine._engine_start(0, 0, 0, 0);
    const line = words.join("\n"), size = engine.lengthBytesUTF8(line) + 1, at = engine._malloc(size);
    engine.stringToUTF8(line, at, size);
    const status = engine._engine_run(at);
    engine._free(at);
    const result = { status, error: text(engine._engine_error()), warnings: text(engine._engine_warnings()), answer: null, files: {} };
    const answer = text(engine._engine_answer());
    if (answer) result.answer = restore(JSON.parse(answer), arrays());
    result.text = words.includes("--json") ? answer : null;
    for (const name of read || []) try { result.files[name] = engine.FS.readFile(name); } catch (e) { /* not written */ }
    return result;
  };
}

function startEngine(module, onProgress) {
  return createEngine({
    onProgress,
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
  });
}

if (typeof WorkerGlobalScope !== "undefined") {
  let ready;
  self.onmessage = ({ data }) => {
    if (data.module) {
      ready = startEngine(data.module, (phase, fraction, detail) => self.postMessage({ progress: { phase, fraction, detail } })).then(engineCalls);
      ready.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ broken: String(error) }));
      return;
    }
    ready.then((run) => {
      const began = performance.now();
      let result;
      try {
        result = data.check ? checker.check(data.check) : run(data);
      } catch (error) {
        result = { status: 3, error: "the engine stopped: " + error, broken: true, answer: null, files: {} };
      }
      self.postMessage({ id: data.id, result, ms: performance.now() - began });
    });
  };
}
if (typeof module !== "undefined") module.exports = { engineCalls };
