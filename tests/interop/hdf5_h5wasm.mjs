// h5wasm (the library compiled to WebAssembly) reads our HDF5 files. Usage: hdf5_h5wasm.mjs HDF5_FILES FOLDER
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import h5wasm from "h5wasm/node";

const [tool, folder] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
execFileSync(tool, ["write", folder]);
await h5wasm.ready;

const contentByte = (offset) => (Math.imul(offset, 2654435761) >>> 13) & 0xff;

// Where element `index` of a dataset lies among the payload: chunks one after another in row-major order.
function payloadElement(index, shape, chunks) {
  if (!chunks) return index;
  const at = shape.map(() => 0);
  for (let i = shape.length - 1; i >= 0; index = Math.floor(index / shape[i--])) at[i] = index % shape[i];
  let chunk = 0, within = 0, elements = 1;
  for (let i = 0; i < shape.length; ++i) {
    chunk = chunk * Math.ceil(shape[i] / chunks[i]) + Math.floor(at[i] / chunks[i]);
    within = within * chunks[i] + (at[i] % chunks[i]);
    elements *= chunks[i];
  }
  return chunk * elements + within;
}

function check(name, shape, { elementBytes = 1, datasets = 1, chunks = null } = {}) {
  const file = new h5wasm.File(`${folder}/${name}.hdf5`, "r");
  const labels = file.get("labels");
  assert.deepEqual(labels.shape, [shape[0]]);
  assert.ok(labels.value.every((label) => label === 0n));
  const units = chunks ? shape.map((n, i) => Math.ceil(n / chunks[i]) * chunks[i]) : shape;
  const datasetBytes = units.reduce((a, b) => a * b, elementBytes);
  for (let d = 0; d < datasets; ++d) {
    const data = file.get(`records_${d}`);
    assert.deepEqual(data.shape, shape, name);
    const value = data.value, bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    assert.equal(bytes.length, shape.reduce((a, b) => a * b, elementBytes), name);
    let wrong = 0;
    for (let i = 0; i < bytes.length; ++i) {
      const element = payloadElement(Math.floor(i / elementBytes), shape, chunks);
      if (bytes[i] !== contentByte(d * datasetBytes + element * elementBytes + (i % elementBytes))) ++wrong;
    }
    assert.equal(wrong, 0, `${name}: records_${d} has other content`);
  }
  file.close();
}

check("contiguous", [1, 120, 75]);
check("samples", [9, 120, 75]);
check("datasets", [3, 120, 75], { datasets: 5 });
check("wide", [2, 120, 75], { elementBytes: 4 });
check("chunked", [4, 120, 75], { chunks: [2, 50, 40] });
check("unlimited", [4, 120, 75], { chunks: [1, 50, 40] });
check("unlimited_all", [4, 120, 75], { chunks: [1, 50, 40] });
check("gzip", [4, 120, 75], { chunks: [1, 50, 40] });

const steps = new h5wasm.File(`${folder}/steps.h5`, "r");
assert.deepEqual(steps.get("steps").shape, [10000]);
assert.equal(steps.attrs["run_id"].value, "20260101_120000");
assert.equal(steps.attrs["schema_version"].value, 1);
steps.close();
console.log("h5wasm reads our files");
