/**
 * A page as a picture: `node scripts/screenshot.ts PAGE PICTURE.png [--width 1400] [--height 900] [--dark] [--scale 1] [--open all]`.
 * PAGE is a file or an address, an anchor may follow (`page.html#e1`). `--open` opens the folded parts first: how many, or `all`.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { findChromium, startChromium } from './screenshot/chromium.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: 'string', default: '1400' },
    height: { type: 'string', default: '900' },
    scale: { type: 'string', default: '1' },
    dark: { type: 'boolean', default: false },
    open: { type: 'string', default: '0' },
    scroll: { type: 'string', default: '' },
  },
});
const [page = '', picture = ''] = positionals;
const program = findChromium();
if (page === '' || picture === '') {
  console.error(
    'usage: node scripts/screenshot.ts PAGE PICTURE.png [--width N] [--height N] [--dark] [--scale N] [--open N|all]',
  );
  process.exitCode = 2;
} else if (program === undefined) {
  console.error('chromium is not installed (Debian: apt-get install chromium)');
  process.exitCode = 1;
} else {
  await photograph(program);
}

async function photograph(chromium: string): Promise<void> {
  const [path = '', anchor] = page.split('#');
  const base = /^[a-z]+:\/\//.test(path) ? path : pathToFileURL(resolve(path)).href;
  const browser = await startChromium(chromium);
  try {
    const view = { width: Number(values.width), height: Number(values.height), scale: Number(values.scale) };
    const shown = await browser.open(base, { ...view, scheme: values.dark ? 'dark' : 'light' });
    const most = values.open === 'all' ? 'Infinity' : String(Number(values.open));
    await shown.evaluate(
      `[...document.querySelectorAll('details')].slice(0, ${most}).forEach((one) => { one.open = true })`,
    );
    if (anchor !== undefined) await shown.evaluate(`location.hash = ${JSON.stringify(anchor)}`);
    const to = JSON.stringify(values.scroll);
    if (values.scroll !== '')
      await shown.evaluate(`document.querySelector(${to})?.scrollIntoView({ behavior: 'instant' })`);
    await shown.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 400)))');
    writeFileSync(resolve(picture), await shown.photograph());
    for (const complaint of shown.complaints) console.error(complaint);
  } finally {
    await browser.close();
  }
}
