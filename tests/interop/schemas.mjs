// Every JSON Schema of ours by a foreign validator (ajv, npm, pinned): what the tool really writes must pass, and every
// damage to it must not - a schema that accepts everything would pass in silence.
//
// usage: schemas.mjs FEEDBENCH WRITE_SAMPLE_RESULTS SOURCE_DIR FOLDER
// To add a schema: an entry in the table below. make() writes samples by running the tool and gives their files (.json, or
// .jsonl with a document a line); damage: further changes that must be refused, beside those that are tried on every
// document (a key gone, a key of another type, a key too many, at the top; open: what people may leave out or add is no
// damage).
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';

const [feedbench, writeSampleResults, source, folder] = process.argv.slice(2);
fs.rmSync(folder, { recursive: true, force: true });
fs.mkdirSync(folder, { recursive: true });

function call(program, args, codes = [0]) {
  const done = spawnSync(program, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28,
    env: { ...process.env, FEEDBENCH_CEILING_SECONDS: '0' } });
  if (!codes.includes(done.status))
    throw new Error(`${path.basename(program)} ${args.join(' ')} ended with ${done.status}: ${done.stderr}`);
  return done;
}
const at = (...names) => path.join(folder, ...names);
const jsonFiles = place => fs.readdirSync(place).filter(name => name.endsWith('.json')).sort().map(name => path.join(place, name));

// A whole run in virtual time: a second of CPU, and every kind of event.
let aRun;
function run() {
  if (aRun) return aRun;
  const done = call(feedbench, ['run', 'unet3d_mini', '-a', '2', '--data-dir', 'null:', '--virtual-time', '--results-dir', at('results'),
    '--progress', 'json', '-p', 'dataset.num_files_train=800', '-p', 'train.epochs=2', '-p', 'workflow.checkpoint=False'], [0, 4]);
  fs.writeFileSync(at('run.jsonl'), done.stderr);
  const found = call('find', [at('results'), '-name', 'result.json']).stdout.trim();
  aRun = { result: found, events: at('run.jsonl') };
  return aRun;
}

// Checkpoints of 8 ranks, written twice and read once.
let ownCheckpoints;
function checkpoints() {
  if (ownCheckpoints) return ownCheckpoints;
  const done = call(feedbench, ['run', 'llama3_8b', '-a', '8', '--virtual-time', '--results-dir', at('checkpoints'), '--progress', 'json',
    '-p', 'checkpoint.checkpoint_folder=model:bandwidth=10GB,latency=1ms', '-p', 'checkpoint.num_checkpoints_write=2', '-p', 'checkpoint.num_checkpoints_read=1']);
  fs.writeFileSync(at('checkpoints.jsonl'), done.stderr);
  ownCheckpoints = { result: call('find', [at('checkpoints'), '-name', 'result.json']).stdout.trim(), events: at('checkpoints.jsonl') };
  return ownCheckpoints;
}

// Simulated storage, several runs of it below a folder.
function simulated(name, bandwidth, seeds) {
  for (const seed of seeds)
    call(feedbench, ['simulate', 'unet3d_mini', '--storage', `model:bandwidth=${bandwidth}MB,latency=2ms,latency_p99=5ms`, '-a', '2', '--steps', '40',
      '--coarse', '--seed', String(seed), '--results-dir', at(name), '-p', 'workflow.checkpoint=False', '-p', 'train.epochs=1']);
  return at(name);
}

const table = [
  {
    schema: 'reporters/schema/result.schema.json',
    make() {
      call(writeSampleResults, [at('samples')]);
      return [run().result, checkpoints().result, ...jsonFiles(at('samples'))];
    },
    damage: {
      'a null metric without a reason': d => Object.assign(d.metrics[0], { value: null, reason: '' }),
      'an epoch without its blocks': d => delete d.epochs[0].blocks,
    },
  },
  {
    schema: 'reporters/schema/progress.schema.json',
    make() {
      const failed = call(feedbench, ['datagen', 'unet3d_mini', '--data-dir', '/proc/nowhere', '--progress', 'json'], [2, 3]);
      fs.writeFileSync(at('failed.jsonl'), failed.stderr.split('\n').filter(line => line.startsWith('{')).join('\n'));
      return [run().events, checkpoints().events, at('failed.jsonl')];
    },
    damage: {
      'an event nobody knows': d => { d.event = 'pause'; },
      'another version': d => { d.progress_schema_version = 2; },
    },
  },
  {
    schema: 'reporters/schema/gate.schema.json',
    make() { // every answer: pass, regressed, not comparable, not enough data
      const base = simulated('base', 1000, [1, 2, 3]), slow = simulated('slow', 800, [4, 5, 6]);
      call(feedbench, ['gate', '--baseline', base, '--candidate', base, '--json', at('gate-pass.json')]);
      call(feedbench, ['gate', '--baseline', base, '--candidate', slow, '--json', at('gate-regressed.json')], [1]);
      call(feedbench, ['gate', '--baseline', base, '--candidate', run().result, '--json', at('gate-other.json')], [4]);
      call(feedbench, ['gate', '--baseline', run().result, '--candidate', run().result, '--json', at('gate-few.json')], [4]);
      return ['gate-regressed.json', 'gate-pass.json', 'gate-other.json', 'gate-few.json'].map(name => at(name));
    },
    damage: {
      'an answer nobody knows': d => { d.answer = 'perhaps'; },
      'regressed, and exit code 0': d => { d.exit_code = 0; },
      'regressed by no metric': d => { for (const m of d.metrics) m.outcome = 'unchanged'; },
      'a metric without its interval': d => delete d.metrics[0].worse_fraction_low,
      'a side without runs': d => { d.candidate.runs = []; },
    },
  },
  {
    schema: 'reporters/schema/baseline.schema.json',
    make() {
      call(feedbench, ['baseline', 'add', at('base'), '--system', 'lab', '--baselines-dir', at('baselines')]);
      const made = call('find', [at('baselines'), '-name', '*.json']).stdout.trim();
      const committed = call('find', [path.join(source, 'results/baselines'), '-name', '*.json']).stdout.trim().split('\n');
      return [made, ...committed];
    },
    damage: {
      'no runs': d => { d.runs = []; },
      'a run without its command': d => delete d.runs[0].command_line,
      'a fact that is a number': d => { d.runs[0].identity.accelerator_count = 4; },
      'a system that is a path': d => { d.system = '../lab'; },
    },
  },
  {
    schema: 'reporters/schema/comparison.schema.json',
    make() {
      const data = path.join(source, 'tests/data/ingest');
      const inputs = [run().result, checkpoints().result, ...fs.readdirSync(data).filter(name => !name.endsWith('.md')).map(name => path.join(data, name))];
      call(feedbench, ['compare', ...inputs, '--format', 'json', '-o', at('comparison.json')]);
      return [at('comparison.json')];
    },
    damage: {
      'a group of a kind nobody knows': d => { d.groups[0].kind = 'inference'; },
      'a row without runs': d => { d.groups[0].rows[0].runs = []; },
      'a figure without value and reason': d => Object.assign(d.groups[0].rows[0].metrics[0], { value: null, reason: '' }),
      'a problem without what is right': d => delete d.problems[0].expected,
    },
  },
  {
    schema: 'reporters/schema/submission.schema.json',
    make() {
      const trees = ['v1_0', 'v2_0', 'v3_0'].map(name => [name, path.join(source, 'tests/data/ingest', name)]);
      return trees.map(([name, tree]) => {
        fs.writeFileSync(at(`check-${name}.json`), call(feedbench, ['submit', 'check', tree, '--format', 'json'], [0, 1]).stdout);
        return at(`check-${name}.json`);
      });
    },
    damage: { 'a finding without its rule': d => delete d.findings[0].rule, 'a finding without what is right': d => delete d.findings[0].expected },
  },
  {
    schema: 'reporters/schema/system.schema.json',
    open: true,
    make() {
      const example = fs.readFileSync(path.join(source, 'configs/systems/example.yaml'), 'utf8');
      fs.writeFileSync(at('filled.yaml'), example.replace(/^name: .*$/m, 'name: big'));
      call(feedbench, ['submit', 'init', at('tree'), '--edition', '1.0', '--division', 'closed', '--org', 'acme', '--system', 'big', '--description', at('filled.yaml')]);
      return jsonFiles(at('tree', 'closed', 'acme', 'systems'));
    },
  },
];

const documents = file => {
  const text = fs.readFileSync(file, 'utf8');
  const parts = file.endsWith('.jsonl') ? text.split('\n').filter(Boolean) : [text];
  return parts.map((part, i) => ({ name: `${path.relative(folder, file)}${parts.length > 1 ? ` line ${i + 1}` : ''}`, value: JSON.parse(part) }));
};
const problems = [];
let checked = 0, refused = 0;
for (const entry of table) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
  const schema = JSON.parse(fs.readFileSync(path.join(source, entry.schema), 'utf8'));
  const validate = ajv.compile(schema);
  const all = entry.make().flatMap(documents);
  if (!all.length) problems.push(`${entry.schema}: the tool wrote no sample`);
  const tried = new Set(); // an event of each kind, and one result, are enough to damage
  for (const { name, value } of all) {
    ++checked;
    if (!validate(value)) problems.push(`${name} against ${entry.schema}: ${ajv.errorsText(validate.errors)}`);
    const kind = value.event ?? '';
    if (tried.has(kind)) continue;
    tried.add(kind);
    const damage = { ...entry.damage };
    if (!entry.open) damage['a key too many'] = d => { d.nobody_knows_this = 1; };
    for (const key of entry.open ? schema.required : Object.keys(value)) {
      damage[`without ${key}`] = d => delete d[key];
      damage[`${key} of another type`] = d => { d[key] = { not: 'this' }; };
    }
    for (const [what, change] of Object.entries(damage)) {
      const copy = structuredClone(value);
      try { change(copy); } catch { continue; } // of another kind of event
      ++refused;
      if (validate(copy)) problems.push(`${entry.schema} accepts ${name} with ${what}`);
    }
  }
}
for (const problem of problems) console.log(problem);
console.log(`${table.length} schemas, ${checked} documents that pass, ${refused} damaged ones tried, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
