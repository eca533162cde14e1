// Workers that fetch and decode beside the page (decoder.js), as the program sees them
// (package decoder). Where the browser allows none the program decodes by itself.

const script = new URL("decoder.js", import.meta.url);

// decoderCount is how many workers suit the machine: a processor is left for drawing,
// and each takes memory of its own.
export function decoderCount() {
  const processors = navigator.hardwareConcurrency || 2;
  const most = (navigator.deviceMemory || 8) <= 2 ? 1 : 3;
  return Math.max(1, Math.min(most, processors - 1));
}

export class Decoders {
  // module is a promise of the compiled program; settings are what decoder.js gets for
  // its Files; told is called with what a worker's Files say.
  constructor(count, module, settings, told) {
    Object.assign(this, { count, module, settings, told, workers: [], early: [] });
    for (let i = 0; i < count; i++) this.early[i] = this.make(i);
  }

  // make begins a worker: an object with the Worker, or with why there is none.
  make(i) {
    const w = { got: null, ended: false };
    const end = (why) => {
      if (w.ended) return;
      w.ended = why;
      if (w.got) w.got(why);
    };
    w.stop = () => {
      w.ended = w.ended || "stopped";
      w.got = null;
      if (w.worker) w.worker.terminate();
    };
    try {
      w.worker = new Worker(script, { type: "module", name: "untold decoder " + i });
    } catch (e) {
      end(e.message);
      return w;
    }
    w.worker.onerror = (e) => {
      e.preventDefault();
      end(e.message || "the script cannot be loaded");
    };
    w.worker.onmessageerror = () => end("a message cannot be read");
    w.worker.onmessage = ({ data }) => {
      if (w.ended) return;
      if (data.bytes) w.got(new Uint8Array(data.bytes));
      else if (data.ended !== undefined) end(data.ended);
      else this.told(i, data);
    };
    this.module.then((module) => w.ended || w.worker.postMessage({ module, settings: this.settings }), () => end("there is no program"));
    return w;
  }

  // start begins a worker and returns "", or why not; got is called with its messages,
  // and with a text when it has ended.
  start(i, got) {
    const w = this.early[i] || this.make(i);
    this.early[i] = null;
    if (w.ended) return w.ended;
    w.got = got;
    this.workers[i] = w;
    return "";
  }

  send(i, bytes) {
    const w = this.workers[i];
    if (!w.ended) w.worker.postMessage({ bytes: bytes.buffer }, [bytes.buffer]);
  }

  stop(i) {
    this.workers[i].stop();
  }

  // end ends all workers.
  end() {
    for (const w of [...this.early, ...this.workers]) if (w) w.stop();
  }

  // close ends all workers.
  close() {
    for (const w of [...this.early, ...this.workers]) if (w) w.stop();
    this.early = [];
  }

  // tell has all workers know new settings.
  tell(settings) {
    Object.assign(this.settings, settings);
    for (const w of [...this.early, ...this.workers]) if (w && w.worker && !w.ended) w.worker.postMessage({ settings });
  }
}
