// Decodes KTX2 files to RGBA32 by the reference transcoder and prints, separated by
// tabs, for every level: file, level, width, height, SHA-256 of the pixels.
//
//   node transcode.mjs FOLDER-OF-basis_transcoder.js FILE...
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [folder, ...files] = process.argv.slice(2);
const script = fs.readFileSync(path.join(folder, 'basis_transcoder.js'), 'utf8');
const load = new Function('module', 'exports', 'require', '__dirname', '__filename', script + '\nreturn BASIS;');
const BASIS = load({ exports: {} }, {}, createRequire(import.meta.url), folder, path.join(folder, 'basis_transcoder.js'));
const basis = await BASIS({ wasmBinary: fs.readFileSync(path.join(folder, 'basis_transcoder.wasm')) });
basis.initializeBasis();

const RGBA32 = 13;
for (const file of files) {
  const f = new basis.KTX2File(new Uint8Array(fs.readFileSync(file)));
  if (!f.isValid() || !f.startTranscoding()) throw new Error(`${file}: the transcoder refuses it`);
  for (let level = 0; level < f.getLevels(); level++) {
    const { origWidth, origHeight } = f.getImageLevelInfo(level, 0, 0);
    const pixels = new Uint8Array(f.getImageTranscodedSizeInBytes(level, 0, 0, RGBA32));
    if (!f.transcodeImage(pixels, level, 0, 0, RGBA32, 0, -1, -1)) throw new Error(`${file}: level ${level} fails`);
    console.log([path.basename(file), level, origWidth, origHeight, crypto.createHash('sha256').update(pixels).digest('hex')].join('\t'));
  }
  f.close();
  f.delete();
}
