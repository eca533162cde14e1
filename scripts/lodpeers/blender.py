"""Simplifies the exported models with Blender's Decimate modifier.

    blender -b --factory-startup -P blender.py -- FOLDER MODEL,MODEL RATIO,RATIO

reads FOLDER/MODEL.mesh, welds vertices of equal position, and writes
FOLDER/MODEL.blender.PERCENT.mesh and a line of FOLDER/times.tsv per result.
Only the evaluation of the modifier is timed.

Materials travel with the polygons. Normals, texture coordinates and colours
belong to corners, since welded vertices have several; they travel as UV maps,
two numbers in each, because the modifier interpolates these along seams too.
"""

import os
import sys
import time

import bpy
import numpy as np

# The optional lists of an exchanged mesh: the flag and the numbers per vertex.
LISTS = [("normals", 1, 3), ("uv", 2, 2), ("colors", 4, 4)]
GROUPS = 8


class Mesh:
    """An exchanged mesh; corners is a row of numbers per corner."""

    def __init__(self, path):
        data = np.fromfile(path, dtype=np.uint8)
        vertices, triangles, self.flags = (int(v) for v in data[4:16].view(np.uint32))
        at = 16

        def take(rows, columns, kind):
            nonlocal at
            part = data[at:at + 4 * rows * columns].view(kind).reshape(rows, columns)
            at += part.nbytes
            return part

        self.positions = take(vertices, 3, np.float32)
        lists = [take(vertices, n, np.float32) for _, flag, n in LISTS if self.flags & flag]
        self.indices = take(triangles, 3, np.uint32)
        self.groups = take(triangles, 1, np.uint32).ravel() if self.flags & GROUPS else np.zeros(triangles, np.uint32)
        self.flags |= GROUPS
        self.values = np.concatenate(lists, axis=1) if lists else np.empty((vertices, 0), np.float32)


def weld(source):
    """Merges vertices of equal position. Returns positions, triangles, and which
    of the source's triangles these are, since some collapse."""
    # Adding 0 turns -0 into 0, which compare equal but differ as bytes.
    keys = np.ascontiguousarray(source.positions + np.float32(0)).view([("", np.float32)] * 3).ravel()
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    triangles = back[source.indices]
    a, b, c = triangles.T
    kept = (a != b) & (b != c) & (c != a)
    return source.positions[first], triangles[kept], kept


def write(path, mesh, flags, columns):
    """Writes a result with a vertex per corner, those alike once."""
    mesh.calc_loop_triangles()
    n = len(mesh.loop_triangles)
    positions = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", positions)
    vertices, loops, groups = np.empty(3 * n, dtype=np.int32), np.empty(3 * n, dtype=np.int32), np.empty(n, dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", vertices)
    mesh.loop_triangles.foreach_get("loops", loops)
    mesh.loop_triangles.foreach_get("material_index", groups)
    rows = [positions.reshape(-1, 3)[vertices]]
    for layer in mesh.uv_layers:
        pair = np.empty(2 * len(mesh.loops), dtype=np.float32)
        layer.data.foreach_get("uv", pair)
        rows.append(pair.reshape(-1, 2)[loops])
    corners = np.concatenate(rows, axis=1)[:, :3 + columns]
    if flags & 1:
        length = np.linalg.norm(corners[:, 3:6], axis=1, keepdims=True)
        corners[:, 3:6] /= np.where(length > 1e-12, length, 1)
    keys = np.ascontiguousarray(corners + np.float32(0)).view([("", np.float32)] * corners.shape[1]).ravel()
    _, first, indices = np.unique(keys, return_index=True, return_inverse=True)
    corners = corners[first]
    with open(path, "wb") as f:
        f.write(b"LODM")
        np.array([len(corners), n, flags], dtype=np.uint32).tofile(f)
        at = 0
        for width in [3] + [w for _, flag, w in LISTS if flags & flag]:
            np.ascontiguousarray(corners[:, at:at + width]).tofile(f)
            at += width
        indices.astype(np.uint32).tofile(f)
        groups.astype(np.uint32).tofile(f)
    return n


def make(name, source):
    """Makes an object of the welded source; returns it and its triangles."""
    positions, triangles, kept = weld(source)
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(positions))
    mesh.vertices.foreach_set("co", positions.ravel())
    n = len(triangles)
    mesh.loops.add(3 * n)
    mesh.loops.foreach_set("vertex_index", triangles.ravel().astype(np.int32))
    mesh.polygons.add(n)
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * n, 3, dtype=np.int32))
    mesh.polygons.foreach_set("loop_total", np.full(n, 3, dtype=np.int32))
    # Blender does not look whether there are so many materials.
    mesh.polygons.foreach_set("material_index", source.groups[kept].astype(np.int32))
    mesh.update(calc_edges=True)
    corners = source.values[source.indices[kept].ravel()]
    for first in range(0, corners.shape[1], 2):
        pair = np.zeros((3 * n, 2), dtype=np.float32)
        part = corners[:, first:first + 2]
        pair[:, :part.shape[1]] = part
        mesh.uv_layers.new(name="corner%d" % first, do_init=False).data.foreach_set("uv", pair.ravel())
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    return obj, n


def main():
    folder, models, ratios = sys.argv[sys.argv.index("--") + 1:]
    for model in models.split(","):
        source = Mesh(os.path.join(folder, model + ".mesh"))
        obj, triangles = make(model, source)
        for ratio in ratios.split(","):
            modifier = obj.modifiers.new("Decimate", "DECIMATE")
            modifier.decimate_type = "COLLAPSE"
            # The part of the source's triangles, some of which the weld dropped.
            modifier.ratio = min(1, float(ratio) * len(source.indices) / triangles)
            start = time.perf_counter()
            evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh = evaluated.to_mesh()
            seconds = time.perf_counter() - start
            percent = round(100 * float(ratio))
            kept = write(os.path.join(folder, "%s.blender.%d.mesh" % (model, percent)), mesh, source.flags, source.values.shape[1])
            line = "\t".join([model, "blender", ratio, str(len(source.indices)), str(kept), "%.3f" % seconds])
            print(line, flush=True)
            with open(os.path.join(folder, "times.tsv"), "a") as f:
                f.write(line + "\n")
            evaluated.to_mesh_clear()
            obj.modifiers.clear()
        bpy.data.objects.remove(obj)


main()
