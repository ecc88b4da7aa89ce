/**
 * The pages in Debian's Chromium: wide and narrow, light and dark, with and without script, looked at by axe.
 * TALARIA_PICTURES=1 shows them without hostile words, and writes the pictures of the guide.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Result } from 'axe-core';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { JsonObject } from '#base/json.ts';
import { holderName } from '#base/process/holder.ts';
import type { Message } from '#core/model/message.ts';
import type { App } from '#surfaces/app/app.ts';
import type { ServerStep } from '#testing/scripted-server.ts';
import { findChromium } from '../../scripts/screenshot/chromium.ts';
import { type Site, startSite, until } from '../surfaces/web/web-stage.ts';
import { verifies } from '../verifies.ts';

const program = findChromium();
const skip = program === undefined ? 'skipped: chromium is not installed' : false;
const inChromium = (run: (t: TestContext) => Promise<void>) => ({ options: { skip }, run });
const isPictured = Boolean(process.env.TALARIA_PICTURES);
const HOSTILE = ` <script>document.title="taken"</script><img src=x onerror="document.title=1"> \u202e${'long'.repeat(60)}`;
const ODD = isPictured ? '' : HOSTILE;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const asksFirst = { calls: [{ name: 'terminal', arguments: { command: 'rm -rf build/old-release' } }] };

const text = (words: string, origin: 'owner' | 'model') => ({ type: 'text', text: words + ODD, origin }) as const;
const said = (words: string): Message => ({ role: 'user', parts: [text(words, 'owner')] });
const told = (words: string): Message => ({ role: 'assistant', model: 'openai/gpt-5', parts: [text(words, 'model')] });
const call = { callId: 'c1', name: 'terminal' } as const;
const TALK: readonly Message[] = [
  said('What changed since the last release?'),
  {
    role: 'assistant',
    model: 'openai/gpt-5',
    parts: [
      { type: 'reasoning', text: 'The log has it.', origin: 'model' },
      { ...call, type: 'tool-call', arguments: { command: 'git log --oneline v1.4..' }, origin: 'model' },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        ...{ ...call, type: 'tool-result', text: `4f1c2aa web: pages\n90b7e1d fix: dates${ODD}`, isError: false },
        ...{ origin: 'foreign', observed: { ms: 41, bytes: 36, exitCode: 0 } },
      },
    ],
  },
  told('Two things: there are pages now, and dates in the export are right again.\n\nShall I write the notes?'),
  said('Yes, three lines at most.'),
  told('Written to `NOTES.md`:\n\n- Pages for what runs and what is kept\n- Dates in the export\n- Nothing else'),
];
const TITLES = ['Release notes', 'Rename the staging server', 'Why is the build slow?', 'Plan for the week', 'Mail'];

async function ran(app: App, name: string, input: object): Promise<void> {
  const found = (await app.commands()).find((command) => command.name === name);
  assert.ok(found, name);
  const place = { cwd: app.environment.cwd, signal: new AbortController().signal };
  await Array.fromAsync(found.run(found.input.parse(input), place));
}

/** A change of the skill that waits for a yes. */
async function drafted(app: App, old: string, fresh: string): Promise<string> {
  const change: JsonObject = { action: 'patch', name: 'release-notes', old_string: old, new_string: fresh };
  const draft = { kind: 'skill', actor: 'review', target: 'release-notes', action: 'patch', citations: [] } as const;
  const { id } = await app.doors.proposals.open({ ...draft, change });
  await app.doors.proposals.decide(id, { status: 'pending', reason: 'needs-owner' });
  return id;
}

/** Everything that a page can show; two questions of the model behind it are answered, and the first waits for a yes. */
async function furnished(t: TestContext, ...more: readonly ServerStep[]) {
  const site = await startSite(t, more);
  const { app, stage } = site;
  const { sessions, state, memory } = app.doors;
  const { signal } = new AbortController();
  const head = '---\nname: release-notes\ndescription: Write release notes from the log\n---\n\n# Release notes\n\n';
  stage.temp.write('home/skills/work/release-notes/SKILL.md', `${head}1. Read the log.\n2. Write.\n3. Show them.\n`);
  const entries = [
    `The staging server is called bree${ODD}`,
    'Notes have three lines at most',
    'Releases are on Thursday',
  ];
  const changes = entries.map((content) => ({ action: 'add', content }) as const);
  await memory.apply('memory', changes, { actor: 'owner', signal });
  await ran(app, 'cron create', { schedule: 'every day at 09:30', prompt: `Say what is urgent${ODD}`, name: 'mail' });
  await ran(app, 'cron create', { schedule: 'every 2h', prompt: 'Look whether the site answers', name: 'site' });
  await ran(app, 'pending accept', {
    id: await drafted(app, '1. Read the log.', '1. Read the log since the last tag.'),
  });
  await drafted(app, '3. Show them.', `3. Show them, three lines at most.${ODD}`);
  let last = '';
  for (const [at, title] of TITLES.toReversed().entries()) {
    const source = ['telegram', 'cli', 'cron'][at % 3] ?? '';
    const { id } = await sessions.create({ source, cwd: '/srv/notes', title: title + ODD });
    for (const message of at === TITLES.length - 1 ? TALK : TALK.slice(0, 1)) await sessions.append(id, message);
    last = id;
  }
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 40)';
  const now = app.clock.now();
  state.run(`INSERT INTO usage(session, at, turn, purpose, model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost)
    ${numbers} SELECT (SELECT max(key) FROM sessions), ${now} - i * 14400000, i, CASE WHEN i % 4 = 0 THEN 'review' ELSE 'answer' END,
    CASE WHEN i % 3 = 0 THEN 'openai/gpt-5-mini' ELSE 'openai/gpt-5' END, 9000 + i * 700, 400 + i * 9, 7000, 0, 0, 0.01 + (i * 7 % 11) * 0.004 FROM n`);
  state.run(`INSERT INTO spans(id, session, turn, kind, name, started_at, ms, status, detail)
    VALUES('f1', (SELECT max(key) FROM sessions), 1, 'tool', 'web_extract', ${now - 900_000}, 3100, 'error', 'example.com did not answer in 3 s')`);
  await inhabited(site, now);
  return { ...site, session: `/sessions/${last}` };
}

/** People, and what went in and out, as the gateway keeps them. */
async function inhabited({ stage, get }: Site, now: number): Promise<void> {
  const file = join(stage.root, 'gateway.sqlite');
  writeFileSync(file, '', { mode: 0o600 });
  await get('/people');
  const box = new DatabaseSync(file);
  const person = box.prepare('INSERT INTO people VALUES(?, ?, ?, ?, ?)');
  person.run('telegram', '8812001', `Ada${ODD}`, 'owner', now - 86_400_000 * 30);
  person.run('telegram', '8812944', 'Grace', 'guest', now - 86_400_000 * 3);
  box.prepare('INSERT INTO holders VALUES(?, ?, ?)').run('telegram', holderName(), null);
  const came = box.prepare(
    "INSERT INTO inbox(channel, id, lane, state, at, body) VALUES('telegram', ?, 'owner', ?, ?, '{}')",
  );
  for (let at = 0; at < 12; at += 1) came.run(String(at), 'done', now);
  box.close();
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
  const all = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Result[];
  const grave = all.filter(({ impact }) => /serious|critical/.test(impact ?? ''));
  return grave.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

async function isSound(page: Page, address: string): Promise<void> {
  const answer = await page.goto(address);
  assert.equal(answer?.status(), 200, address);
  for (const one of ['h1', 'main', 'header', 'nav[aria-label="Pages"]'])
    assert.equal(await page.locator(one).count(), 1, `${address} ${one}`);
  assert.deepEqual(await findings(page), []);
  const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(sideways) <= 0, `${address} scrolls ${sideways} px sideways`);
  assert.match(await page.title(), /Talaria$/, address);
  assert.equal(await page.locator('script:not([src="/app.js"]), img[src="x"]').count(), 0, address);
}

const WIDE = { width: 1_100, height: 720 };
const PHONE = { width: 360, height: 720 };

const MODES = [
  ['light', WIDE],
  ['dark', WIDE],
  ['light', PHONE],
  ['dark', PHONE],
] as const;

verifies(
  ['R5.146'],
  'every page is sound in a browser: wide, narrow, light, dark',
  inChromium(async (t) => {
    const site = await furnished(t, asksFirst);
    const begun = await site.post('/', { act: 'send', session: '', text: `Make room for the next release${ODD}` });
    const asked = (begun.headers.get('location') ?? '').replace('#end', '');
    await until(async () => (await site.text(asked)).includes('Allow once'));
    await site.app.doors.sessions.setTitle(asked.slice(10), `Make room${ODD}`);
    const pages = {
      ...{
        today: '/',
        sessions: '/sessions',
        session: site.session,
        skills: '/skills',
        skill: '/skills/release-notes',
      },
      ...{ memory: '/memory', pending: '/pending' },
      ...{ schedule: '/schedule', people: '/people', costs: '/costs', doctor: '/doctor' },
    };
    for (const [colorScheme, viewport] of MODES) {
      const { page, complaints } = await opened(t, site, { viewport, colorScheme });
      for (const [name, path] of Object.entries(pages)) {
        await isSound(page, site.url + path);
        await photograph(page, `${name}-${colorScheme}${viewport === PHONE ? '-phone' : ''}`);
      }
      for (const path of ['/sessions?q=release', asked, '/costs?days=30', '/sessions?q=nothing'])
        await isSound(page, site.url + path);
      assert.deepEqual(complaints, []);
    }
    const fresh = await opened(t, { ...site, cookie: 'none=1' }, { viewport: PHONE });
    await fresh.page.goto(`${site.url}/`);
    assert.deepEqual([await findings(fresh.page), await fresh.page.locator('h1').count()], [[], 1]);
  }),
);

async function photograph(page: Page, name: string): Promise<void> {
  if (!isPictured) return;
  const browser = await page.context().newCDPSession(page);
  const place = join(import.meta.dirname, '../../docs/images');
  const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  writeFileSync(join(place, `dashboard-${name}.webp`), data, 'base64');
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

const TRIES = 3;

verifies(
  ['R5.143'],
  'a turn that runs shows within a second on a page that is open, and is answered and gone from it by a click',
  inChromium(async (t) => {
    const steps = Array.from({ length: TRIES }, () => [asksFirst, { reply: 'Left as it was.' }]).flat();
    const site = await furnished(t, ...steps);
    const { page, complaints } = await opened(t, site, { viewport: WIDE });
    await page.goto(`${site.url}/`);
    let began = 0;
    t.after(
      site.app.events.subscribe(({ event }) => {
        if (event.type === 'turn-start') began = performance.now();
      }),
    );
    const times: number[] = [];
    for (let at = 0; at < TRIES; at += 1) {
      await page.waitForSelector('text=No turn runs.');
      await site.post('/people', { act: 'send', session: '', text: 'make room' });
      await page.waitForSelector('text=a turn runs');
      times.push(performance.now() - began);
      await page.click('text=Deny');
    }
    t.diagnostic(`a turn shows after ${times.map(Math.round).join(', ')} ms`);
    // The machine may be busy with something else for once.
    assert.ok(Math.min(...times) <= 1_000, times.join(', '));
    assert.deepEqual(complaints, []);
  }),
);

verifies(
  ['R5.142'],
  'pause, run now, accept and reject work by a click, with and without script',
  inChromium(async (t) => {
    const site = await furnished(t, 'Nothing is urgent.', 'Nothing is urgent.');
    const skill = join(site.stage.root, 'skills/work/release-notes/SKILL.md');
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await opened(t, site, { viewport: PHONE, javaScriptEnabled });
      await page.goto(`${site.url}/schedule`);
      const row = page.locator('tr', { hasText: 'urgent' }).first();
      await row.getByRole('button', { name: 'Pause' }).click();
      await row.getByText('paused').waitFor();
      await row.getByRole('button', { name: 'Resume' }).click();
      await row.getByText('active').waitFor();
      await row.getByRole('button', { name: 'Run now' }).click();
      await until(
        async () => (await site.text('/schedule')).split('Nothing is urgent.').length > (javaScriptEnabled ? 1 : 2),
      );

      const fresh = `3. Show them ${javaScriptEnabled ? 'first' : 'at last'}.`;
      const old = /^3\. .*$/m.exec(readFileSync(skill, 'utf8'))?.[0] ?? '';
      for (const { id } of site.app.doors.proposals.list({ status: 'pending' }))
        await ran(site.app, 'pending reject', { id });
      await drafted(site.app, old, fresh);
      await page.goto(`${site.url}/pending`);
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.getByText('Nothing else waits.').waitFor();
      assert.ok(readFileSync(skill, 'utf8').includes(fresh));
      await drafted(site.app, fresh, '3. Say nothing.');
      await page.goto(`${site.url}/pending`);
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByText('Nothing else waits.').waitFor();
      assert.ok(readFileSync(skill, 'utf8').includes(fresh));
      assert.deepEqual(site.app.doors.proposals.list({ status: 'pending' }), []);
    }
  }),
);
