"""Draws glTF files with Blender's path tracer, under the light of untold preview.

    blender -b --factory-startup --python-exit-code 1 -P pathtrace.py -- JOB.json

JOB.json says which file from where, and under which sun and sky (scripts/pictures/pathtrace.go).
What is written is the light that arrives, without a tone curve: rows from top to bottom of red,
green, blue as float32.
"""

import builtins
import json
import math
import sys

import bpy
import mathutils
import numpy

# Blender's importer of glTF uses names that newer releases of numpy do not have any more.
for name in ("bool", "object", "int", "float"):
    if name not in numpy.__dict__:
        setattr(numpy, name, getattr(builtins, name))


def blender(v):
    """Turns glTF's axes, y up, into Blender's, z up."""
    return (v[0], -v[2], v[1])


def sky(job, width=1024, height=512):
    """What a mirror sees of the preview's sky (skyRadiance in light.glsl, unblurred), as an
    image around everything."""
    u, v = numpy.meshgrid((numpy.arange(width) + 0.5) / width, (numpy.arange(height) + 0.5) / height)
    turn, up = (0.5 - u) * 2 * math.pi, (v - 0.5) * math.pi
    d = numpy.stack([numpy.cos(up) * numpy.cos(turn), numpy.sin(up), -numpy.cos(up) * numpy.sin(turn)], axis=-1)
    y = d[..., 1:2]
    zenith, horizon, ground, glow = (numpy.array(job[k]) for k in ("zenith", "horizon", "ground", "glow"))

    def mix(a, b, t):
        return a * (1 - t) + b * t

    above = mix(horizon, zenith, numpy.sqrt(numpy.maximum(y, 0)))
    below = mix(ground, 0.97 * horizon, numpy.exp(4 * numpy.minimum(y, 0)))
    t = numpy.clip((y + 0.004) / 0.008, 0, 1)
    sun = numpy.array(job["to_sun"])
    near = numpy.maximum(d @ (sun / numpy.linalg.norm(sun)), 0)[..., None]
    light = mix(below, above, t * t * (3 - 2 * t)) + glow * near**12
    image = bpy.data.images.new("sky", width, height, float_buffer=True)
    image.colorspace_settings.name = "Linear"
    image.pixels.foreach_set(numpy.concatenate([light, numpy.ones_like(y)], axis=-1).astype(numpy.float32).ravel())
    image.pack()
    return image


def light(scene, job):
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    around = world.node_tree.nodes.new("ShaderNodeTexEnvironment")
    around.image = sky(job)
    world.node_tree.links.new(around.outputs["Color"], world.node_tree.nodes["Background"].inputs["Color"])
    scene.world = world
    sun = bpy.data.lights.new("sun", "SUN")
    # A white surface that faces a sun of strength pi shows 1.
    strength = max(job["sun"])
    sun.energy = math.pi * strength
    sun.color = [c / strength for c in job["sun"]]
    sun.angle = math.radians(0.53)
    at = bpy.data.objects.new("sun", sun)
    at.rotation_euler = mathutils.Vector(blender(job["to_sun"])).to_track_quat("Z", "Y").to_euler()
    scene.collection.objects.link(at)


def look(scene, job):
    lens = bpy.data.cameras.new("eye")
    lens.sensor_fit = "VERTICAL"
    lens.angle = math.radians(job["fov_y_degrees"])
    lens.clip_start, lens.clip_end = 0.01, 10_000
    at = bpy.data.objects.new("eye", lens)
    at.location = blender(job["position"])
    at.rotation_euler = mathutils.Vector(blender(job["forward"])).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(at)
    scene.camera = at


def main():
    with open(sys.argv[sys.argv.index("--") + 1], encoding="utf-8") as f:
        job = json.load(f)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=job["file"])
    scene = bpy.context.scene
    for o in list(scene.objects):
        if o.type in ("LIGHT", "CAMERA"):
            bpy.data.objects.remove(o)
    for m in bpy.data.materials:
        for n in m.node_tree.nodes if m.use_nodes else ():
            if n.type == "BSDF_PRINCIPLED":
                n.distribution = "MULTI_GGX"  # the other one darkens rough metals
    light(scene, job)
    look(scene, job)
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = job["samples"]
    scene.cycles.use_adaptive_sampling = False
    scene.cycles.use_denoising = False
    scene.cycles.seed = 0
    scene.cycles.sample_clamp_indirect = 4  # of fireflies
    scene.render.resolution_x, scene.render.resolution_y = job["width"], job["height"]
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_mode = "RGB"
    scene.render.image_settings.color_depth = "32"
    scene.render.filepath = job["out"] + ".exr"
    bpy.ops.render.render(write_still=True)
    drawn = bpy.data.images.load(scene.render.filepath)
    drawn.colorspace_settings.name = "Linear"
    pixels = numpy.empty(job["width"] * job["height"] * 4, numpy.float32)
    drawn.pixels.foreach_get(pixels)
    pixels.reshape(job["height"], job["width"], 4)[::-1, :, :3].astype("<f4").tofile(job["out"])


main()
