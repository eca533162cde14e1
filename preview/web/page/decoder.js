// A worker: the viewer's program with another entry, which fetches, reads and decodes
// what the page asks for (package decoder).
import { Files } from "./files.js";
import "./wasm_exec.js";

let files = null;

// decoder is what the program sees.
const decoder = {
  send: (bytes) => postMessage({ bytes: bytes.buffer }, [bytes.buffer]),
  distrust: (path) => files.distrust(path),
  expect: (path, size) => files.expect(path, size),
  ready: () => {},
};

function run(module, settings) {
  files = new Files(settings, (failed) => postMessage({ failed }), (loaded) => postMessage({ loaded }));
  globalThis.fs = files.fs();
  globalThis.untoldDecoder = decoder;
  const go = new globalThis.Go();
  go.argv = ["viewer", "decode"];
  WebAssembly.instantiate(module, go.importObject)
    .then((instance) => go.run(instance))
    .then(() => postMessage({ ended: files.said || "the program has ended" }), (e) => postMessage({ ended: e.message }));
}

onmessage = ({ data }) => {
  if (data.module) run(data.module, data.settings);
  else if (data.settings) files && files.set(data.settings); // without them the module brings these, too
  else decoder.handle(new Uint8Array(data.bytes));
};
