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


def code(instructions):
    body = b"\0" + instructions + b"\x0b"
    return {10: b"\x01" + bytes([len(body)]) + body}


# What would be wrong in silence, as a section of a module of one function.
UNKNOWN = {
    "opcode 0x12": code(b"\x12\0"),  # return_call
    "opcode 0x13": code(b"\x41\0\x13\x01\0"),
    "opcode 0x14": code(b"\xd0\x01\x14\x01"),  # call_ref
    "opcode 0xd2": {6: b"\x01\x70\0\xd2\0\x0b"},  # ref.func
    "opcode 0xfb": code(b"\x41\0\xfb\x1c\x1a"),  # ref.i31
    "opcode 0xfc 0x13": code(b"\xfc\x13"),
    "opcode 0xfd 0x114": code(b"\xfd\x94\x02"),
    "opcode 0xfe": code(b"\xfe\x03\0"),  # atomic.fence
    "a function that runs at the start": {8: b"\0"},
    "several memories": {5: b"\x02\0\x01\0\x01"},
    "several tags": {13: b"\x02\0\0\0\0"},
    "a tag of something else": {1: b"\x02\x60\x01\x7e\0\x60\0\0"},
    "a tag is exported": {7: b"\x01\x01e\x04\0"},
    "something else than a function": {2: b"\x01\x01m\x01g\x03\x7f\0"},
    "elements of another kind": {9: b"\x01\x01\0\x01\0"},
}


def module_with(sections):
    all_of_it = {1: b"\x02\x60\x01\x7f\0\x60\0\0", 3: b"\x01\x01", 5: b"\x01\0\x01",
                 13: b"\x01\0\0", 6: b"\0", 7: b"\0", **code(b""), **sections}  # fmt: skip
    order = [1, 2, 3, 5, 13, 6, 7, 8, 9, 10]
    return b"\0asm\x01\0\0\0" + b"".join(
        bytes([kind, len(all_of_it[kind])]) + all_of_it[kind]
        for kind in order
        if kind in all_of_it
    )


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_not_known_is_an_error(what):
    import wasm_exceptions

    wasm_exceptions.to_returns(module_with({}))
    with pytest.raises(wasm_exceptions.Unknown, match=what):
        wasm_exceptions.to_returns(module_with(UNKNOWN[what]))
