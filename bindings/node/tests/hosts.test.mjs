// The package in other hosts: bundled by esbuild, in a browser, in Deno.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const expected = { role: 'assistant', thinking: 'Bern, then.', content: 'It is sunny.' };
const program = (from) => `
  import { Grammar, init, Parser } from '${from}';
  await init();
  const parser = new Parser('qwen3', { prefix: '' });
  const pieces = new Response('<think>Bern, then.</think>It is sunny.').body;
  for await (const event of parser.stream(pieces)) void event;
  if (!new Grammar({ type: 'integer' }).accepts('12')) throw new Error('a mask');
  console.log(JSON.stringify(parser.message()));
  if (globalThis.document) fetch('/done', { method: 'POST', body: JSON.stringify(parser.message()) });
`;

const found = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).stdout.toString().trim();
const modules = join(here, 'node_modules');
const esbuild = await import('esbuild').catch(() => null);
const browser =
  process.env.PARLANCE_BROWSER ||
  ['chromium', 'chromium-browser', 'google-chrome'].map(found).find(Boolean);
const deno = await readFile(join(modules, '@deno/linux-x64-glibc/package.json')).then(
  () => join(modules, '@deno/linux-x64-glibc/deno'),
  () => found('deno'),
);

const types = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

// What a page in a folder sends to /done, in a browser.
async function sent_by(folder, page) {
  let done;
  const sent = new Promise((resolve) => {
    done = resolve;
  });
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (pathname === '/done') {
      let text = '';
      for await (const piece of request) text += piece;
      response.writeHead(204).end();
      done(text);
      return;
    }
    try {
      const data = await readFile(join(folder, pathname));
      response.writeHead(200, { 'content-type': types[extname(pathname)] ?? 'text/plain' });
      response.end(data);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const words = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  words.push('--no-first-run', `http://127.0.0.1:${server.address().port}/${page}`);
  const process_ = execFile(browser, words, () => done('the browser has ended'));
  const late = setTimeout(() => done('nothing was sent'), 240_000);
  try {
    return await sent;
  } finally {
    clearTimeout(late);
    process_.kill();
    server.close();
    server.closeAllConnections();
  }
}

// Errors of the page are sent, too.
const page_of = (script) => `<!doctype html><script>
  for (const kind of ['error', 'unhandledrejection']) {
    addEventListener(kind, (event) => fetch('/done', { method: 'POST', body: String(event.reason ?? event.message) }));
  }
</script>${script}`;

test('a browser loads the files as they are', { skip: !browser && 'there is no browser; scripts/install browser has one' }, async () => {
  const root = join(here, 'package');
  await writeFile(
    join(root, 'try.html'),
    page_of(`<script type="module">${program('./index.js')}</script>`),
  );
  assert.equal(await sent_by(root, 'try.html'), JSON.stringify(expected));
});

test('esbuild bundles for a browser', { skip: esbuild === null && 'there is no esbuild; scripts/install node has it' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-'));
  const result = await esbuild.build({
    stdin: { contents: program('parlance'), resolveDir: here },
    bundle: true, format: 'esm', platform: 'browser', minify: true,
    outfile: join(folder, 'bundle.js'), metafile: true, logLevel: 'silent',
  });
  assert.deepEqual(result.warnings, []);
  const inputs = Object.keys(result.metafile.inputs);
  assert.ok(!inputs.some((name) => name.includes('.node.js')), 'no file of Node.js');
  const bundle = await readFile(join(folder, 'bundle.js'), 'utf8');
  assert.match(bundle, /new URL\("parlance\.wasm",import\.meta\.url\)/);
  // esbuild copies no file that a URL names.
  const module = await readFile(join(here, 'package/parlance.wasm'));
  await writeFile(join(folder, 'parlance.wasm'), module);
  await writeFile(
    join(folder, 'try.html'),
    page_of('<script type="module" src="bundle.js"></script>'),
  );
  if (browser) {
    assert.equal(await sent_by(folder, 'try.html'), JSON.stringify(expected));
  }
});

test('esbuild bundles for Node.js', { skip: esbuild === null && 'there is no esbuild; scripts/install node has it' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-'));
  await esbuild.build({
    stdin: { contents: program('parlance'), resolveDir: here },
    bundle: true, format: 'esm', platform: 'node', outfile: join(folder, 'bundle.mjs'), logLevel: 'silent',
  });
  await writeFile(join(folder, 'parlance.wasm'), await readFile(join(here, 'package/parlance.wasm')));
  const out = execFileSync(process.execPath, [join(folder, 'bundle.mjs')]);
  assert.deepEqual(JSON.parse(out), expected);
});

test('Deno runs it', { skip: !deno && 'there is no Deno; scripts/install node has it' }, async () => {
  const file = join(here, 'try_deno.mjs');
  await writeFile(file, program('./package/index.js'));
  const out = execFileSync(deno, ['run', '--no-remote', '--no-lock', '--allow-read', file], {
    env: { ...process.env, DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(tmpdir(), 'parlance-deno') },
  });
  assert.deepEqual(JSON.parse(out), expected);
});

test('`using` frees', { skip: Number(process.versions.node.split('.')[0]) < 24 && 'Node.js has it from 24 on' }, async () => {
  const { init } = await import('parlance');
  await init();
  const { freed } = await import('./using.mjs');
  assert.throws(() => freed.feed('x'), { code: 'freed' });
});
