// The modules, and the package's files, beside the interface of the library.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { functions } from './package/lib/abi.js';
import { wasi } from './package/lib/wasi.js';
import { init } from 'parlance';

const module_of = async (name) =>
  new WebAssembly.Module(
    await readFile(new URL(import.meta.resolve(`parlance/${name}.wasm`))),
  );
const names = (list) => list.map(({ name }) => name).sort();
const all = functions.map((name) => `parlance_${name}`);

test('parlance.wasm exports the functions of the header, and nothing else', async () => {
  const exported = names(WebAssembly.Module.exports(await module_of('parlance')));
  const own = ['__indirect_function_table', '_initialize', 'memory'];
  assert.deepEqual(exported, [...own, ...all].sort());
});

test('parser.wasm exports some of them', async () => {
  const exported = names(WebAssembly.Module.exports(await module_of('parser')));
  const own = exported.filter((name) => !all.includes(name));
  assert.deepEqual(own, ['_initialize', 'memory']);
  for (const name of ['parlance_parser_feed', 'parlance_chat_feed', 'parlance_parse']) {
    assert.ok(exported.includes(name), name);
  }
});

test('the modules import functions of WASI that the package has', async () => {
  const given = Object.keys(wasi({}));
  const needed = new Set();
  for (const name of ['parlance', 'parser']) {
    for (const item of WebAssembly.Module.imports(await module_of(name))) {
      assert.equal(item.module, 'wasi_snapshot_preview1');
      assert.ok(given.includes(item.name), item.name);
      needed.add(item.name);
    }
  }
  assert.deepEqual([...needed].sort(), given.sort(), 'and no others');
});

// What the package does not call, and why.
const kNotCalled = {
  abi_minor: 'an addition to the interface needs no check',
  vocabulary_from_path: 'a module has no files: read them, and use fromBytes()',
  vocabulary_save: 'a module has no files: write toBytes()',
};

test('every function of the header is called, or it is said why not', async () => {
  const lib = new URL('./package/lib/', import.meta.url);
  let source = '';
  for (const file of await readdir(lib)) {
    if (file !== 'abi.js') source += await readFile(new URL(file, lib), 'utf8');
  }
  for (const name of functions) {
    const kind = name.replace(/_(free|ref)$/, '');
    const called =
      source.includes(`'parlance_${name}'`) ||
      // Handles are freed by their kind.
      (name.endsWith('_free') && source.includes(`kind = '${kind}'`)) ||
      // Objects are garbage of the host: no second reference is needed.
      name.endsWith('_ref') ||
      /^compile_(tag|grammar)$/.test(name);
    assert.notEqual(called, name in kNotCalled, name);
  }
});

test('init() is needed before anything else, and once', async () => {
  const { Format, version } = await import('parlance');
  assert.throws(() => new Format('qwen3'), { code: 'not_ready' });
  await Promise.all([init(), init()]);
  assert.match(version(), /^\d+\.\d+\.\d+$/);
});
