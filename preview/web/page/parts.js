// The parts of the element: what lies over the canvas.

// h makes an element. Attributes that are true are there without a value, those that are
// false are not.
export function h(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== false && value !== null) e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children);
  return e;
}

const views = [["lit", "Lit"], ["lod", "Levels"], ["tiles", "Tiles"], ["batches", "Batches"], ["textures", "Texture sizes"], ["albedo", "Base colour"], ["normals", "Normals"], ["wireframe", "Edges"]];

const keys = [
  ["left drag, one finger", "look around, or turn around the scene"],
  ["right drag, two fingers", "shift sideways"],
  ["wheel, pinch", "nearer, farther; Ctrl wheel: speed"],
  ["W A S D, arrows", "ahead, left, back, right; Q E: down, up; Shift, Ctrl: fast, slow"],
  ["O", "orbit or fly"],
  ["F, 0, 1 to 9", "the whole scene, the start, the scene's own cameras"],
  ["V, L, X, + -", "next view, levels of detail, edges, exposure"],
  ["B, T, M, R, K", "boxes of tiles, octree, occlusion, radii, static batches"],
  ["C, Space", "freeze culling, pause streaming"],
  ["F2, N", "all figures, map"],
];

const button = (text, attributes) => h("button", { type: "button", ...attributes }, text);

// parts returns the nodes of the shadow tree, and those that have an id by these.
export function parts() {
  const move = [["KeyE", "Up", "\u25b3"], ["KeyW", "Ahead", "\u25b2"], ["KeyQ", "Down", "\u25bd"], ["KeyA", "Left", "\u25c0"], ["KeyS", "Back", "\u25bc"], ["KeyD", "Right", "\u25b6"]];
  const nodes = [
    h("div", { id: "stage" }),
    h("progress", { id: "streaming", max: 1, "aria-label": "What is in view is loading", hidden: true }),
    h("div", { id: "tools" },
      h("div", { id: "pad", role: "group", "aria-label": "Move" }, ...move.map(([key, label, text]) => button(text, { "data-hold": key, "aria-label": label }))),
      h("p", { id: "figures", "aria-label": "Figures" }),
      h("div", { id: "bar", role: "toolbar", "aria-label": "Viewer" },
        h("slot", { name: "tools" }),
        h("select", { id: "cameras", "aria-label": "Cameras of the scene", hidden: true }, h("option", { value: "" }, "Camera")),
        button("Orbit / fly", { "data-key": "KeyO", title: "Orbit or fly (O)" }),
        button("Frame", { "data-key": "KeyF", title: "Show the whole scene (F)" }),
        h("select", { id: "views", "aria-label": "View", title: "View (V)" }, ...views.map(([value, text]) => h("option", { value }, text))),
        button("Boxes", { "data-key": "KeyB", title: "Boxes of tiles (B)" }),
        button("Map", { "data-key": "KeyN", title: "Map (N)" }),
        button("Help", { id: "show-help", title: "Keys (H)" }))),
    h("div", { id: "loading", role: "status", hidden: true }, h("p", { id: "loading-text" }), h("progress", { id: "loaded", max: 1, "aria-labelledby": "loading-text" })),
    h("p", { id: "hint", role: "status", hidden: true }),
    h("p", { id: "news", role: "status" }),
    h("dialog", { id: "help", "aria-labelledby": "help-title" },
      h("form", { method: "dialog" }, h("button", { autofocus: true }, "Close")),
      h("h1", { id: "help-title" }, "Flying"),
      h("dl", null, ...keys.flatMap(([a, b]) => [h("dt", null, a), h("dd", null, b)]))),
    h("section", { id: "failure", role: "alert", hidden: true }, h("h1", { id: "failure-title" }), h("p", { id: "failure-text" }), button("Try again", { id: "again" })),
  ];
  const by = {};
  const collect = (e) => {
    if (e.id) by[e.id] = e;
    [...e.children].forEach(collect);
  };
  nodes.forEach(collect);
  return { nodes, by };
}
