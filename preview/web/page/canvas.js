// The canvas as the program sees it (package surface): events as numbers, frames
// when the browser wants them.

const KEY = 1, BUTTON = 3, MOTION = 4, SCROLL = 5, RESIZE = 7, FOCUS = 9;
const NUMBERS = 9;
const MOST = 256; // events that wait; motions beyond it are dropped

// Keys by their places on a US keyboard, with the numbers of surface.Key.
const keys = {
  Escape: 256, Enter: 257, NumpadEnter: 257, Tab: 258, Backspace: 259, Insert: 260, Delete: 261, ArrowRight: 262, ArrowLeft: 263, ArrowDown: 264,
  ArrowUp: 265, PageUp: 266, PageDown: 267, Home: 268, End: 269, ShiftLeft: 282, ShiftRight: 283, ControlLeft: 284, ControlRight: 285, AltLeft: 286,
  AltRight: 287, MetaLeft: 288, MetaRight: 289, Space: 32, Minus: 45, Equal: 61, BracketLeft: 91, BracketRight: 93, Backslash: 92, Semicolon: 59,
  Quote: 39, Backquote: 96, Comma: 44, Period: 46, Slash: 47, NumpadAdd: 43, NumpadSubtract: 45, NumpadMultiply: 42, NumpadDivide: 47, NumpadDecimal: 46,
};
for (let i = 0; i < 26; i++) keys["Key" + String.fromCharCode(65 + i)] = 65 + i;
for (let i = 0; i < 10; i++) keys["Digit" + i] = keys["Numpad" + i] = 48 + i;
for (let i = 1; i <= 12; i++) keys["F" + i] = 269 + i;

const mods = (e) => (e.shiftKey ? 1 : 0) | (e.ctrlKey ? 2 : 0) | (e.altKey ? 4 : 0) | (e.metaKey ? 8 : 0);

export class Canvas {
  // most is the most pixels for a unit of the layout; always says whether gestures are
  // taken without the focus.
  constructor(element, gl, most, always) {
    Object.assign(this, { element, gl, most, always, numbers: new Float64Array(NUMBERS * MOST), waiting: 0, wake: null, pointers: new Map(), pinch: null });
    this.unpaced = false; // frames do not wait for the display
    this.seen = true; // it is in the window
    this.due = null; // who waits for the next frame
    this.measure();
  }

  measure() {
    this.scale = Math.min(window.devicePixelRatio || 1, this.most);
    this.width = Math.max(1, Math.round(this.element.clientWidth * this.scale));
    this.height = Math.max(1, Math.round(this.element.clientHeight * this.scale));
  }

  push(kind, what, mod, pressed, repeat, x, y, dx, dy) {
    if (this.waiting === MOST) return;
    this.numbers.set([kind, what, mod, pressed, repeat, x, y, dx, dy], NUMBERS * this.waiting++);
    if (this.wake) this.wake();
  }

  // take returns the events that wait, as bytes.
  take() {
    const bytes = new Uint8Array(this.numbers.buffer, 0, 8 * NUMBERS * this.waiting);
    this.waiting = 0;
    return bytes;
  }

  open(wake) {
    this.wake = wake;
    const { element: el } = this;
    const at = (e) => [e.offsetX * this.scale, e.offsetY * this.scale];
    this.listeners = [
      [el, "blur", () => this.push(FOCUS, 0, 0, 0, 0, 0, 0, 0, 0)],
      [window, "blur", () => this.push(FOCUS, 0, 0, 0, 0, 0, 0, 0, 0)],
      [el, "pointerdown", (e) => {
        el.focus({ preventScroll: true });
        el.setPointerCapture(e.pointerId);
        if (e.pointerType === "touch") return this.touch(e, at(e));
        this.push(BUTTON, { 0: 0, 1: 2, 2: 1 }[e.button] ?? 0, mods(e), 1, 0, ...at(e), 0, 0);
      }],
      [el, "pointerup", (e) => {
        if (e.pointerType === "touch") return this.lift(e);
        this.push(BUTTON, { 0: 0, 1: 2, 2: 1 }[e.button] ?? 0, mods(e), 0, 0, ...at(e), 0, 0);
      }],
      [el, "pointercancel", (e) => this.lift(e)],
      [el, "pointermove", (e) => {
        if (e.pointerType === "touch") return this.touch(e, at(e));
        this.push(MOTION, 0, mods(e), 0, 0, ...at(e), 0, 0);
      }],
      [el, "wheel", (e) => {
        if (!this.always() && el.getRootNode().activeElement !== el) return; // the page scrolls
        e.preventDefault();
        const lines = e.deltaMode === 1 ? e.deltaY / 3 : e.deltaMode === 2 ? e.deltaY : e.deltaY / 100;
        this.push(SCROLL, 0, mods(e), 0, 0, ...at(e), 0, -lines);
      }],
      [el, "contextmenu", (e) => e.preventDefault()],
    ];
    for (const [target, name, f] of this.listeners) target.addEventListener(name, f, { passive: false });
    this.observer = new ResizeObserver(() => {
      const { width, height, scale } = this;
      this.measure();
      if (width !== this.width || height !== this.height || scale !== this.scale) this.push(RESIZE, 0, 0, 0, 0, this.width, this.height, this.scale, 0);
    });
    this.observer.observe(el);
    // What nobody sees is not drawn.
    this.watcher = new IntersectionObserver((list) => {
      this.seen = list[list.length - 1].isIntersecting;
      if (this.seen && this.due) this.present(this.due);
    });
    this.watcher.observe(el);
    this.fit();
  }

  // fit gives the canvas its pixels; it is empty until the next frame.
  fit() {
    if (this.element.width !== this.width) this.element.width = this.width;
    if (this.element.height !== this.height) this.element.height = this.height;
  }

  // key takes a key of the element; help shows what there are.
  key(e, down, help) {
    const key = keys[e.code];
    // The browser keeps Tab, what it does with Control, and F4 to F12; keys of forms
    // are theirs.
    if (!key || key === 258 || (key >= 273 && key <= 281) || e.metaKey || (e.ctrlKey && down && key >= 65 && key <= 90)) return;
    if (e.target instanceof Element && e.target.closest("button, select, input, a, dialog")) return;
    if (down && key !== 256 && key < 282) e.preventDefault();
    if (key === 72 || key === 270) return void (down && help()); // H and F1
    this.push(KEY, key, mods(e), down, e.repeat ? 1 : 0, 0, 0, 0, 0);
  }

  // press is a key of a button of the page.
  press(code, shift) {
    for (const down of [1, 0]) this.push(KEY, keys[code], shift ? 1 : 0, down, 0, 0, 0, 0, 0);
  }

  // hold is a key that a button of the page holds down.
  hold(code, down) {
    this.push(KEY, keys[code], 0, down ? 1 : 0, 0, 0, 0, 0, 0);
  }

  // touch: one finger looks around, two move and zoom.
  touch(e, [x, y]) {
    const before = this.pointers.size;
    if (e.type === "pointermove" && !this.pointers.has(e.pointerId)) return;
    this.pointers.set(e.pointerId, { x, y });
    const list = [...this.pointers.values()];
    const mid = { x: list.reduce((s, p) => s + p.x, 0) / list.length, y: list.reduce((s, p) => s + p.y, 0) / list.length };
    if (list.length !== before) this.drag(list.length, mid);
    this.push(MOTION, 0, 0, 0, 0, mid.x, mid.y, 0, 0);
    if (list.length === 2) {
      const apart = Math.hypot(list[0].x - list[1].x, list[0].y - list[1].y);
      if (this.pinch) this.push(SCROLL, 0, 0, 0, 0, mid.x, mid.y, 0, 4 * Math.log2(Math.max(1, apart) / this.pinch));
      this.pinch = Math.max(1, apart);
    }
  }

  lift(e) {
    if (!this.pointers.delete(e.pointerId)) return;
    const list = [...this.pointers.values()];
    this.drag(list.length, list[0] || { x: 0, y: 0 });
  }

  // drag holds the button that so many fingers stand for.
  drag(fingers, { x, y }) {
    this.pinch = null;
    if (this.held !== undefined) this.push(BUTTON, this.held, 0, 0, 0, x, y, 0, 0);
    this.held = fingers === 0 ? undefined : fingers === 1 ? 0 : 1;
    this.push(MOTION, 0, 0, 0, 0, x, y, 0, 0);
    if (this.held !== undefined) this.push(BUTTON, this.held, 0, 1, 0, x, y, 0, 0);
  }

  // present calls back when the next frame is wanted.
  present(shown) {
    const next = () => {
      if (this.due !== shown) return;
      this.due = null;
      this.fit();
      shown();
    };
    this.due = shown;
    if (this.unpaced) {
      const { port1, port2 } = new MessageChannel(); // as soon as the browser has looked at all else
      port1.onmessage = next;
      port2.postMessage(0);
    } else if (this.seen) {
      requestAnimationFrame(next);
    }
  }

  // release lets the program go on that waits for a frame which may never be wanted.
  release() {
    this.present = (shown) => setTimeout(shown);
    if (this.due) this.due();
    this.due = null;
    if (this.wake) this.wake();
  }

  capture(held) {
    this.element.classList.toggle("held", held);
  }

  close() {
    for (const [target, name, f] of this.listeners || []) target.removeEventListener(name, f);
    this.listeners = [];
    this.wake = null;
    for (const o of [this.observer, this.watcher]) if (o) o.disconnect();
  }
}
