#!/usr/bin/env python3
"""Time and memory of cooks over the size of the scene: the table and the plot of
docs/performance.md. It needs bin/untold, scripts/gen as a program, and Python alone.

    go build -o bin/gen ./scripts/gen
    python3 scripts/size/size.py --blocks 2,4,8,16,24,34,50 -o docs/images/size.svg
    python3 scripts/size/size.py --blocks 50,157 --runs 1 --log size.jsonl    # adds to a log
    python3 scripts/size/size.py --log size.jsonl -o size.svg                 # draws the log alone

Scenes are fields of N x N houses, each with geometry of its own (about 4,000 triangles a
house; 157 are 100 million and 5.4 GB). A scene is made, cooked with all memory and within
--memory, and removed. Seconds are of a processor, user and system; the peak is what the
kernel counts of the program alone.
"""
import argparse, json, math, os, re, shutil, subprocess, sys, tempfile, time

BLUE, ORANGE = "#1f6fb2", "#c4570e"


def run(argv):
    """Runs a program and returns its seconds of a processor, seconds, peak bytes and text."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen(argv, stdout=out, stderr=out)
        _, status, use = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    if child.returncode:
        sys.exit("size: %s ends with %d:\n%s" % (" ".join(argv), child.returncode, text))
    unit = 1 if sys.platform == "darwin" else 1024
    return use.ru_utime + use.ru_stime, wall, use.ru_maxrss * unit, text


def measure(o, blocks):
    """Yields one line of the log for each bound."""
    folder = tempfile.mkdtemp(prefix="untold-size-", dir=o.dir)
    try:
        # A .glb ends at 4 GiB, and 140 x 140 houses of 220 kB are that much.
        scene = os.path.join(folder, "scene", "boxes.glb" if blocks < 140 else "boxes.gltf")
        out = os.path.join(folder, "out")
        os.mkdir(os.path.dirname(scene))
        text = run([o.gen, "-kind", "boxes", "-blocks", str(blocks), "-textures=false", "-o", scene])[3]
        triangles = int(re.search(r"(\d+) drawn triangles", text).group(1))
        size = sum(f.stat().st_size for f in os.scandir(os.path.dirname(scene)))
        for bound in ("", o.memory):
            best = None
            for _ in range(o.runs):
                shutil.rmtree(out, ignore_errors=True)
                flags = ["--memory", bound] if bound else []
                cpu, wall, peak, _ = run([o.untold, "cook", scene, "-o", out, "-q", "--sync=false", "-j", str(o.jobs),
                                          "--lod=false", "--hlod=false", "--pyramid=off"] + flags)
                one = {"blocks": blocks, "triangles": triangles, "bytes": size, "memory": bound,
                       "jobs": o.jobs, "cpu": cpu, "wall": wall, "peak": peak}
                if best is None or cpu < best["cpu"]:
                    best = one
            yield best
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def power(points):
    """The exponent of a line fitted to the logarithms of both."""
    if len({x for x, _ in points}) < 2:
        return None
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def series(log, bound, what):
    """The least figure of each size."""
    best = {}
    for r in log:
        if bool(r["memory"]) == bound:
            best[r["triangles"]] = min(best.get(r["triangles"], math.inf), r[what])
    return sorted(best.items())


def table(log, name):
    print("| drawn triangles | all memory | `--memory %s` |\n|---|---|---|" % name)
    cells = [dict(series(log, bound, what)) for bound in (False, True) for what in ("cpu", "peak")]
    for n in sorted({r["triangles"] for r in log}):
        row = ["%.2f s, %.2f GB" % (c[n], p[n] / 1e9) if n in c else "" for c, p in (cells[:2], cells[2:])]
        print("| %s | %s | %s |" % (f"{n:,}", *row))
    for least, most in ((0, math.inf), (1e6, 1.1e7), (9e6, 2e8), (1e6, 2e8)):
        for bound in (False, True):
            some = [[(x, y) for x, y in series(log, bound, w) if least <= x <= most] for w in ("cpu", "peak")]
            if power(some[0]) is not None:
                print("from %s to %s triangles, %s: time grows with the power %.2f, the peak with %.2f" % (
                    f"{some[0][0][0]:,}", f"{some[0][-1][0]:,}", "--memory " + name if bound else "all memory",
                    power(some[0]), power(some[1])))


def draw(log, name, jobs, path):
    xs = [r["triangles"] for r in log]
    low, high = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)) - 0.1)
    high = max(high, low + 1)
    cpu = [r["cpu"] for r in log]
    bottom, top = math.floor(math.log10(min(cpu))), math.ceil(math.log10(max(cpu)))
    top = max(top, bottom + 1)
    peak = max(0.25, math.ceil(max(r["peak"] for r in log) / 1e9 / 0.25) * 0.25)
    at_x = lambda left, n: left + 290 * (math.log10(n) - low) / (high + 0.2 - low)
    at_s = lambda s: 320 - 270 * (math.log10(s) - bottom) / (top - bottom)
    at_m = lambda b: 320 - 270 * b / 1e9 / peak
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 380" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>']

    def text(x, y, anchor, fill, s):
        svg.append('<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>' % (x, y, anchor, fill, s))

    for left, title in ((70, "seconds of a processor, %d jobs" % jobs), (440, "peak memory, GB")):
        text(left + 145, 30, "middle", "#333", title)
        svg.append('<path d="M%d,50V320H%d" fill="none" stroke="#999"/>' % (left, left + 290))
        for d in range(low, high + 1):
            x = at_x(left, 10.0 ** d)
            svg.append('<path d="M%.1f,50V320" stroke="#eee"/>' % x)
            text(x, 338, "middle", "#333", '10<tspan dy="-4" font-size="9">%d</tspan>' % d)
        text(left + 145, 360, "middle", "#333", "drawn triangles")
    for d in range(bottom, top + 1):
        y = at_s(10.0 ** d)
        svg.append('<path d="M70,%.1fH360" stroke="#eee"/>' % y)
        text(62, y + 4, "end", "#333", "%g" % 10.0 ** d)
    for k in range(int(peak / 0.25) + 1):
        y = at_m(k * 0.25e9)
        svg.append('<path d="M440,%.1fH730" stroke="#eee"/>' % y)
        text(432, y + 4, "end", "#333", "%g" % (k * 0.25))
    for bound, colour in ((False, BLUE), (True, ORANGE)):
        for left, what, at in ((70, "cpu", at_s), (440, "peak", at_m)):
            points = [(at_x(left, n), at(v)) for n, v in series(log, bound, what)]
            svg.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (
                colour, " ".join("%.1f,%.1f" % p for p in points)))
            svg += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*p, colour) for p in points]
    text(85, 66, "start", BLUE, "as much memory as there is")
    text(85, 82, "start", ORANGE, "--memory " + name)
    svg.append("</svg>")
    with open(path, "w") as f:
        f.write("\n".join(svg) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--blocks", default="", help="houses along each side, with commas; none: the log alone")
    p.add_argument("--runs", type=int, default=2, help="of each, the one of least processor time counts (2)")
    p.add_argument("--jobs", type=int, default=2, help="tiles at a time (2)")
    p.add_argument("--memory", default="1GiB", help="the bound (1GiB)")
    p.add_argument("--untold", default="bin/untold")
    p.add_argument("--gen", default="bin/gen")
    p.add_argument("--dir", default=None, help="folder for scenes, which has room for twice the largest")
    p.add_argument("--log", default=None, help="file of figures, a JSON object a line, that runs are added to")
    p.add_argument("-o", dest="out", default=None, help="picture to draw, .svg")
    o = p.parse_args()
    log = []
    if o.log and os.path.exists(o.log):
        with open(o.log) as f:
            log = [json.loads(line) for line in f if line.strip()]
    for blocks in [int(n) for n in o.blocks.split(",") if n]:
        for one in measure(o, blocks):
            log.append(one)
            print("size: %s" % json.dumps(one), file=sys.stderr, flush=True)
            if o.log:
                with open(o.log, "a") as f:
                    f.write(json.dumps(one) + "\n")
    if not log:
        sys.exit("size: no figures; give --blocks, or --log with a file of some")
    table(log, o.memory)
    if o.out:
        draw(log, o.memory, o.jobs, o.out)


main()
