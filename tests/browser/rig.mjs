// What every browser test shares: Debian's chromium, pages from file://, and a list of everything a page must not do.
//
//   const rig = await openRig('reports');
//   const page = await rig.open(file, { width: 390, dark: true });     // loaded; its faults are kept
//   await rig.screenshot(page, 'phone');                               // build/.../browser/reports-phone.png
//   rig.check(condition, 'what must hold');  rig.equal(found, expected, 'of what');
//   await rig.close();                                                 // ends the process: 0, or 1 with every failure named
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export const feedbench = process.env.FEEDBENCH;
export const sourceDir = process.env.FEEDBENCH_SOURCE_DIR;
export const outDir = path.join(process.env.FEEDBENCH_BINARY_DIR ?? '.', 'browser');
if (!feedbench || !sourceDir) throw new Error('FEEDBENCH and FEEDBENCH_SOURCE_DIR are set by ctest');

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (!executablePath) skip('chromium is not installed (scripts/packages.txt)');
const { chromium } = await import('playwright-core').catch(() => skip('playwright-core is not installed: scripts/test.sh does it'));

// The binary, with its exit code; `said`: all that it says, errors last.
export function run(...args) {
  const { status, stdout, stderr, error } = spawnSync(feedbench, args, { encoding: 'utf8', timeout: 60000,
    env: { ...process.env, FEEDBENCH_CEILING_SECONDS: '0' } });
  return { code: status ?? -1, said: `${stdout ?? ''}${stderr ?? ''}${error ?? ''}` };
}

export async function openRig(name) {
  mkdirSync(outDir, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const failures = [];
  const rig = {
    browser,
    check(condition, words) { if (!condition) failures.push(words); },
    equal(found, expected, what) {
      const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
      if (a !== b) failures.push(`${what}: found ${a}, expected ${b}`);
    },
    async open(file, { width = 1280, height = 900, dark = false, javaScript = true } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', javaScriptEnabled: javaScript,
        isMobile: width < 600, hasTouch: width < 600 });
      const page = await context.newPage();
      const url = pathToFileURL(file).href;
      const label = `${path.basename(file)} (${width} px${dark ? ', dark' : ''})`;
      page.on('console', message => { if (['error', 'warning'].includes(message.type())) failures.push(`${label}: console: ${message.text()}`); });
      page.on('pageerror', error => failures.push(`${label}: script: ${error.message}`));
      page.on('request', request => {
        const asked = request.url().split('#')[0];
        if (asked !== url && !asked.startsWith('data:')) failures.push(`${label}: asked for ${asked}`);
      });
      const before = performance.now();
      await page.goto(url, { waitUntil: 'load' });
      if (javaScript) await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      page.openMs = performance.now() - before;
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (javaScript) rig.check(overflow <= 0, `${label}: ${overflow} px wider than the screen`);
      return page;
    },
    async screenshot(page, what) {
      await page.screenshot({ path: path.join(outDir, `${name}-${what}.png`), fullPage: true });
    },
    // Of the plot with this id: labels of its series and how many points each has.
    series: (page, id) => page.evaluate(wanted => {
      const plot = window.feedbench.plots.get(wanted);
      if (!plot) return null;
      return plot.series.slice(1).map((one, i) => [one.label, plot.data[i + 1].filter(y => y != null).length]);
    }, id),
    // How many pixels of the plot are painted in another colour than its ground: an empty plot has few.
    painted: (page, id) => page.evaluate(wanted => {
      const canvas = document.querySelector(`[data-plot="${wanted}"] canvas`);
      if (!canvas) return 0;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++count;
      return count;
    }, id),
    async close() {
      await browser.close();
      for (const words of failures) console.log(`FAILED ${name}: ${words}`);
      if (failures.length === 0) console.log(`${name}: every check held; screenshots in ${outDir}`);
      process.exit(failures.length === 0 ? 0 : 1);
    },
  };
  return rig;
}
