// A worker and what it is asked, one request after another.  Of two requests that
// wait in one lane only the newer is run; the other is rejected with kOld.  A request
// that takes too long, or that ends the worker, costs that worker, and the next
// request gets a new one.

export const kOld = Symbol("old");
const kSlowMs = 2000;
const kMostMs = 10000;

// The only address of a script that the page makes: a worker's own text, as a
// blob.  A worker from another address would not be under the policies of the page.
const made = new Set();
const policy = globalThis.trustedTypes?.createPolicy("parlance", {
  createScriptURL(address) {
    if (!made.has(address)) throw new TypeError("not an address of this page");
    return address;
  },
}) ?? { createScriptURL: (address) => address };

// What is loaded is beside the page, or in it where the page is one file.
const inside = (name) => document.getElementById(`file-${name}`);

async function textOf(name) {
  return inside(name)?.textContent ?? (await answered(name)).text();
}

async function answered(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer;
}

async function packedModule(name, onProgress) {
  const element = inside(name);
  if (element) {
    const text = element.textContent.trim();
    return Uint8Array.fromBase64 ? Uint8Array.fromBase64(text)
      : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  }
  const answer = await answered(name);
  const size = Number(answer.headers.get("content-length"));
  const parts = [];
  let read = 0;
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    read += value.length;
    if (size > 0) onProgress(Math.min(99, Math.round(100 * read / size)));
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// A server may have unpacked it already.
async function compiled(name, onProgress) {
  const bytes = await packedModule(`${name}.wasm.gz`, onProgress);
  let stream = new Blob([bytes]).stream();
  if (bytes[0] === 0x1f) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream,
    { headers: { "content-type": "application/wasm" } }));
}

// What cannot be loaded is asked for again by the next worker.
const modules = new Map();
let workerAddress = null;

async function loadedWorker() {
  const text = await textOf("worker.js");
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  made.add(address);
  return address;
}

export class Engine {
  // `module`: "parser" or "parlance".  `onState` is called with {progress},
  // {slow: true, lane} and {said} (what the worker says of its work).
  // A request takes at most `mostMs`.
  constructor(module, onState = () => {}, mostMs = kMostMs) {
    this.module = module;
    this.mostMs = mostMs;
    this.onState = onState;
    this.worker = null;
    this.busy = null;
    this.waiting = new Map();
  }

  async start() {
    const { module } = this;
    if (!modules.has(module)) {
      const loading = compiled(module, (progress) => {
        if (this.busy) this.onState({ progress });  // else nothing waits for it
      });
      modules.set(module, loading);
      loading.catch(() => modules.delete(module));
    }
    if (!workerAddress) {
      workerAddress = loadedWorker();
      workerAddress.catch(() => { workerAddress = null; });
    }
    const [code, address] = await Promise.all([modules.get(module), workerAddress]);
    const worker = new Worker(policy.createScriptURL(address));
    worker.postMessage({ module: code, whole: module === "parlance" });
    // A worker that was ended may have sent something before.
    worker.onmessage = ({ data }) => {
      if (worker === this.worker) this.answer(data);
    };
    worker.onerror = (event) => {
      if (worker === this.worker) this.stop(event.message || "the worker has failed");
    };
    return worker;
  }

  // The answer of operation `op`, which may take another time than the others.
  run(lane, op, given = {}, mostMs = this.mostMs) {
    return new Promise((resolve, reject) => {
      this.waiting.get(lane)?.reject(kOld);
      this.waiting.set(lane, { lane, op, given, mostMs, resolve, reject });
      this.next();
    });
  }

  async next() {
    if (this.busy || this.waiting.size === 0) return;
    const [[lane, job]] = this.waiting;
    this.waiting.delete(lane);
    this.busy = job;
    if (!this.worker) {
      // The job may be stopped, and another may begin, while the worker starts.
      try {
        const worker = await this.start();
        if (this.busy !== job) return worker.terminate();
        this.worker = worker;
      } catch (error) {
        if (this.busy === job) this.end(() => job.reject(error));
        return;
      }
    }
    this.timers = [
      setTimeout(() => this.onState({ slow: true, lane }), kSlowMs),
      setTimeout(() => this.stop(`It took longer than ${job.mostMs / 1000} ` +
        "seconds and was ended."), job.mostMs),
    ];
    this.worker.postMessage({ op: job.op, given: job.given });
  }

  answer({ value, error, said }) {
    if (said !== undefined) return this.onState({ said });
    if (error?.code === "spent") return this.stop(error.message);
    const job = this.busy;
    this.end(() => error
      ? job.reject(Object.assign(new Error(error.message), error))
      : job.resolve(value));
  }

  end(settle) {
    this.timers?.forEach(clearTimeout);
    this.busy = null;
    settle();
    this.next();
  }

  // Ends what is running.
  stop(why = "It was stopped.") {
    const job = this.busy;
    this.worker?.terminate();
    this.worker = null;
    if (job) this.end(() => job.reject(Object.assign(new Error(why), { ended: true })));
  }
}
