// @roboflow/tfrecords reads our TFRecords, and we read what it writes. Usage: formats_tfrecords.mjs INTEROP_FORMAT_FILES FOLDER
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { crc32 } from "node:zlib";

const require = createRequire(import.meta.url);
const { TFRecordsBuilder, FeatureType } = require("@roboflow/tfrecords");
const { TFRecordsReader } = require("@roboflow/tfrecords/src/tensorFlowReader.js");

const [tool, folder] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const run = (...args) => execFileSync(tool, args.map(String), { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

// The reader stops at the first record whose checksums are wrong, with a line on the console: both are looked at.
function readRecords(bytes) {
  const said = [];
  const log = console.log;
  console.log = (line) => said.push(line);
  try {
    return { reader: new TFRecordsReader(bytes), said };
  } finally {
    console.log = log;
  }
}

for (const [d1, d2, samples] of [[3, 5, 1], [338, 338, 3], [100, 90, 40], [1, 1, 2]]) {
  const file = `${folder}/ours.tfrecord`;
  const payloadCrc = Number(run("write", "tfrecord", file, `${d1},${d2}`, samples));
  const bytes = readFileSync(file);
  const { reader, said } = readRecords(bytes);
  assert.deepEqual(said, []);
  assert.equal(reader.length, samples);
  let crc = 0;
  for (let i = 0; i < samples; ++i) {
    // Its getFeature() reaches into members that today's google-protobuf names differently; its messages work.
    const features = reader.imageMessages[i].getContext().getFeatureMap();
    assert.deepEqual([...features.keys()].sort(), ["image", "size"]);
    const images = features.get("image").getBytesList().getValueList_asU8();
    assert.equal(images.length, 1);
    assert.equal(images[0].length, d1 * d2);
    crc = crc32(images[0], crc);
    assert.deepEqual(features.get("size").getInt64List().getValueList(), [d1]);
  }
  assert.equal(crc, payloadCrc);
  // The index: offset and length of each record, up to the file's end.
  const index = readFileSync(`${file}.idx`, "utf8").trimEnd().split("\n").map((line) => line.split(" ").map(Number));
  assert.equal(index.length, samples);
  let end = 0;
  for (const [offset, length] of index) {
    assert.equal(offset, end);
    assert.equal(Number(bytes.readBigUInt64LE(offset)) + 16, length);
    end += length;
  }
  assert.equal(end, bytes.length);
  bytes[bytes.length - 8] ^= 1; // this reader does look at checksums
  assert.equal(readRecords(bytes).said.length, 1);
}

// Theirs: records of different sizes, and of one size; features in the order that the library chooses.
function writeTheirs(sizes) {
  const images = sizes.map((size, i) => Uint8Array.from({ length: size }, (_, j) => (i * 31 + j * 7) & 0xff));
  const records = images.map((image) => {
    const builder = new TFRecordsBuilder();
    builder.addFeature("size", FeatureType.Int64, image.length);
    builder.addFeature("name", FeatureType.String, "a file that somebody else wrote");
    builder.addFeature("image", FeatureType.Binary, image);
    return builder.build();
  });
  writeFileSync(`${folder}/theirs.tfrecord`, TFRecordsBuilder.buildTFRecords(records));
  return Buffer.concat(images);
}
for (const [sizes, dims] of [[[100, 5000, 1, 70000], ""], [[600, 600, 600], " 600"]]) {
  const content = writeTheirs(sizes);
  const said = run("read", "tfrecord", `${folder}/theirs.tfrecord`, 1);
  const rows = new Map(said.trimEnd().split("\n").map((line) => [line.split(" ")[0], line.slice(line.indexOf(" "))]));
  assert.equal(said.split("\n")[0], `dims${dims}`);
  assert.equal(Number(rows.get("samples")), sizes.length);
  assert.equal(Number(rows.get("stream_samples")), sizes.length);
  assert.equal(rows.get("crc"), rows.get("stream_crc"));
  assert.equal(Number(rows.get("crc")), crc32(content));
}
rmSync(folder, { recursive: true });
console.log("formats_tfrecords: @roboflow/tfrecords agrees");
