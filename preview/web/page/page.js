// The page: it finds the scenes, has the element show one, and keeps what is shown in its
// address.
import { cameraOf, numbersOf, textOf } from "./camera.js";
import "./untold-viewer.js";

const viewer = document.querySelector("untold-viewer");
const choose = document.getElementById("scene");
const query = () => new URLSearchParams(location.search);

// scenes lists what there is, as the server or the export says.
async function scenes() {
  const answer = await fetch(new URL(document.documentElement.dataset.scenes, document.baseURI));
  return answer.ok ? answer.json() : [];
}

const size = (n) => (n < 1e9 ? (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + " MB" : (n / 1e9).toFixed(1) + " GB");
// title names a scene: that of a folder of its own is called as that is.
const title = (path) => path.replace(/\.json$/i, "").replace(/(^|\/)([^/]+)\/\2$/, "$1$2");

// address returns that of a scene, null when it does not lie below the page.
function address(path) {
  const base = new URL(".", document.baseURI);
  const url = new URL(path.split("/").map(encodeURIComponent).join("/"), base);
  return url.href.startsWith(base.href) ? url : null;
}

// show shows a scene; the element's camera is that of the address. packed is a copy of the
// manifest as gzip, if there is one.
function show(path, packed) {
  const url = address(path);
  if (!url) return viewer.fail("There is no such scene", `${path} does not lie below this page.`);
  document.title = title(path);
  choose.value = path;
  const text = new URLSearchParams(location.hash.slice(1)).get("camera");
  const at = cameraOf(text);
  if (at || text) viewer.setAttribute("camera", at ? numbersOf(at).join(",") : text);
  else viewer.removeAttribute("camera");
  const copy = packed && address(packed);
  if (copy) viewer.setAttribute("packed", copy.href);
  else viewer.removeAttribute("packed");
  viewer.src = url.href;
}

// link copies an address that shows the same.
async function link() {
  const at = viewer.camera; // none while nothing is shown
  const url = new URL(location.href);
  if (at) {
    url.hash = "camera=" + textOf(at);
    history.replaceState(null, "", url);
  }
  try {
    await navigator.clipboard.writeText(url.href);
    viewer.hint("The link is copied.");
  } catch {
    viewer.hint("The link is in the address bar.");
  }
}

async function main() {
  document.getElementById("link").addEventListener("click", link);
  for (const name of ["samples", "shadows", "scale", "without", "plain", "workers", "cache", "lights", "grade"]) if (query().has(name)) viewer.setAttribute(name, query().get(name));
  const list = await scenes();
  const open = (path) => show(path, list.find((s) => s.path === path)?.packed);
  const wanted = () => query().get("scene") || (list[0] && list[0].path);
  if (!wanted()) return viewer.fail("There is no scene", "The folder has no manifest. untold cook makes one of a glTF file.");
  for (const s of list) choose.add(new Option(`${title(s.path)} \u00b7 ${s.tiles} ${s.tiles === 1 ? "tile" : "tiles"}, ${size(s.bytes)}`, s.path));
  choose.hidden = list.length < 2;
  choose.addEventListener("change", () => {
    const url = new URL(location.href);
    url.searchParams.set("scene", choose.value);
    url.hash = "";
    history.pushState(null, "", url);
    open(choose.value);
    viewer.focus();
  });
  window.addEventListener("popstate", () => open(wanted()));
  // Keys are for the viewer while nothing else has the focus.
  document.addEventListener("keydown", () => document.activeElement === document.body && viewer.focus());
  open(wanted());
  viewer.focus();
}

main().catch((e) => viewer.fail("The viewer cannot start", e.message));
