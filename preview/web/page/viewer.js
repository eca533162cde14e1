// A run of the viewer's program on a canvas: it is loaded, handed what it needs, and
// ended.
import { BUDGET } from "./cache.js";
import { Canvas } from "./canvas.js";
import { Decoders, decoderCount } from "./decoders.js";
import { Files } from "./files.js";
import { unpacked } from "./gzip.js";
import { WebGL } from "./webgl.js";

const here = new URL(".", import.meta.url);
const SCENE = /^(.*\/)([^/]+\.json)$/i;

let compiled = null; // the module, a promise of it
const listeners = new Set(); // of its loading
let share = 0;

// compile fetches and compiles the program once for all runs. It is kept compressed,
// and unpacked unless the server has done that.
async function compile() {
  const answer = await fetch(new URL("viewer.wasm.gz", here));
  if (!answer.ok) throw new Error(`the viewer is not there: ${answer.status} ${answer.statusText}`);
  const all = +answer.headers.get("Content-Length") || 0;
  let got = 0;
  const plain = await unpacked(answer.body, (n) => {
    got += n;
    share = all ? Math.min(1, got / all) : 0;
    listeners.forEach((f) => f(share));
  });
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

// program returns the compiled program; told hears which part of it has come, 0 to 1.
async function program(told) {
  listeners.add(told);
  told(share);
  try {
    compiled = compiled || compile();
    return await compiled;
  } catch (e) {
    compiled = null; // the next one tries again
    throw e;
  } finally {
    listeners.delete(told);
  }
}

// guarded leaves out the answers that come after the end of the program.
function guarded(fs, over) {
  const out = { ...fs };
  for (const [name, f] of Object.entries(fs)) {
    if (typeof f !== "function" || name === "writeSync") continue;
    out[name] = (...args) => {
      const callback = args.pop();
      f.call(fs, ...args, (...answer) => over() || callback(...answer));
    };
  }
  return out;
}

// writer is what programs that run say their last words by; their files are their own.
const writer = (fs) => ({ constants: fs.constants, writeSync: fs.writeSync.bind(fs) });

export class NoGraphics extends Error {}

// Viewer is one run. What happens is told by methods of the object that it is given:
//   loading(share)      the program has come so far, 0 to 1
//   status(numbers)     a few times a second, see status_js.go
//   viewpoints(list)    the cameras of the scene's author
//   message(text)       news, which are in the picture, too
//   trouble(text)       a file could not be loaded
//   lost()              the browser took the graphics away
//   flown(events, n)    the end of a rehearsal
//   ended(text)         the program has ended; text says why, "" if it was told to
export class Viewer {
  // options: packed, the address of the manifest as gzip, "" for none; workers, cache (MB), samples, shadows, scale, without, plain, start, viewpoint, lights, ungraded, flight; always is whether
  // the wheel is taken without the focus.
  constructor(canvas, src, options, tell) {
    Object.assign(this, { element: canvas, src, options, tell, memory: null, loaded: [], decoders: null, over: false, stopped: false, page: null, files: null, canvas: null });
    const place = SCENE.exec(src.pathname);
    if (!place) throw new Error(`${src.href} is no manifest, whose name ends in .json`);
    this.base = new URL(place[1], src);
    this.name = decodeURIComponent(place[2]);
    // Asked for first: a context takes as long as it does to come.
    this.coming = program((part) => this.stopped || tell.loading(part));
    this.coming.catch(() => {}); // which is told when it is needed
    try {
      this.gl = new WebGL(canvas, () => this.memory, options.without || []);
    } catch (e) {
      throw new NoGraphics(e.message);
    }
    this.lost = (e) => {
      e.preventDefault();
      if (!this.stopped) tell.lost();
    };
    canvas.addEventListener("webglcontextlost", this.lost);
  }

  // run resolves when the program has ended.
  async run() {
    const { options, tell } = this;
    const trouble = (text) => this.stopped || tell.trouble(text);
    const { coming } = this;
    const settings = { base: this.base.href, scene: this.name, cache: 1e6 * (options.cache ?? BUDGET / 1e6) };
    this.files = new Files({ ...settings, packed: options.packed }, trouble, () => {}, (version) => this.decoders.tell({ version }));
    this.decoders = new Decoders(options.workers ?? decoderCount(), coming, settings, (i, { failed, loaded }) => (failed ? trouble(failed) : (this.loaded[i] = loaded)));
    this.files.find("/served/" + this.name).catch(() => {}); // comes while the program is compiled
    if (!globalThis.Go) await import("./wasm_exec.js");
    const module = await coming;
    if (this.stopped) return;
    const software = this.gl.software();
    this.canvas = new Canvas(this.element, this.gl, options.scale || (software ? 1 : 2), options.always);
    let why = "";
    this.page = {
      scene: "/served/" + this.name,
      samples: options.samples || 0,
      shadows: options.shadows || 0,
      plain: !!options.plain,
      start: options.start || null,
      viewpoint: options.viewpoint || "",
      lights: options.lights || "auto",
      ungraded: !!options.ungraded,
      flight: options.flight || null,
      decoders: this.decoders,
      distrust: (path) => this.files.distrust(path),
      message: (text) => tell.message(text),
      status: (s) => this.stopped || tell.status(s),
      viewpoints: (list) => tell.viewpoints(list),
      flown: (events, undrawn) => tell.flown(events, undrawn),
      ended: (text) => (why = text),
    };
    const go = new globalThis.Go();
    const instance = await WebAssembly.instantiate(module, go.importObject);
    if (this.stopped) return;
    this.memory = instance.exports.mem;
    const fs = this.files.fs();
    // The program takes these while it starts, before it waits for anything.
    Object.assign(globalThis, { fs: guarded(fs, () => this.over), untoldPage: this.page, untoldCanvas: this.canvas });
    const running = go.run(instance);
    globalThis.fs = writer(fs);
    delete globalThis.untoldPage;
    delete globalThis.untoldCanvas;
    try {
      await running;
    } catch (e) {
      why = why || e.message;
    }
    this.over = true;
    go._scheduledTimeouts.forEach((id) => clearTimeout(id));
    this.free();
    tell.ended(this.stopped ? "" : why || this.gl.broken || "it has ended by itself");
  }

  // fetched is how many bytes have come.
  fetched() {
    return this.loaded.reduce((sum, n) => sum + n, this.files.loaded);
  }

  // stop ends the program and frees what it has, as soon as it has noticed.
  stop() {
    if (this.stopped) return;
    this.stopped = true;
    if (this.page && this.page.stop) {
      this.page.stop();
      this.canvas.release();
    } else {
      this.free();
    }
  }

  // free gives the graphics back.
  free() {
    if (this.freed) return;
    this.freed = true;
    if (this.canvas) this.canvas.close();
    if (this.decoders) this.decoders.close();
    if (this.files) this.files.close();
    this.element.removeEventListener("webglcontextlost", this.lost);
    const lose = this.gl.gl.getExtension("WEBGL_lose_context");
    if (lose) lose.loseContext();
    Object.assign(this.gl, { objects: [], views: null, lastBuffer: null });
    this.memory = null;
  }
}
