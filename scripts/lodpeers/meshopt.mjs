// Simplifies the exported models with the npm package meshoptimizer.
//
//   node meshopt.mjs FOLDER MODEL,MODEL RATIO,RATIO MODE,MODE
//
// reads FOLDER/MODEL.mesh, writes FOLDER/MODEL.MODE.PERCENT.mesh and a line of
// FOLDER/times.tsv per result. Modes:
//
//   pos          simplify: positions only
//   attr         simplifyWithAttributes: normals (weight 0.5) and texture coordinates (1)
//   attr+update  simplifyWithUpdate with the same weights: vertices move
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
const WEIGHTS = [0.5, 0.5, 0.5, 1, 1];
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
	const normals = flags & 1 ? floats(3) : new Float32Array(3 * vertices);
	const uv = flags & 2 ? floats(2) : new Float32Array(2 * vertices);
	const indices = new Uint32Array(bytes, at, 3 * triangles);
	return { positions, normals, uv, indices };
}

function write(path, positions, normals, indices) {
	const vertices = positions.length / 3;
	const head = new Uint32Array([0x4d444f4c, vertices, indices.length / 3, 1]);
	writeFileSync(path, Buffer.concat([head, positions, normals, indices].map((a) => Buffer.from(a.buffer, a.byteOffset, a.byteLength))));
}

function attributes(mesh) {
	const n = mesh.positions.length / 3;
	const out = new Float32Array(5 * n);
	for (let i = 0; i < n; i++) {
		out.set(mesh.normals.subarray(3 * i, 3 * i + 3), 5 * i);
		out.set(mesh.uv.subarray(2 * i, 2 * i + 2), 5 * i + 3);
	}
	return out;
}

function simplify(mesh, mode, target) {
	const { indices, positions, normals } = mesh;
	if (mode === 'pos') {
		return { positions, normals, indices: MeshoptSimplifier.simplify(indices, positions, 3, target, NO_LIMIT)[0] };
	}
	const attrs = attributes(mesh);
	if (mode === 'attr') {
		return { positions, normals, indices: MeshoptSimplifier.simplifyWithAttributes(indices, positions, 3, attrs, 5, WEIGHTS, null, target, NO_LIMIT)[0] };
	}
	if (mode === 'attr+update') {
		const i = indices.slice(), p = positions.slice();
		const [count] = MeshoptSimplifier.simplifyWithUpdate(i, p, 3, attrs, 5, WEIGHTS, null, target, NO_LIMIT);
		const n = new Float32Array(p.length);
		for (let v = 0; v < p.length / 3; v++) n.set(attrs.subarray(5 * v, 5 * v + 3), 3 * v);
		return { positions: p, normals: n, indices: i.slice(0, count) };
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
			write(join(folder, `${model}.${mode}.${Math.round(ratio * 100)}.mesh`), r.positions, r.normals, r.indices);
			const line = [model, mode, ratio, triangles, r.indices.length / 3, seconds.toFixed(3)].join('\t');
			console.log(line);
			appendFileSync(join(folder, 'times.tsv'), line + '\n');
		}
	}
}
