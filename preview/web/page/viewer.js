// The page around the program: it finds the scene, loads the viewer and says how it
// goes.
import { BUDGET } from "./cache.js";
import { Canvas } from "./canvas.js";
import { Decoders, decoderCount } from "./decoders.js";
import { Files } from "./files.js";
import { WebGL } from "./webgl.js";

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const here = new URL(".", import.meta.url);
const base = new URL("..", here); // of scenes

const fail = (title, text) => {
  $("progress").hidden = true;
  $("failure").hidden = false;
  $("failure-title").textContent = title;
  $("failure-text").textContent = text;
};

let hints = 0;
const hint = (text) => {
  const n = ++hints;
  $("hint").textContent = text;
  $("hint").hidden = false;
  setTimeout(() => n === hints && ($("hint").hidden = true), 6000);
};

// program fetches and compiles the viewer, which is kept compressed.
async function program(told) {
  const answer = await fetch(new URL("viewer.wasm.gz", here));
  if (!answer.ok) throw new Error(`the viewer is not there: ${answer.status} ${answer.statusText}`);
  const all = +answer.headers.get("Content-Length") || 0;
  let got = 0;
  const counted = answer.body.pipeThrough(new TransformStream({
    transform(part, c) {
      got += part.length;
      told(all ? got / all : 0);
      c.enqueue(part);
    },
  }));
  const plain = counted.pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

// number returns a number of the address, or what it is by default.
const number = (name, value) => (query.has(name) && Number.isFinite(+query.get(name)) ? +query.get(name) : value);

async function scenes() {
  const answer = await fetch(new URL("scenes.json", here));
  return answer.ok ? answer.json() : [];
}

// cameraOf reads a camera from a link: position, direction, field of view.
function cameraOf(hash) {
  const n = new URLSearchParams(hash.slice(1)).get("camera");
  const list = n && n.split(",").map(Number);
  return list && list.length === 7 && list.every(Number.isFinite) ? list : null;
}

// linkTo returns a link that shows the same.
function linkTo(s) {
  const url = new URL(location.href);
  url.hash = "camera=" + [...s.position, ...s.forward, s.fov].map((v) => +v.toFixed(4)).join(",");
  return url.href;
}

let last = null; // status

const megabytes = (n) => (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + " MB";

// status shows how it goes.
function status(s, loaded) {
  last = s;
  globalThis.untoldStatus = s;
  if (s.draws > 0 || (s.frame > 60 && s.loads === 0)) $("progress").hidden = true;
  $("loading").hidden = s.missing === 0;
  $("loading").value = 1 - s.missing;
  $("figures").textContent = `${s.fps.toFixed(0)} fps, ${s.cpu.toFixed(1)} ms computed · ${s.tiles} tiles, ${megabytes(loaded)} loaded` +
    ` · ${s.draws} draws, ${(s.triangles / 1e3).toFixed(0)} k triangles · GPU ${megabytes(s.geometry + s.texels)}` + (s.undrawn ? ` · ${s.undrawn} undrawn` : "");
}

// controls makes the buttons do what they say.
function controls(canvas, list, scene) {
  for (const b of document.querySelectorAll("button[data-key]")) {
    b.addEventListener("click", () => {
      canvas.press(b.dataset.key, b.dataset.shift !== undefined);
      $("canvas").focus();
    });
  }
  for (const b of document.querySelectorAll("button[data-hold]")) {
    const set = (down) => (e) => {
      e.preventDefault();
      canvas.hold(b.dataset.hold, down);
    };
    b.addEventListener("pointerdown", set(true));
    for (const name of ["pointerup", "pointerleave", "pointercancel"]) b.addEventListener(name, set(false));
    b.addEventListener("keydown", (e) => (e.key === " " || e.key === "Enter") && set(true)(e));
    b.addEventListener("keyup", (e) => (e.key === " " || e.key === "Enter") && set(false)(e));
  }
  $("link").addEventListener("click", async () => {
    if (!last) return;
    const text = linkTo(last);
    history.replaceState(null, "", text);
    try {
      await navigator.clipboard.writeText(text);
      hint("The link is copied.");
    } catch {
      hint("The link is in the address bar.");
    }
  });
  $("scene").hidden = list.length < 2;
  for (const s of list) $("scene").add(new Option(s.path, s.path, false, s.path === scene));
  $("scene").addEventListener("change", (e) => {
    const url = new URL(location.href);
    url.searchParams.set("scene", e.target.value);
    url.hash = "";
    location.href = url.href;
  });
  canvas.help = () => $("help").showModal();
  $("show-help").addEventListener("click", canvas.help);
  $("help").addEventListener("close", () => $("canvas").focus());
  $("tools").hidden = false;
}

async function main() {
  const module = program((part) => ($("bar").value = part));
  const exec = import("./wasm_exec.js");
  for (const p of [module, exec]) p.catch(() => {}); // which is told when they are needed
  const list = await scenes();
  const scene = query.get("scene") || (list[0] && list[0].path);
  if (!scene) return fail("There is no scene", "The folder has no manifest. untold cook makes one of a glTF file.");
  document.title = scene;

  let memory = null;
  let gl;
  try {
    gl = new WebGL($("canvas"), () => memory, (query.get("without") || "").split(","));
  } catch (e) {
    return fail("The scene cannot be shown", "This browser has no WebGL 2, or it is switched off. Current versions of Chrome, Edge, Firefox and Safari have it; hardware acceleration may have to be allowed in the settings.");
  }
  $("canvas").addEventListener("webglcontextlost", (e) => {
    e.preventDefault();
    fail("The graphics were lost", "The browser took the graphics processor away. Load the page again.");
  });

  const settings = { base: base.href, scene, cache: 1e6 * number("cache", BUDGET / 1e6) };
  const files = new Files(settings, hint, () => {}, (version) => decoders.tell({ version }));
  const loaded = []; // bytes, by decoder
  const decoders = new Decoders(number("workers", decoderCount()), module, settings, (i, { failed, loaded: n }) => (failed ? hint(failed) : (loaded[i] = n)));
  const fetched = () => loaded.reduce((sum, n) => sum + n, files.loaded);
  files.find("/served/" + scene).catch(() => {}); // comes while the program is compiled
  globalThis.fs = files.fs();
  await exec;

  const software = gl.software();
  const canvas = new Canvas($("canvas"), gl, +query.get("scale") || (software ? 1 : 2));
  globalThis.untoldCanvas = canvas;
  controls(canvas, list, scene);
  globalThis.untoldPage = {
    scene: "/served/" + scene,
    samples: +query.get("samples") || 0,
    shadows: +query.get("shadows") || 0,
    plain: query.has("plain"),
    start: cameraOf(location.hash),
    message: (text) => {
      $("news").textContent = text; // which the program draws
    },
    decoders,
    distrust: (path) => files.distrust(path),
    status: (s) => status(s, fetched()),
    ended: (text) => fail("The viewer has ended", text || "Load the page again to go on."),
  };
  const go = new globalThis.Go();
  const instance = await WebAssembly.instantiate(await module, go.importObject);
  memory = instance.exports.mem;
  $("bar").removeAttribute("value");
  $("progress-text").textContent = "Loading " + scene;
  $("canvas").focus();
  await go.run(instance);
}

main().catch((e) => fail("The viewer cannot start", e.message));
