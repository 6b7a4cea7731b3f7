// The types beside what they describe.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const typescript = await import('typescript').then((m) => m.default, () => null);
const skip = typescript === null && 'there is no TypeScript; scripts/install node has it';

// Class names to the names of their members, and the names of other values.
async function declared(file, classes = new Map(), values = new Set()) {
  const text = await readFile(new URL(`./package/${file}`, import.meta.url), 'utf8');
  const source = typescript.createSourceFile(file, text, typescript.ScriptTarget.Latest);
  for (const node of source.statements) {
    if (typescript.isClassDeclaration(node)) {
      const members = classes.get(node.name.text) ?? new Set();
      for (const { name } of node.members) {
        if (name !== undefined) members.add(name.text ?? 'dispose');
      }
      classes.set(node.name.text, members);
    } else if (typescript.isFunctionDeclaration(node)) {
      values.add(node.name.text);
    } else if (typescript.isVariableStatement(node)) {
      for (const { name } of node.declarationList.declarations) values.add(name.text);
    }
  }
  return { classes, values };
}

// What an object of a class has, and the class itself.
function members_of(made) {
  const own = Object.getOwnPropertyNames(made.prototype);
  const fixed = Object.getOwnPropertyNames(made);
  const internal = ['constructor', 'length', 'name', 'prototype', 'kind'];
  const inherited = made.prototype instanceof Error ? [] : ['free', 'dispose'];
  return [...own, ...fixed, ...inherited].filter((name) => !internal.includes(name));
}

for (const [entry, files] of [['parlance', ['parser.d.ts', 'index.d.ts']], ['parlance/parser', ['parser.d.ts']]]) {
  test(`${entry} has what its types declare`, { skip }, async () => {
    const { classes, values } = { classes: new Map(), values: new Set() };
    for (const file of files) await declared(file, classes, values);
    const package_ = await import(entry);
    assert.deepEqual(Object.keys(package_).sort(), [...classes.keys(), ...values].sort());
    for (const [name, members] of classes) {
      const found = members_of(package_[name]);
      // Fields of errors are of each object.
      const expected = name === 'ParlanceError' ? [] : [...members];
      assert.deepEqual(found.sort(), expected.sort(), name);
    }
  });
}

test('a program fits the types, and a wrong one does not', { skip }, () => {
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  try {
    execFileSync(process.execPath, [tsc, '--project', '.'], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
  } catch (error) {
    assert.fail(error.stdout.toString());
  }
});
