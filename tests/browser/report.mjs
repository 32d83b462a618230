// feedbench report in a browser: pages of a normal run, a failed run, a search for max and a set of runs.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openRig, outDir, run } from './rig.mjs';

const work = path.join(outDir, 'report-work');
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

// Real results of the binary, in virtual time: the same every time, and made in a moment.
const seeded = ['--seed', '7', '--virtual-time'];
const resultOf = folder => {
  const file = readdirSync(folder, { recursive: true }).find(name => path.basename(name) === 'result.json');
  if (!file) throw new Error(`no result.json below ${folder}`);
  return path.join(folder, path.dirname(file));
};
function measured(name, expected, ...args) {
  const { code, said } = run(...args, '--results-dir', path.join(work, name), ...seeded);
  if (code !== expected) throw new Error(`${args.join(' ')}: exit code ${code}, expected ${expected}\n${said}`);
  return resultOf(path.join(work, name));
}
const given = ['-p', 'workflow.checkpoint=False', '-p'];
const normal = measured('normal', 0, 'run', 'unet3d_mini', '--accelerators', '64', '--data-dir', 'model:bandwidth=6GB,latency=2ms', ...given,
  'train.epochs=5', '-p', 'dataset.num_files_train=7168', '-p', 'train.computation_time=0.15');
const failed = measured('failed', 3, 'run', 'unet3d_mini', '--data-dir', 'fault:error=EIO@10;inner=model:bandwidth=1GB', ...given, 'train.epochs=5');
const max = measured('max', 0, 'max', 'unet3d_mini', '--data-dir', 'model:bandwidth=2GB,latency=1ms', '--limit', '16', ...given, 'train.epochs=2',
  '-p', 'train.computation_time=0.05');
const checkpoints = measured('checkpoints', 0, 'run', 'llama3_8b', '-p', 'checkpoint.checkpoint_folder=model:bandwidth=20GB,latency=1ms');
const load = folder => JSON.parse(readFileSync(path.join(folder, 'result.json'), 'utf8'));

const rig = await openRig('report');
const { check, equal } = rig;
const byId = (page, id) => page.locator(`[id="${id}"]`);

// A page that the run wrote by itself.
{
  const file = path.join(normal, 'report.html');
  const result = load(normal);
  const size = statSync(file).size;
  const page = await rig.open(file);
  console.log(`report.html of 5 epochs, 64 accelerators: ${(size / 1e6).toFixed(3)} MB, opened in ${page.openMs.toFixed(0)} ms`);
  check(size < 2e6, `the page has ${size} bytes, expected less than 2 MB`);
  check(page.openMs < 10000, `the page took ${page.openMs} ms to open`); // a bound for hangs; the figure is printed
  equal(await page.locator('.verdict strong').textContent(), result.verdict, 'verdict');
  const evidence = result.findings.find(one => one.verdict === result.verdict).evidence;
  check((await page.locator('.verdict').textContent()).includes(evidence), 'the evidence of the verdict is not in words');
  check((await page.locator('.brand').textContent()).includes('not verified by MLCommons'), 'no word about MLCommons');
  check((await page.locator('footer').textContent()).includes('Leon Sorokin'), 'the licence of uPlot is not in the page');
  equal(await rig.series(page, 'au'), [['AU (%)', 5], ['effective utilization (%)', 5]], 'plot of AU');
  equal((await rig.series(page, 'throughput'))[0], ['delivered (MB/s)', result.slices.length], 'plot of throughput');
  equal((await rig.series(page, 'latency')).map(one => one[0]), ['reading a sample (%)', 'first byte of a sample (%)', 'waiting for a batch (%)'],
    'plot of latencies');
  for (const id of ['au', 'throughput', 'latency']) check(await rig.painted(page, id) > 500, `the plot ${id} is empty`);
  // What is drawn is what was measured.
  const drawn = await page.evaluate(() => [...window.feedbench.plots.get('au').data[1]]);
  const au = result.epochs.map(e => e.metrics.find(m => m.key === 'au_percentage').value);
  check(drawn.every((y, i) => Math.abs(y - au[i]) < 1e-3), `AU drawn ${drawn}, measured ${au}`);
  const ends = await page.evaluate(() => window.feedbench.specs.get('latency').series.map(s => s.y.at(-1)));
  check(ends.every(y => y === 100), `distributions end at ${ends}, expected 100`);
  const shares = await page.locator('.stack .row').first().locator('.bar > span').evaluateAll(parts => parts.map(one => parseFloat(one.style.width)));
  check(Math.abs(shares.reduce((a, b) => a + b, 0) - 100) < 0.1, `the parts of the whole run add up to ${shares}`);
  equal(await page.locator('#host-table tbody tr').count(), result.hosts.length, 'rows of hosts');
  equal(await page.locator('#config-table tbody tr, #default-table tbody tr').count(), result.config.length, 'rows of configuration');
  equal(await page.locator('#epoch-table tbody tr').count(), 5, 'rows of epochs');
  // Not known is said with its reason, never 0.
  const unknown = result.metrics.filter(m => m.value === null);
  check(unknown.length > 0, 'the run knows everything: nothing is tested');
  equal((await page.locator('#unknown-table tbody th').allTextContents()).filter((key, i) => i < unknown.length), unknown.map(m => m.key), 'what is not known');
  // Sort and filter.
  const first = () => page.locator('#figure-table tbody tr').first().locator('th').textContent();
  await page.locator('#figures summary').click();
  await page.locator('#figure-table thead th').first().click();
  equal(await first(), result.metrics.map(m => m.key).sort((a, b) => a.localeCompare(b, 'en'))[0], 'first key when sorted');
  await page.locator('#figures .filter input').fill('sustained min');
  equal(await page.locator('#figure-table tbody tr:visible').count(), 1, 'rows after filtering');
  await rig.screenshot(page, 'normal');
  await page.context().close();
}

// The same on a phone, in the dark, on paper, and without a script.
{
  const file = path.join(normal, 'report.html');
  const phone = await rig.open(file, { width: 390, height: 844 });
  check(await rig.painted(phone, 'au') > 500, 'no plot on a phone');
  await rig.screenshot(phone, 'phone');
  await phone.context().close();
  const dark = await rig.open(file, { dark: true });
  const ground = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  equal(await ground(dark), 'rgb(18, 22, 29)', 'ground of a dark page');
  await rig.screenshot(dark, 'dark');
  await dark.locator('.brand button').click();
  equal(await ground(dark), 'rgb(255, 255, 255)', 'ground after the switch to light');
  await dark.locator('.brand button').click();
  await dark.evaluate(() => addEventListener('beforeprint', () => {
    const light = getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)';
    window.printed = { light, widths: [...window.feedbench.plots.values()].map(p => p.width), open: document.querySelectorAll('main details:not([open])').length === 0 };
  }));
  const pdf = await dark.pdf({ path: path.join(outDir, 'report-print.pdf'), format: 'A4' });
  equal(await dark.evaluate(() => window.printed), { light: true, widths: [660, 660, 660], open: true }, 'the page when it is printed');
  equal(await ground(dark), 'rgb(18, 22, 29)', 'ground after a print');
  check(pdf.length > 20000, `the print has ${pdf.length} bytes`);
  await dark.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await dark.setViewportSize({ width: 680, height: 900 });
  equal(await ground(dark), 'rgb(255, 255, 255)', 'ground of a print');
  equal(await dark.locator('.brand button').isVisible(), false, 'buttons in print');
  await rig.screenshot(dark, 'print');
  await dark.context().close();
  const plain = await rig.open(file, { javaScript: false });
  check(await plain.locator('#epoch-table').isVisible() && await plain.locator('.tiles').isVisible(), 'without a script there is no text');
  await plain.context().close();
}

// A run that failed: the error is the first thing that one reads.
{
  const result = load(failed);
  const page = await rig.open(path.join(failed, 'report.html'));
  equal(await page.locator('.verdict strong').textContent(), 'failed', 'word of a failed run');
  const text = await page.locator('.verdict').textContent();
  check(text.includes('EIO') && text.includes(result.errors[0].path), `the error is not named: ${text}`);
  check(text.includes('Not valid'), 'a failed run is not called invalid');
  check(!(await page.locator('.tiles').textContent()).includes('NaN'), 'a figure is not a number');
  await rig.screenshot(page, 'failed');
  await page.context().close();
}

// How many accelerators it feeds.
{
  const result = load(max);
  const page = await rig.open(path.join(max, 'report.html'));
  const counts = new Set(result.scaling.map(p => p.accelerator_count));
  const known = new Set(result.scaling.filter(p => p.au_percentage !== null).map(p => p.accelerator_count));
  equal(await rig.series(page, 'scaling'), [['AU (%)', known.size], ['delivered (MB/s)', counts.size]], 'plot of scaling');
  const most = result.metrics.find(m => m.key === 'max_accelerator_count').value;
  equal(await page.locator('.tile .value').first().textContent(), `${most} accelerators`, 'accelerators at most');
  check((await page.locator('#max').textContent()).includes(result.scaling_stop.slice(0, 40)), 'what stopped it is not said');
  await rig.screenshot(page, 'max');
  await page.context().close();
}

// Checkpoints alone come first on their page.
{
  const result = load(checkpoints);
  const page = await rig.open(path.join(checkpoints, 'report.html'));
  const count = kind => result.checkpoints.filter(c => c.kind === kind).length;
  check(count('write') > 0 && count('read') > 0, 'no checkpoint was written and read: nothing is tested');
  equal(await rig.series(page, 'checkpoint-rate'), [['written (GiB/s)', count('write')], ['read (GiB/s)', count('read')]], 'plot of checkpoints');
  equal(await page.locator('#checkpoint-table tbody tr').count(), result.checkpoints.length, 'rows of checkpoints');
  equal(await page.locator('section').first().getAttribute('id'), 'checkpoints', 'first section');
  equal(await page.locator('h1').textContent(), 'llama3_8b: 1 rank on 1 host', 'title');
  await page.context().close();
}

// A set: overview, list, links; what could not be used is named. A text that wants to be markup stays text.
{
  const evil = path.join(work, 'evil');
  mkdirSync(evil);
  const result = load(max);
  result.workload = '</script><script>document.title="pwned"</script><img src=x onerror=alert(1)>';
  result.findings[0].evidence = 'line\u2028separator "quoted" & <b>bold</b>';
  result.hosts[0].name = "h'><svg onload=alert(1)>";
  writeFileSync(path.join(evil, 'result.json'), JSON.stringify(result));
  mkdirSync(path.join(work, 'torn'));
  writeFileSync(path.join(work, 'torn', 'result.json'), readFileSync(path.join(max, 'result.json'), 'utf8').slice(0, 5000));
  const file = path.join(outDir, 'report-set.html');
  const { code, said } = run('report', work, '-o', file);
  equal(code, 0, 'exit code of a set');
  check(/not used: .*torn\/result\.json: not valid JSON/.test(said), `the torn file is not named: ${said}`);
  const page = await rig.open(file);
  equal(await page.locator('#overview-table tbody tr').count(), 5, 'rows of the overview');
  equal(await rig.series(page, 'overview-au'), [['AU (%)', 3]], 'AU of runs');
  equal(await page.locator('#unused-table tbody tr').count(), 1, 'files that were not used');
  equal(await page.title(), '5 runs', 'title');
  equal(await page.locator('.part:visible').count(), 1, 'parts that are shown');
  await page.locator('.chooser select').selectOption('run-3');
  equal(await page.locator('.part:visible').getAttribute('id'), 'run-3', 'part that was chosen');
  await page.locator('#overview-table tbody a').nth(3).click();
  equal(await page.locator('.part:visible').getAttribute('id'), 'run-4', 'part after a link');
  check(await rig.painted(page, 'run-4-au') > 500, 'the plot of a part that was hidden is empty');
  const heading = page.locator('#overview-table thead th', { hasText: 'AU' });
  await heading.first().click();
  const sorted = await page.locator('#overview-table tbody tr').evaluateAll(rows => rows.map(row => row.cells[7].dataset.value).map(v => (v === undefined ? null : Number(v))));
  const values = sorted.filter(v => v !== null);
  check(values.every((v, i) => i === 0 || v <= values[i - 1]) && sorted.at(-1) === null, `sorted by AU: ${sorted}`);
  await page.locator('#overview .filter input').fill('onerror');
  equal(await page.locator('#overview-table tbody tr:visible').count(), 1, 'rows with onerror');
  equal(await page.locator('img, svg').count(), 0, 'markup that was smuggled in');
  await page.locator('#overview .filter input').fill('');
  await rig.screenshot(page, 'set');
  await page.context().close();
  const phone = await rig.open(file, { width: 390, height: 844 });
  await rig.screenshot(phone, 'set-phone');
  await phone.context().close();
}
await rig.close();
