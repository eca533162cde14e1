// Simplifies the exported models with the npm package meshoptimizer.
//
//   node meshopt.mjs FOLDER MODEL,MODEL RATIO,RATIO MODE,MODE
//
// reads FOLDER/MODEL.mesh, writes FOLDER/MODEL.MODE.PERCENT.mesh and a line of
// FOLDER/times.tsv per result. Modes:
//
//   pos          simplify: positions only
//   attr         simplifyWithAttributes: normals (weight 0.5), texture coordinates
//                and colours (1)
//   attr+update  simplifyWithUpdate with the same weights: vertices move
//   sloppy       simplifySloppy: positions only, topology given up
//
// The error limit is off, so that the ratio decides.
import { readFileSync, writeFileSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';

// The package is looked up from the current folder, where npm put it.
const require = createRequire(join(process.cwd(), 'package.json'));
const { MeshoptSimplifier } = await import(require.resolve('meshoptimizer'));
await MeshoptSimplifier.ready;

const [folder, models, ratios, modes] = process.argv.slice(2);
// The attributes: the flag in the file, the numbers per vertex, and their weight.
const NORMALS = [1, 3, 0.5], UV = [2, 2, 1], COLORS = [4, 4, 1];
const GROUPS = 8;
const NO_LIMIT = 3.4028234663852886e38;

function read(path) {
	const file = readFileSync(path);
	const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
	const [, vertices, triangles, flags] = new Uint32Array(bytes, 0, 4);
	let at = 16;
	const floats = (n) => {
		const view = new Float32Array(bytes, at, n * vertices);
		at += 4 * n * vertices;
		return view;
	};
	const positions = floats(3);
	// Normals and texture coordinates always count, colours where there are any.
	const lists = [NORMALS, UV, COLORS]
		.filter(([flag]) => flags & flag || flag !== COLORS[0])
		.map(([flag, n, weight]) => ({ flag, n, weight, values: flags & flag ? floats(n) : new Float32Array(n * vertices) }));
	const indices = new Uint32Array(bytes, at, 3 * triangles);
	at += 12 * triangles;
	const groups = flags & GROUPS ? new Uint32Array(bytes, at, triangles) : new Uint32Array(triangles);
	return { positions, indices, lists, groups: ofVertices(indices, groups, vertices) };
}

// A vertex belongs to one group: materials share none.
function ofVertices(indices, groups, vertices) {
	const out = new Uint32Array(vertices);
	for (let i = 0; i < indices.length; i++) out[indices[i]] = groups[Math.floor(i / 3)];
	return out;
}

function write(path, mesh, { positions, attrs, indices }) {
	const n = positions.length / 3;
	const groups = new Uint32Array(indices.length / 3).map((_, t) => mesh.groups[indices[3 * t]]);
	const flags = mesh.lists.reduce((f, l) => f | l.flag, GROUPS);
	const head = new Uint32Array([0x4d444f4c, n, groups.length, flags]);
	const parts = [head, positions, ...split(attrs, mesh.lists, n), indices, groups];
	writeFileSync(path, Buffer.concat(parts.map((a) => Buffer.from(a.buffer, a.byteOffset, a.byteLength))));
}

const width = (lists) => lists.reduce((sum, l) => sum + l.n, 0);

// The attributes of a vertex lie together for the simplifier.
function interleave(lists, n) {
	const stride = width(lists), out = new Float32Array(stride * n);
	let first = 0;
	for (const l of lists) {
		for (let i = 0; i < n; i++) out.set(l.values.subarray(l.n * i, l.n * (i + 1)), stride * i + first);
		first += l.n;
	}
	return out;
}

function split(attrs, lists, n) {
	const stride = width(lists);
	let first = 0;
	return lists.map((l) => {
		const out = new Float32Array(l.n * n);
		for (let i = 0; i < n; i++) out.set(attrs.subarray(stride * i + first, stride * i + first + l.n), l.n * i);
		first += l.n;
		return out;
	});
}

function simplify(mesh, mode, target) {
	const { indices, positions, lists } = mesh;
	const stride = width(lists), weights = lists.flatMap((l) => Array(l.n).fill(l.weight));
	const attrs = interleave(lists, positions.length / 3);
	if (mode === 'pos') {
		return { positions, attrs, indices: MeshoptSimplifier.simplify(indices, positions, 3, target, NO_LIMIT)[0] };
	}
	if (mode === 'attr') {
		return { positions, attrs, indices: MeshoptSimplifier.simplifyWithAttributes(indices, positions, 3, attrs, stride, weights, null, target, NO_LIMIT)[0] };
	}
	if (mode === 'attr+update') {
		const i = indices.slice(), p = positions.slice();
		const [count] = MeshoptSimplifier.simplifyWithUpdate(i, p, 3, attrs, stride, weights, null, target, NO_LIMIT);
		return { positions: p, attrs, indices: i.slice(0, count) };
	}
	if (mode === 'sloppy') {
		return { positions, attrs, indices: MeshoptSimplifier.simplifySloppy(indices, positions, 3, null, target, NO_LIMIT)[0] };
	}
	throw new Error(`no mode ${mode}`);
}

for (const model of models.split(',')) {
	const mesh = read(join(folder, `${model}.mesh`));
	const triangles = mesh.indices.length / 3;
	for (const mode of modes.split(',')) {
		for (const ratio of ratios.split(',').map(Number)) {
			const start = performance.now();
			const r = simplify(mesh, mode, Math.floor(triangles * ratio) * 3);
			const seconds = (performance.now() - start) / 1000;
			write(join(folder, `${model}.${mode}.${Math.round(ratio * 100)}.mesh`), mesh, r);
			const line = [model, mode, ratio, triangles, r.indices.length / 3, seconds.toFixed(3)].join('\t');
			console.log(line);
			appendFileSync(join(folder, 'times.tsv'), line + '\n');
		}
	}
}
