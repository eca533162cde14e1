// The element <untold-viewer>: a scene in a page. docs/web.md says how it is used.
import { cameraOf, numbersOf } from "./camera.js";
import { parts } from "./parts.js";
import sheet from "./style.js";
import { NoGraphics, Viewer } from "./viewer.js";

const megabytes = (n) => (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + " MB";
const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const FLIGHT = 2; // seconds of flyTo

// plain says what the program has said in words for people who did not write it.
const plain = (text) => text.replace(/^preview: /, "").replace(/^(?:stat|open) (\S+): No such file or directory$/i, "$1 is not there. Choose another scene, or check the address.");

// figures writes what matters of the figures.
function figures(s) {
  const out = [`${s.fps.toFixed(0)} fps, ${s.cpu.toFixed(1)} ms computed`, `${many(s.tiles, "tile")}, ${megabytes(s.loaded)} loaded`,
    `${many(s.draws, "draw")}, ${(s.triangles / 1e3).toFixed(0)} k triangles`, `GPU ${megabytes(s.geometry + s.texels)}`, `error ${s.error.toFixed(1)} px`];
  if (s.loads) out.push(`${s.loads} on their way`);
  if (s.undrawn) out.push(`${s.undrawn} undrawn`);
  return out.join(" \u00b7 ");
}

export class UntoldViewer extends HTMLElement {
  static observedAttributes = ["src", "view"];

  #by; // parts by their ids
  #run = null; // the Viewer of now
  #stats = null;
  #state = "empty";
  #cameras = [];
  #flights = new Set(); // resolvers of flights
  #hints = 0;
  #asked = false; // start is due
  #online = () => this.#state === "failed" && this.reload();

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    const { nodes, by } = parts();
    this.#by = by;
    root.append(...nodes);
    this.#controls();
  }

  // src is the address of a manifest, absolute; "" for none.
  get src() {
    const text = this.getAttribute("src");
    return text ? new URL(text, this.ownerDocument.baseURI).href : "";
  }
  set src(v) {
    this.setAttribute("src", v);
  }

  // state is "empty", "loading", "ready" or "failed".
  get state() {
    return this.#state;
  }
  // stats are the latest figures, null before the first ones.
  get stats() {
    return this.#stats;
  }
  // cameras are those of the scene's author.
  get cameras() {
    return this.#cameras.map((c) => ({ ...c }));
  }
  // camera is where the camera is, null before the first picture.
  get camera() {
    const s = this.#stats;
    return s && { position: [...s.position], forward: [...s.forward], fov: s.fov };
  }
  set camera(v) {
    this.flyTo(v, { seconds: 0 });
  }
  get view() {
    return this.getAttribute("view") || "lit";
  }
  set view(v) {
    this.setAttribute("view", v);
  }

  // flyTo takes the camera somewhere: to a camera, or to one of cameras by its name. The
  // promise tells whether it has arrived; a person who steers and other flights keep it
  // from that.
  flyTo(camera, { seconds = FLIGHT } = {}) {
    if (typeof camera === "string") {
      const known = this.#cameras.find((c) => c.name === camera);
      if (!known) return Promise.reject(new RangeError(`the scene has no camera ${camera}`));
      camera = known;
    }
    let n;
    try {
      n = numbersOf(camera);
    } catch (e) {
      return Promise.reject(e);
    }
    const page = this.#run && this.#run.page;
    if (!page || !page.flyTo || this.#run.stopped) return Promise.resolve(false);
    return new Promise((done) => {
      this.#flights.add(done);
      page.flyTo(n, Math.max(0, +seconds || 0), (arrived) => {
        this.#flights.delete(done);
        done(arrived);
      });
    });
  }

  // reload starts anew.
  reload() {
    this.#begin();
  }

  focus(options) {
    const canvas = this.#by.stage.querySelector("canvas");
    if (canvas) canvas.focus(options);
    else this.#refocus = true; // as soon as there is one
  }

  // hint shows a sentence for a moment.
  hint(text) {
    const n = ++this.#hints;
    const { hint } = this.#by;
    hint.textContent = text;
    hint.hidden = false;
    setTimeout(() => n === this.#hints && (hint.hidden = true), 6000);
  }

  // fail ends what is shown, and says why.
  fail(title, text) {
    this.#end();
    this.#failed(title, text);
  }

  // rehearse flies along a recorded path on a virtual clock, for tests: path is the text of
  // one as untold preview records it, dt the time between frames and duration the length
  // in seconds, 0 to the last key; events says whether they are wanted. The promise gets
  // {events, undrawn}.
  rehearse(flight) {
    return new Promise((done, failed) => {
      this.#end();
      this.#start({ flight: { dt: 1 / 60, duration: 0, events: true, ...flight }, flown: (events, undrawn) => {
        this.#end();
        this.#become("empty");
        done({ events, undrawn });
      }, broken: (text) => failed(new Error(text)) });
    });
  }

  connectedCallback() {
    window.addEventListener("online", this.#online);
    if (!this.#run) this.#begin();
  }

  disconnectedCallback() {
    window.removeEventListener("online", this.#online);
    // One that is only moved goes on.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#end();
      this.#become("empty");
    });
  }

  attributeChangedCallback(name, before, after) {
    if (name === "src" && before !== after && this.isConnected) this.#begin();
    if (name === "view") {
      this.#by.views.value = this.view;
      this.#look();
    }
  }

  // begin starts what src names, once for all that changes until then.
  #begin() {
    if (this.#asked) return;
    this.#asked = true;
    queueMicrotask(() => {
      this.#asked = false;
      if (!this.isConnected) return;
      this.#end();
      let src;
      try {
        src = this.src;
      } catch {
        this.#failed("The scene cannot be shown", `${this.getAttribute("src")} is no address of a manifest.`);
        return;
      }
      if (src) this.#start({});
      else this.#become("empty");
    });
  }

  #number(name, value = 0) {
    const n = this.hasAttribute(name) ? +this.getAttribute(name) : NaN;
    return Number.isFinite(n) ? n : value;
  }

  // address returns the one that an attribute has, "" for none.
  #address(name) {
    try {
      const text = this.getAttribute(name);
      return text ? new URL(text, this.ownerDocument.baseURI).href : "";
    } catch {
      return "";
    }
  }

  #start({ flight = null, flown = () => {}, broken = null }) {
    const by = this.#by;
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("part", "canvas");
    canvas.setAttribute("aria-label", "The scene. W A S D and arrows move, dragging looks around, F1 lists the keys.");
    by.stage.replaceChildren(canvas);
    if (this.#refocus) canvas.focus();
    this.#refocus = false;
    this.#become("loading");
    by.failure.hidden = true;
    by.loading.hidden = false;
    by["loading-text"].textContent = "Loading the viewer";
    by.loaded.removeAttribute("value");
    const at = cameraOf(this.getAttribute("camera"));
    let run;
    const mine = (f) => (...args) => {
      if (this.#run === run) f(...args);
    };
    const broke = mine((title, text, again) => {
      this.#end();
      this.#failed(title, text, again);
      if (broken) broken(text);
    });
    try {
      run = new Viewer(canvas, new URL(this.src), {
        packed: this.#address("packed"), workers: this.#number("workers", null), cache: this.#number("cache", null),
        samples: this.#number("samples"), shadows: this.#number("shadows"), scale: this.#number("scale"), plain: this.hasAttribute("plain"),
        without: (this.getAttribute("without") || "").split(","), start: at && numbersOf(at), viewpoint: at ? "" : this.getAttribute("camera"), lights: this.getAttribute("lights"), ungraded: this.getAttribute("grade") === "off", flight, always: () => this.getAttribute("gestures") === "always",
      }, {
        loading: mine((share) => this.#progress("viewer", share)),
        status: mine((s) => this.#status(s)),
        viewpoints: mine((list) => this.#authored(list)),
        message: mine((text) => {
          by.news.textContent = text; // which the program draws
          this.#tell("message", { text });
        }),
        trouble: mine((text) => {
          this.hint(text);
          this.#tell("message", { text });
        }),
        lost: mine(() => broke("The graphics were lost", "The browser took the graphics processor away.", true)),
        flown: mine(flown), // and ends
        ended: mine((text) => broke("The scene cannot be shown", plain(text.replaceAll("/served/", run.base.href)), true)),
      });
    } catch (e) {
      if (e instanceof NoGraphics) {
        this.#failed("The scene cannot be shown", "This browser has no WebGL 2, or it is switched off. Current versions of Chrome, Edge, Firefox and Safari have it; hardware acceleration may have to be allowed in the settings.");
      } else {
        this.#failed("The scene cannot be shown", e.message);
      }
      if (broken) broken(e.message);
      return;
    }
    this.#run = run;
    run.run().then(() => {
      if (run.canvas) run.canvas.help = null;
    }, (e) => broke("The viewer cannot start", e.message, true));
  }

  #refocus = false;

  // end stops what is shown.
  #end() {
    const run = this.#run;
    this.#run = null;
    this.#stats = null;
    this.#cameras = [];
    for (const done of this.#flights) done(false);
    this.#flights.clear();
    const by = this.#by;
    by.cameras.hidden = by.loading.hidden = by.streaming.hidden = true;
    by.figures.textContent = "";
    if (!run) return;
    this.#refocus ||= this.shadowRoot.activeElement === run.element;
    run.element.remove(); // without graphics browsers show a broken one
    run.stop();
  }

  #become(state) {
    this.#state = state;
    this.#by.tools.hidden = state === "empty";
    this.#by.tools.classList.toggle("alone", state === "failed"); // another scene may be chosen
  }

  #failed(title, text, again) {
    const by = this.#by;
    this.#become("failed");
    by.loading.hidden = true;
    by.failure.hidden = false;
    by.again.hidden = !again;
    by["failure-title"].textContent = title;
    by["failure-text"].textContent = text;
    this.#tell("error", { title, text });
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #progress(stage, share) {
    if (stage === "viewer") {
      if (share) this.#by.loaded.value = share;
      if (share === 1) {
        this.#by["loading-text"].textContent = "Loading " + this.#run.name.replace(/\.json$/i, "");
        this.#by.loaded.removeAttribute("value");
      }
    }
    this.#tell("progress", { stage, share });
  }

  #status(s) {
    const by = this.#by;
    const { files } = this.#run;
    this.#stats = Object.freeze({ ...s, loaded: this.#run.fetched(), requests: files.requests, memory: this.#run.memory.buffer.byteLength });
    if (s.draws > 0 || (s.frame > 60 && s.loads === 0)) by.loading.hidden = true;
    by.streaming.hidden = s.missing === 0;
    by.streaming.value = 1 - s.missing;
    by.figures.textContent = figures(this.#stats);
    by.views.value = s.view;
    if (!this.#run.looked) {
      this.#run.looked = true;
      this.#look();
    }
    this.#cover();
    this.#progress("scene", 1 - s.missing);
    const whole = s.draws > 0 && !(s.missing || s.loads || s.uploads || s.textures || s.batches || s.programs);
    if (whole && this.#state === "loading") {
      this.#become("ready");
      this.#tell("ready", {});
    }
    this.#tell("stats", this.#stats);
  }

  // cover tells the program which part of the picture lies under the buttons, so that it
  // writes nothing there.
  #cover() {
    const { page, canvas } = this.#run;
    if (!page.setCovered) return;
    const box = this.#by.stage.getBoundingClientRect();
    let width = 0, height = 0;
    for (const part of this.#by.tools.children) {
      const r = part.getBoundingClientRect();
      if (!r.width) continue; // it is not shown
      width = Math.max(width, r.right - box.left);
      height = Math.max(height, box.bottom - r.top);
    }
    page.setCovered(Math.ceil(width * canvas.scale), Math.ceil(height * canvas.scale));
  }

  // look chooses the view of the attribute.
  #look() {
    const page = this.#run && this.#run.page;
    if (page && page.setView && (this.hasAttribute("view") || this.#stats)) page.setView(this.view);
  }

  #authored(list) {
    const { cameras } = this.#by;
    this.#cameras = list;
    cameras.replaceChildren(cameras.options[0], ...list.map((c, i) => new Option(c.name || `camera ${i + 1}`, i)));
    cameras.hidden = list.length === 0;
  }

  // controls makes the buttons do what they say.
  #controls() {
    const by = this.#by;
    const root = this.shadowRoot;
    const canvas = () => this.#run && this.#run.canvas;
    for (const b of root.querySelectorAll("button[data-key]")) {
      b.addEventListener("click", () => {
        if (canvas()) canvas().press(b.dataset.key);
        this.focus();
      });
    }
    for (const b of root.querySelectorAll("button[data-hold]")) {
      const set = (down) => (e) => {
        e.preventDefault();
        if (canvas()) canvas().hold(b.dataset.hold, down);
      };
      b.addEventListener("pointerdown", set(true));
      for (const name of ["pointerup", "pointerleave", "pointercancel", "blur"]) b.addEventListener(name, set(false));
      b.addEventListener("keydown", (e) => (e.key === " " || e.key === "Enter") && set(true)(e));
      b.addEventListener("keyup", (e) => (e.key === " " || e.key === "Enter") && set(false)(e));
    }
    by.views.addEventListener("change", () => {
      this.view = by.views.value;
      this.focus();
    });
    by.cameras.addEventListener("change", () => {
      const c = this.#cameras[by.cameras.value];
      by.cameras.value = "";
      if (c) this.flyTo(c);
      this.focus();
    });
    const help = () => by.help.showModal();
    by["show-help"].addEventListener("click", help);
    by.help.addEventListener("close", () => this.focus());
    by.again.addEventListener("click", () => this.reload());
    root.addEventListener("keydown", (e) => canvas() && canvas().key(e, 1, help));
    root.addEventListener("keyup", (e) => canvas() && canvas().key(e, 0, help));
  }
}

if (!customElements.get("untold-viewer")) customElements.define("untold-viewer", UntoldViewer);
