/**
 * The pages in Debian's Chromium: wide and narrow, light and dark, with and without script, looked at by axe.
 * TALARIA_PICTURES=1 writes the pictures of the guide.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Result } from 'axe-core';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { ServerStep } from '#testing/scripted-server.ts';
import { findChromium } from '../../scripts/screenshot/chromium.ts';
import { openConversation, play } from '../surfaces/app/app-fixture.ts';
import { type Site, startSite, until } from '../surfaces/web/web-stage.ts';
import { verifies } from '../verifies.ts';

const program = findChromium();
const skip = program === undefined ? 'skipped: chromium is not installed' : false;
const inChromium = (run: (t: TestContext) => Promise<void>) => ({ options: { skip }, run });
const HOSTILE = '<script>document.title="taken"</script><img src=x onerror="document.title=1">';
const PATHS = ['', 'sessions', 'skills', 'memory', 'pending', 'schedule', 'people', 'costs', 'doctor'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Everything that a page can show. */
async function furnished(
  t: TestContext,
  ...more: readonly ServerStep[]
): Promise<Site & { readonly paths: readonly string[] }> {
  const listing = { calls: [{ name: 'terminal', arguments: { command: 'ls -la' } }] };
  const site = await startSite(t, [
    listing,
    { reply: 'Three files, and a folder `src`.' },
    { reply: 'A long answer.' },
    ...more,
  ]);
  const { app, stage } = site;
  const folder = join(stage.root, 'skills', 'release-notes');
  mkdirSync(folder, { recursive: true });
  const head = '---\nname: release-notes\ndescription: Write release notes from the log\n---\n\n';
  writeFileSync(join(folder, 'SKILL.md'), `${head}1. Read the log.\n2. Write.\n`);
  const { signal } = new AbortController();
  const entry = { action: 'add', content: `The staging server is called bree ${HOSTILE}` } as const;
  await app.doors.memory.apply('memory', [entry], { actor: 'owner', signal });
  for (const command of await app.commands())
    if (command.name === 'cron create') {
      const input = command.input.parse({ schedule: 'every day at 09:30', prompt: 'Say what is urgent', name: 'mail' });
      await Array.fromAsync(command.run(input, { cwd: stage.cwd, signal }));
    }
  const talk = await openConversation(app);
  await play(talk, 'What is in this folder?');
  await play(talk, HOSTILE);
  await app.doors.sessions.setTitle(talk.session.id, `${HOSTILE} ${'long'.repeat(60)}`);
  await talk.leave();
  const session = `/sessions/${talk.session.id}`;
  return { ...site, paths: [...PATHS.map((one) => `/${one}`), session, '/skills/release-notes', '/sessions?q=folder'] };
}

async function opened(t: TestContext, site: Site, options: BrowserContextOptions) {
  const args = ['--no-sandbox', '--disable-background-networking'];
  const browser = await chromium.launch({ executablePath: program ?? '', args });
  t.after(() => browser.close());
  const context = await browser.newContext(options);
  const [name = '', value = ''] = site.cookie.split('=');
  await context.addCookies([{ name, value, url: site.url, httpOnly: true, sameSite: 'Strict' }]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${page.url()} ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`${page.url()} ${error.message}`));
  page.on('request', (request) => {
    if (!/^(?:data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) complaints.push(`asked for ${request.url()}`);
  });
  return { page, complaints };
}

async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const told = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Result[];
  const grave = told.filter(({ impact }) => /serious|critical/.test(impact ?? ''));
  return grave.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

async function isSound(page: Page, address: string): Promise<void> {
  const answer = await page.goto(address);
  assert.equal(answer?.status(), 200, address);
  for (const one of ['h1', 'main', 'nav[aria-label="Pages"]'])
    assert.equal(await page.locator(one).count(), 1, `${address} ${one}`);
  assert.deepEqual(await findings(page), []);
  const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(sideways) <= 0, `${address} scrolls ${sideways} px sideways`);
  assert.match(await page.title(), /Talaria$/, address);
}

const WIDE = { width: 1_100, height: 800 };
const PHONE = { width: 360, height: 740 };

verifies(
  ['R5.146'],
  'every page is sound in a browser: wide, narrow, light, dark',
  inChromium(async (t) => {
    const site = await furnished(t);
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = colorScheme === 'light' ? WIDE : PHONE;
      const { page, complaints } = await opened(t, site, { viewport, colorScheme });
      for (const path of site.paths) {
        await isSound(page, site.url + path);
        if (path === '/' || path === '/costs') await photograph(page, `${path.slice(1) || 'today'}-${colorScheme}`);
      }
      assert.deepEqual(complaints, []);
    }
  }),
);

async function photograph(page: Page, name: string): Promise<void> {
  const path = join(import.meta.dirname, '../../docs/images', `dashboard-${name}.png`);
  if (process.env.TALARIA_PICTURES) await page.screenshot({ path });
}

verifies(
  ['R5.143', 'R5.144'],
  'a message is sent, and its answer comes without a reload',
  inChromium(async (t) => {
    const site = await furnished(t, 'Fresh words.');
    const { page, complaints } = await opened(t, site, { viewport: WIDE });
    await page.goto(`${site.url}/`);
    await page.fill('#box', 'tell me');
    await page.click('text=Send');
    await page.waitForURL('**/sessions/**');
    await page.waitForSelector('.message.assistant >> text=Fresh words.');
    await photograph(page, 'session-light');
    assert.deepEqual(complaints, []);
  }),
);

verifies(
  ['R5.140'],
  'without script it is read and written just the same',
  inChromium(async (t) => {
    const site = await furnished(t, 'Fresh words.');
    const { page } = await opened(t, site, { viewport: PHONE, javaScriptEnabled: false });
    await page.goto(`${site.url}/`);
    await page.fill('#box', 'tell me');
    await page.click('text=Send');
    await page.waitForURL('**/sessions/**');
    await until(async () => {
      await page.reload();
      return (await page.content()).includes('Fresh words.');
    });
  }),
);
