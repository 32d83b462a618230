// A picture of the top of a page, for the documentation: node picture.mjs PAGE.html OUT.png [HEIGHT]
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [, , file, out, height = '1320'] = process.argv;
if (!file || !out) {
  console.error('usage: node picture.mjs PAGE.html OUT.png [HEIGHT]');
  process.exit(2);
}
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1000, height: Number(height) }, colorScheme: 'light' });
await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.screenshot({ path: out });
await browser.close();
