// Opens tilesets in viewers of 3D Tiles, and manifests in ours, in a browser without a window, and writes a picture
// of each and what they loaded: node capture.mjs JOBS.json, from a folder in which three,
// 3d-tiles-renderer, cesium and puppeteer-core are installed. Jobs are
// {name, viewer: "three", "cesium" or "untold", tileset: URL, eye, target: [x, y, z] with Y up, out: PNG}.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';

const require = createRequire(pathToFileURL(join(process.cwd(), 'x.js')));
const puppeteer = require('puppeteer-core');
const here = dirname(fileURLToPath(import.meta.url));
const types = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm', '.css': 'text/css' };

// Serves the pages and the modules.
const server = createServer(async (q, r) => {
  const path = normalize(new URL(q.url, 'http://x').pathname);
  const file = path.startsWith('/node_modules/') ? join(process.cwd(), path) : join(here, path);
  try {
    const data = await readFile(file);
    r.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' });
    r.end(data);
  } catch {
    r.writeHead(404);
    r.end();
  }
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}`;

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  protocolTimeout: 1800000, // of a call; a job's own timeout ends it
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
let failed = 0;
for (const job of JSON.parse(readFileSync(process.argv[2]))) {
  const page = await browser.newPage();
  await page.setViewport({ width: job.width ?? 1280, height: job.height ?? 720 });
  const errors = [];
  page.on('console', m => { if (m.type() === 'error' || m.type() === 'warn' && process.env.WARNINGS) errors.push(m.text()); });
  page.on('pageerror', e => errors.push(String(e)));
  page.on('requestfailed', q => errors.push(`${q.url()}: ${q.failure()?.errorText}`));
  // What the tileset's server sent, by the time of the last of it.
  let bytes = 0, requests = 0;
  page.on('response', async q => {
    if (!q.url().startsWith(new URL(job.tileset).origin)) return;
    if (q.status() >= 400) errors.push(`${q.url()}: ${q.status()}`);
    requests++;
    bytes += Number(q.headers()['content-length'] ?? 0);
  });
  const query = new URLSearchParams({ tileset: job.tileset, eye: job.eye, target: job.target, error: job.error ?? 16 });
  await page.goto(`${base}/${job.viewer}.html?${query}`);
  let state = 'timed out';
  try {
    await page.waitForFunction('window.done !== undefined', { timeout: job.timeout ?? 180000, polling: 200 });
    state = await page.evaluate('window.done');
  } catch (e) {
    errors.push(String(e));
    state = await page.evaluate('window.progress ?? "no progress"').catch(() => 'gone');
  }
  await page.screenshot({ path: job.out });
  console.log(JSON.stringify({ name: job.name, viewer: job.viewer, state, requests, bytes, errors }));
  failed += errors.length > 0;
  await page.close();
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
