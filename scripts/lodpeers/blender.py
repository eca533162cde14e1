"""Simplifies the exported models with Blender's Decimate modifier.

    blender -b --factory-startup -P blender.py -- FOLDER MODEL,MODEL RATIO,RATIO

reads FOLDER/MODEL.mesh, welds vertices of equal position, and writes
FOLDER/MODEL.blender.PERCENT.mesh (positions only) and a line of
FOLDER/times.tsv per result. Only the evaluation of the modifier is timed.
"""

import os
import sys
import time

import bpy
import numpy as np


def read(path):
    data = np.fromfile(path, dtype=np.uint8)
    vertices, triangles = data[4:12].view(np.uint32)
    positions = data[16:16 + 12 * vertices].view(np.float32).reshape(-1, 3)
    indices = data[-12 * int(triangles):].view(np.uint32).reshape(-1, 3)
    return positions, indices


def weld(positions, indices):
    """Merges vertices of equal position and drops triangles that collapse."""
    # Adding 0 turns -0 into 0, which compare equal but differ as bytes.
    keys = np.ascontiguousarray(positions + np.float32(0)).view([("", np.float32)] * 3).ravel()
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    triangles = back[indices]
    a, b, c = triangles.T
    return positions[first], triangles[(a != b) & (b != c) & (c != a)]


def write(path, mesh):
    mesh.calc_loop_triangles()
    positions = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", positions)
    indices = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", indices)
    with open(path, "wb") as f:
        f.write(b"LODM")
        np.array([len(mesh.vertices), len(mesh.loop_triangles), 0], dtype=np.uint32).tofile(f)
        positions.tofile(f)
        indices.astype(np.uint32).tofile(f)
    return len(mesh.loop_triangles)


def make(name, positions, triangles):
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(positions))
    mesh.vertices.foreach_set("co", positions.ravel())
    n = len(triangles)
    mesh.loops.add(3 * n)
    mesh.loops.foreach_set("vertex_index", triangles.ravel().astype(np.int32))
    mesh.polygons.add(n)
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * n, 3, dtype=np.int32))
    mesh.polygons.foreach_set("loop_total", np.full(n, 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    return obj


def main():
    folder, models, ratios = sys.argv[sys.argv.index("--") + 1:]
    for model in models.split(","):
        source, indices = read(os.path.join(folder, model + ".mesh"))
        positions, triangles = weld(source, indices)
        obj = make(model, positions, triangles)
        for ratio in ratios.split(","):
            modifier = obj.modifiers.new("Decimate", "DECIMATE")
            modifier.decimate_type = "COLLAPSE"
            # The part of the source's triangles, some of which the weld dropped.
            modifier.ratio = min(1, float(ratio) * len(indices) / len(triangles))
            start = time.perf_counter()
            evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh = evaluated.to_mesh()
            seconds = time.perf_counter() - start
            percent = round(100 * float(ratio))
            kept = write(os.path.join(folder, "%s.blender.%d.mesh" % (model, percent)), mesh)
            line = "\t".join([model, "blender", ratio, str(len(indices)), str(kept), "%.3f" % seconds])
            print(line, flush=True)
            with open(os.path.join(folder, "times.tsv"), "a") as f:
                f.write(line + "\n")
            evaluated.to_mesh_clear()
            obj.modifiers.clear()
        bpy.data.objects.remove(obj)


main()
