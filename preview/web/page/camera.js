// Cameras as texts: position in metres, direction, vertical field of view in degrees,
// seven numbers with commas.

// cameraOf reads a camera, null when the text is none.
export function cameraOf(text) {
  const n = (text || "").split(",").map((v) => (v.trim() === "" ? NaN : Number(v)));
  if (n.length !== 7 || !n.every(Number.isFinite)) return null;
  return { position: n.slice(0, 3), forward: n.slice(3, 6), fov: n[6] };
}

// numbersOf returns a camera as seven numbers; it throws a TypeError for one that is
// none. The field of view may be left out: 0 keeps that of before.
export function numbersOf(camera) {
  const { position, forward, fov = 0 } = camera || {};
  const n = [...(position || []), ...(forward || []), fov].map(Number);
  if (n.length !== 7 || !n.every(Number.isFinite)) throw new TypeError("a camera is {position: [x, y, z], forward: [x, y, z], fov: degrees}");
  return n;
}

// textOf writes a camera.
export const textOf = (camera) => numbersOf(camera).map((v) => +v.toFixed(4)).join(",");
