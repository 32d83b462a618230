// feedbench compare --format html in a browser: sorted, filtered, plotted; own data, and the published corpus where it is at hand.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { openRig, outDir, run, sourceDir } from './rig.mjs';

const work = path.join(outDir, 'compare-work');
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const rig = await openRig('compare');
const { check, equal } = rig;

// The page, and the same comparison as JSON: what the page must show.
function compared(name, ...inputs) {
  const file = path.join(work, `${name}.html`), json = path.join(work, `${name}.json`);
  for (const [format, out] of [['html', file], ['json', json]]) {
    const { code, said } = run('compare', ...inputs, '--format', format, '-o', out);
    if (code !== 0) throw new Error(`compare --format ${format}: exit code ${code}\n${said}`);
  }
  return { file, data: JSON.parse(readFileSync(json, 'utf8')) };
}
const figure = (row, key) => row.metrics.find(metric => metric.key === key)?.value ?? null;
const shownRows = page => page.locator('.group [id$="-table"] tbody tr:visible').count();

async function checkPage(name, page, data) {
  const rows = data.groups.flatMap(group => group.rows);
  equal(await page.locator('.group').count(), data.groups.length, `${name}: groups`);
  equal(await page.locator('#overview-table tbody tr').count(), data.groups.length, `${name}: rows of the overview`);
  equal(await page.locator('#problem-table tbody tr').count(), data.problems.length, `${name}: problems`);
  const status = page.locator('.group-filter [role=status]');
  equal(await status.textContent(), `${rows.length} results in ${data.groups.length} groups`, `${name}: count`);
  check((await page.locator('.brand').textContent()).includes('not verified by MLCommons'), `${name}: no word about MLCommons`);
  for (const [i, group] of data.groups.entries()) {
    const id = `group-${i + 1}`;
    const table = page.locator(`[id="${id}-table"]`);
    equal(await table.locator('tbody tr').count(), group.rows.length, `${name}: rows of ${id}`);
    // A superscript for each footnote, and its words below the table.
    const words = await page.locator(`[id="${id}"] .footnotes li`).allTextContents();
    for (const [r, row] of group.rows.entries()) {
      const numbers = (await table.locator('tbody tr').nth(r).locator('sup').allTextContents()).map(Number);
      equal(numbers.map(n => words[n - 1]), row.footnotes.map(note => note.evidence), `${name}: footnotes of ${id}, row ${r + 1}`);
    }
    // Plots: a point for each figure, a bar where there is one.
    const count = key => group.rows.filter(row => figure(row, key) !== null).length;
    const points = async plot => (await rig.series(page, `${id}-${plot}`) ?? []).reduce((sum, one) => sum + one[1], 0);
    if (group.kind === 'training') {
      equal(await points('rate'), count('MB_per_second'), `${name}: points of ${id}-rate`);
      equal(await points('au'), count('au_percentage'), `${name}: points of ${id}-au`);
      const scaled = count('scaling_per_accelerator_percentage');
      equal(await points('scaling'), scaled, `${name}: points of ${id}-scaling`);
      if (count('au_percentage')) check(await rig.painted(page, `${id}-au`) > 300, `${name}: the plot ${id}-au is empty`);
    } else {
      equal(await points('rate'), count('save_GiB_per_second') + count('load_GiB_per_second'), `${name}: points of ${id}-rate`);
    }
  }
}

// Trees of our own making: three editions, trainings and checkpoints, broken files.
{
  const data = path.join(sourceDir, 'tests/data/ingest');
  const own = compared('own', ...['v1_0', 'v2_0', 'v3_0', 'dlio'].map(name => path.join(data, name)));
  const page = await rig.open(own.file);
  await checkPage('own', page, own.data);
  const all = own.data.groups.reduce((sum, group) => sum + group.rows.length, 0);
  equal(await shownRows(page), all, 'own: rows shown at first');
  await page.locator('.group-filter select[name=submitter]').selectOption('Beta');
  const beta = own.data.groups.flatMap(g => g.rows).filter(r => r.submitter === 'Beta').length;
  equal(await shownRows(page), beta, 'own: rows of Beta');
  equal(await page.locator('.group:visible').count(), own.data.groups.filter(g => g.rows.some(r => r.submitter === 'Beta')).length, 'own: groups of Beta');
  await page.locator('.group-filter select[name=workload]').selectOption({ label: 'llama3-8b checkpoints' });
  equal(await shownRows(page), 1, 'own: checkpoints of Beta');
  await page.locator('.group-filter select[name=submitter]').selectOption('');
  equal(await shownRows(page), 2, 'own: checkpoints');
  await page.locator('.group-filter select[name=workload]').selectOption('');
  await page.locator('.group-filter select[name=accelerator]').selectOption('h100');
  equal(await shownRows(page), own.data.groups.filter(g => g.accelerator_model === 'h100').reduce((s, g) => s + g.rows.length, 0), 'own: rows of h100');
  await page.locator('.group-filter select[name=accelerator]').selectOption('');
  await page.locator('.group-filter input').fill('acme sys');
  equal(await shownRows(page), 1, 'own: rows with two words');
  await page.locator('.group-filter input').fill('nobody has this');
  equal(await page.locator('.group:visible').count(), 0, 'own: groups without a row');
  await page.locator('.group-filter input').fill('');
  check((await page.locator('#problems').textContent()).includes('a comma before ] or }'), 'own: the broken file is not explained');
  await page.locator('.group details summary').first().click();
  check(await page.locator('[id$="-runs"] tbody tr:visible').count() > 0, 'own: the runs are not listed');
  await rig.screenshot(page, 'own');
  await page.emulateMedia({ media: 'print' });
  equal(await page.locator('.group-filter').isVisible(), false, 'own: filters in print');
  check(await page.locator('#group-1-table').isVisible(), 'own: no table in print');
  await page.context().close();
  const plain = await rig.open(own.file, { javaScript: false });
  check(await plain.locator('#group-1-table').isVisible(), 'without a script there is no table');
  await plain.context().close();
  const phone = await rig.open(own.file, { width: 390, height: 844, dark: true });
  check(await rig.painted(phone, 'group-1-rate') > 300, 'no plot on a phone');
  await rig.screenshot(phone, 'phone-dark');
  await phone.context().close();
}

// Names that want to be markup; systems of two sizes; a name that comes twice.
{
  const evil = path.join(work, 'evil/closed/<img src=x onerror=alert(1)>/results/Sys');
  const summary = JSON.parse(readFileSync(path.join(sourceDir, 'tests/data/ingest/v1_0/Closed/Acme/results/Sys/unet3d-h100/runs/run1/client-1/summary.json'), 'utf8'));
  const { mkdirSync: mkdir, writeFileSync: write } = await import('node:fs');
  for (const accelerators of [4, 8, 16]) {
    const folder = path.join(evil, `unet3d-h100-${accelerators}acc/run1`);
    mkdir(folder, { recursive: true });
    const one = structuredClone(summary);
    one.num_accelerators = accelerators;
    for (const key of ['train_throughput_mean_samples_per_second', 'train_io_mean_MB_per_second']) one.metric[key] *= accelerators / summary.num_accelerators * (accelerators === 16 ? 0.9 : 1);
    one.metric.train_throughput_samples_per_second = one.metric.train_throughput_samples_per_second.map(() => one.metric.train_throughput_mean_samples_per_second);
    write(path.join(folder, 'summary.json'), JSON.stringify(one));
  }
  const { file, data } = compared('evil', path.join(work, 'evil'));
  const page = await rig.open(file);
  await checkPage('evil', page, data);
  equal(await page.locator('main img').count(), 0, 'markup that was smuggled in');
  equal((await rig.series(page, 'group-1-rate')).map(one => one[1]), [3], 'a line of three sizes');
  const drawn = await page.evaluate(() => [...window.feedbench.plots.get('group-1-scaling').data[1]].map(y => Math.round(y)));
  equal(drawn, [100, 100, 90], 'scaling efficiency that is drawn');
  // Sorted by a click: by rate, smallest first at the second one; what is not known stays last.
  const heading = page.locator('#group-1-table thead th', { hasText: /^MB\/s$/ });
  const column = await heading.evaluate(th => th.cellIndex);
  const values = () => page.locator('#group-1-table tbody tr').evaluateAll((rows, c) => rows.map(row => Number(row.cells[c].dataset.value)), column);
  await heading.click();
  let found = await values();
  check(found.every((v, i) => i === 0 || v <= found[i - 1]), `sorted largest first: ${found}`);
  await heading.click();
  found = await values();
  check(found.every((v, i) => i === 0 || v >= found[i - 1]) && found.length === 3, `sorted smallest first: ${found}`);
  await page.context().close();
}

const corpus = path.join(sourceDir, '../shared/corpus/mlperf-storage-v1.0');
if (existsSync(corpus)) {
  const { file, data } = compared('corpus', corpus);
  const page = await rig.open(file);
  console.log(`comparison of ${data.run_count} runs: ${(statSync(file).size / 1e6).toFixed(3)} MB, opened in ${page.openMs.toFixed(0)} ms`);
  check(statSync(file).size < 2e6, `the page has ${statSync(file).size} bytes, expected less than 2 MB`);
  await checkPage('corpus', page, data);
  await page.locator('.group-filter select[name=submitter]').selectOption('Hammerspace');
  const theirs = data.groups.flatMap(g => g.rows).filter(r => r.submitter === 'Hammerspace').length;
  equal(await shownRows(page), theirs, 'corpus: rows of Hammerspace');
  const lines = await page.evaluate(() => {
    const id = [...window.feedbench.plots.keys()].find(one => one.endsWith('-rate') && document.querySelector(`[data-plot="${one}"]`).checkVisibility());
    return window.feedbench.plots.get(id).series.slice(1).map(s => [s.label, s.show]);
  });
  check(lines.every(([label, show]) => show === label.includes('Hammerspace')) && lines.some(([, show]) => show), `corpus: lines after filtering: ${JSON.stringify(lines)}`);
  await page.locator('.group-filter select[name=submitter]').selectOption('');
  await rig.screenshot(page, 'corpus');
  await page.context().close();
} else {
  console.log('skipped: corpus not found');
}
await rig.close();
