// hyparquet reads our parquet files, and we read what hyparquet-writer writes. Usage: formats_parquet.mjs INTEROP_FORMAT_FILES FOLDER
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { parquetMetadata, parquetRead } from "hyparquet";
import { ByteWriter, parquetWrite } from "hyparquet-writer";

const [tool, folder] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const run = (...args) => execFileSync(tool, args.map(String), { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const asBuffer = (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);

// How a value of each dtype of one value a row must come out of a foreign reader.
const halfFloat = (bits) => {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
};
const scalars = {
  float32: (v, at) => v.getFloat32(at, true), list: (v, at) => v.getFloat32(at, true), float64: (v, at) => v.getFloat64(at, true),
  int32: (v, at) => v.getInt32(at, true), uint32: (v, at) => v.getUint32(at, true),
  int64: (v, at) => v.getBigInt64(at, true), uint64: (v, at) => v.getBigUint64(at, true),
  float16: (v, at) => halfFloat(v.getUint16(at, true)),
};
const widths = { int8: 1, uint8: 1, bool: 1, binary: 1, int16: 2, uint16: 2, float16: 2, int32: 4, uint32: 4, float32: 4, list: 4, int64: 8, uint64: 8, float64: 8 };

async function readOurs(columns, rows, rowsInGroup) {
  const file = `${folder}/ours.parquet`;
  const payloadCrc = Number(run("table", file, columns.map((c) => c.join(":")).join(","), rows, rowsInGroup));
  const bytes = readFileSync(file), payload = readFileSync(`${file}.payload`);
  assert.equal(crc32(payload), payloadCrc);
  const metadata = parquetMetadata(asBuffer(bytes));
  assert.equal(Number(metadata.num_rows), rows);
  assert.equal(metadata.row_groups.length, Math.ceil(rows / rowsInGroup));
  for (const group of metadata.row_groups)
    for (const { meta_data } of group.columns) {
      assert.equal(meta_data.codec, "UNCOMPRESSED");
      assert.deepEqual(meta_data.encodings, ["PLAIN"]);
    }
  // Payload lies row group by row group, column by column.
  const view = new DataView(asBuffer(payload));
  const starts = new Map(); // column name -> [[first row, offset]]
  for (let row = 0, at = 0; row < rows; row += rowsInGroup)
    for (const [name, dtype, size] of columns) {
      if (!starts.has(name)) starts.set(name, []);
      starts.get(name).push([row, at]);
      at += Math.min(rowsInGroup, rows - row) * widths[dtype] * size;
    }
  const seen = new Map(columns.map(([name]) => [name, 0]));
  await parquetRead({
    file: asBuffer(bytes),
    onChunk({ columnName, columnData, rowStart }) {
      const [, dtype, size] = columns.find(([name]) => name === columnName);
      const width = widths[dtype] * size;
      for (let i = 0; i < columnData.length; ++i) {
        const row = rowStart + i;
        const [first, offset] = starts.get(columnName).findLast(([start]) => start <= row);
        const at = offset + (row - first) * width;
        const expected = size === 1 && scalars[dtype] ? scalars[dtype](view, at) : payload.subarray(at, at + width);
        if (expected instanceof Uint8Array) assert.ok(expected.equals(columnData[i]), `${columnName} row ${row}`);
        else assert.ok(Object.is(columnData[i], expected), `${columnName} row ${row}: ${columnData[i]}, expected ${expected}`);
      }
      seen.set(columnName, seen.get(columnName) + columnData.length);
    },
  });
  for (const [name, count] of seen) assert.equal(count, rows, name);
  // And ours reads it back, by samples and as a stream.
  const said = parse(run("read", "parquet", file, rows));
  assert.equal(said.crc, payloadCrc);
  assert.equal(said.stream_crc, payloadCrc);
  assert.equal(said.stream_samples, rows);
  return bytes;
}
const parse = (text) =>
  Object.fromEntries(text.trim().split("\n").map((line) => { const [key, ...rest] = line.split(" "); return [key, key === "dims" ? rest.map(Number) : Number(rest[0])]; }));

const every = Object.keys(widths).map((dtype, i) => [`c${i}_${dtype}`, dtype, 1]);
await readOurs(every, 1000, 300);
await readOurs([["one", "float32", 1]], 1, 1024);
await readOurs([["label", "float32", 1], ["vector", "float16", 64], ["blob", "binary", 1000], ["features", "list", 26]], 2500, 1024);
await readOurs([["wide", "binary", 700000]], 3, 2); // a page a row
await readOurs(Array.from({ length: 200 }, (_, i) => [`feature_${String(i).padStart(3, "0")}`, ["float32", "int8", "float64"][i % 3], 1]), 500, 128);
// What interop_format_files calls a sample of dims: one column of its bytes.
run("write", "parquet", `${folder}/plain.parquet`, "30,40", 7);
const plain = parquetMetadata(asBuffer(readFileSync(`${folder}/plain.parquet`)));
assert.deepEqual(plain.schema.map((e) => [e.name, e.type, e.type_length, e.repetition_type]).slice(1), [["data", "FIXED_LEN_BYTE_ARRAY", 1200, "REQUIRED"]]);

// Theirs: plain columns of fixed width come back byte for byte; of others the ranges are read and every page is looked at.
const rows = 5000;
const numbers = Int32Array.from({ length: rows }, (_, i) => Math.imul(i, 2654435761));
const doubles = Float64Array.from({ length: rows }, (_, i) => Math.sin(i));
function theirs(name, columnData, options = {}) {
  const writer = new ByteWriter();
  parquetWrite({ writer, columnData, ...options });
  const file = `${folder}/${name}.parquet`;
  writeFileSync(file, new Uint8Array(writer.getBuffer()));
  return file;
}
const columns = [
  { name: "n", data: numbers, type: "INT32", nullable: false, encoding: "PLAIN" },
  { name: "d", data: doubles, type: "DOUBLE", nullable: false, encoding: "PLAIN" },
];
{
  const file = theirs("plain_theirs", columns, { codec: "UNCOMPRESSED", rowGroupSize: 2000, pageSize: 4096 });
  const said = parse(run("read", "parquet", file, 1));
  const parts = [];
  for (let row = 0; row < rows; row += 2000)
    for (const data of [numbers, doubles]) {
      const part = data.subarray(row, Math.min(rows, row + 2000));
      parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    }
  assert.deepEqual(said.dims, [12]);
  assert.equal(said.samples, rows);
  assert.equal(said.crc, crc32(Buffer.concat(parts)));
  assert.equal(said.stream_crc, said.crc);
}
const words = Array.from({ length: rows }, (_, i) => `word ${i % 100}`);
for (const [name, data, options] of [
  ["snappy", [...columns, { name: "w", data: words, type: "STRING" }], { codec: "SNAPPY", rowGroupSize: 1500 }],
  ["dictionary", [{ name: "w", data: words, type: "STRING" }, { name: "k", data: numbers.map((n) => n % 7), type: "INT32" }], { codec: "UNCOMPRESSED" }],
  ["nulls", [{ name: "w", data: words.map((w, i) => (i % 3 ? w : null)), type: "STRING" }], {}],
  ["nested", [{ name: "l", data: words.map((w, i) => Array.from({ length: i % 4 }, () => w)) }, ...columns], { rowGroupSize: 999 }],
]) {
  const file = theirs(name, data, options);
  const said = parse(run("read", "parquet", file, 1));
  assert.deepEqual(said.dims, [], name); // rows of no fixed size
  assert.equal(said.samples, rows, name);
  assert.equal(said.stream_samples, rows, name);
  // Cut and damaged, they are refused with a sentence.
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.subarray(0, bytes.length - 3));
  const cut = spawnSync(tool, ["read", "parquet", file, "1"], { encoding: "utf8" });
  assert.equal(cut.status, 3, name);
  assert.match(cut.stderr, /does not end with PAR1/);
}
console.log("hyparquet reads ours, we read hyparquet-writer's");
