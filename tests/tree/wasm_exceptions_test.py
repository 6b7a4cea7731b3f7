"""scripts/wasm_exceptions.py: a small module, run by Node.js after its exceptions were
turned into returns."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

# run(x) is 1000 * cleanups + 100 * the local as it was when something was thrown + what
# was thrown, or the local + 7 if nothing was.  outside(x) lets the exception leave.
MODULE = """
(module
 (tag $e (param i32))
 (global $cleanups (mut i32) (i32.const 0))
 (func $leaf (param $x i32) (result i64)
  (if (local.get $x) (then (throw $e (local.get $x))))
  (i64.const 7))
 (func $middle (param $x i32) (result i64) (local $thrown exnref)
  (block $all (result exnref)
   (try_table (catch_all_ref $all)
    (return (i64.add (i64.const 0) (call $leaf (local.get $x)))))
   (unreachable))
  (local.set $thrown)
  (global.set $cleanups (i32.add (global.get $cleanups) (i32.const 1)))
  (throw_ref (local.get $thrown)))
 (func $through (param $x i32) (result i64)
  (i64.add (i64.const 0) (call $middle (local.get $x))))
 (func (export "run") (param $x i32) (result i32) (local $changed i32)
  (global.set $cleanups (i32.const 0))
  (local.set $changed (i32.const 1))
  (block $caught (result i32)
   (try_table (catch $e $caught)
    (block
     (local.set $changed (i32.const 2))
     (return (i32.add (local.get $changed)
      (i32.wrap_i64 (call $through (local.get $x)))))))
   (unreachable))
  (i32.add (i32.add (i32.mul (local.get $changed) (i32.const 100))
   (i32.mul (global.get $cleanups) (i32.const 1000)))))
 (func (export "inner") (param $x i32) (result i32)
  (block $outer (result i32)
   (try_table (catch $e $outer)
    (block $all
     (try_table (catch_all $all)
      (drop (call $through (local.get $x)))
      (return (i32.const 1))))
    (throw $e (i32.const 5)))
   (unreachable)))
 (func (export "outside") (param $x i32) (drop (call $through (local.get $x)))))
"""
PROGRAM = """
const bytes = require('fs').readFileSync(process.argv[1]);
const { run, inner, outside } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
const out = [run(0), run(3), run(0), inner(0), inner(1), inner(0)];
outside(0);
try { outside(1); out.push('returned'); } catch { out.push('trapped'); }
console.log(JSON.stringify(out));
"""


def test_exceptions_as_returns(tmp_path):
    import wasm_exceptions

    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    fetched = subprocess.run(
        [ROOT / "scripts" / "fetch", "binaryen"], capture_output=True, text=True
    )
    if fetched.returncode != 0:
        pytest.skip("scripts/fetch binaryen has no assembler")
    (tmp_path / "module.wat").write_text(MODULE)
    made = tmp_path / "module.wasm"
    subprocess.run(
        ["node", pathlib.Path(fetched.stdout.splitlines()[-1]) / "wasm-as"]
        + [tmp_path / "module.wat", "-o", made]
        + ["--enable-exception-handling", "--enable-reference-types"],
        check=True,
    )
    made.write_bytes(wasm_exceptions.to_returns(made.read_bytes()))
    done = subprocess.run(
        ["node", "-e", PROGRAM, made], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [9, 1203, 9, 1, 5, 1, "trapped"]
