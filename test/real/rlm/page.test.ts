/**
 * The page of a run as a browser has it: Debian's chromium, from a file, light and dark, narrow and wide, by mouse and by keyboard.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { demoCommands } from '#extensions/rlm/commands.ts';
import { renderRunPage } from '#extensions/rlm/page/render-run-page.ts';
import type { RunRecord } from '#extensions/rlm/trace/run-record.ts';
import type { CommandOutput } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import {
  type Browser,
  findChromium,
  type ShownPage,
  startChromium,
  type View,
} from '../../../scripts/screenshot/chromium.ts';
import { sampleAsk } from '../../extensions/rlm/page/sample-ask.ts';
import { FACTS, sampleCall, sampleChunk, sampleFact, samplePage } from '../../extensions/rlm/page/sample-run.ts';
import { testGround } from '../../ground.ts';

const program = findChromium();
const skip = program === undefined ? 'skipped: chromium is not installed' : false;

const WIDE: View = { width: 1_400, height: 900 };
const NARROW: View = { width: 400, height: 800 };
const ATTACK =
  '</style></script><script>document.title = "attacked"</script><img src=x onerror="document.title=1"><iframe src=//x.example>';

const SAMPLES: Readonly<Record<string, RunRecord>> = {
  run: samplePage({
    outcome: {
      gaps: [{ what: 'docs/more.md', why: 'no text' }],
      omitted: [{ chunk_id: 'a:1-2', reason: 'max_chunks' }],
    },
  }),
  ask: sampleAsk(),
  hostile: samplePage({
    outcome: {
      question: ATTACK,
      summary: ATTACK.repeat(20),
      verdict: 'refused',
      refused: [
        {
          reason: 'no_claims',
          claim: { fact_id: ATTACK, chunk_id: ATTACK, surface: ATTACK, text: ATTACK },
          detail: ATTACK,
        },
      ],
      evidence: FACTS.map((fact) => ({ ...fact, fact_id: `${ATTACK}${fact.fact_id}` })),
    },
  }),
};

/** The least contrast of any shown text with what is painted behind it, and the text. */
const LEAST_CONTRAST = `(() => {
  const parse = (value) => (value.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  let least = [99, ''];
  for (const details of document.querySelectorAll('details')) details.open = true;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const one = node.parentElement;
    if (node.data.trim() === '' || one.getClientRects().length === 0) continue;
    const pair = [light(parse(getComputedStyle(one).color)), light(ground(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < least[0]) least = [ratio, node.data.slice(0, 60)];
  }
  return least;
})()`;

/** As much as a page shows: 500 of 600 quotations, 400 of 1,000 calls. */
function largeRun(): RunRecord {
  const text = Array.from({ length: 6_000 }, (_, at) => `Line ${at + 1} says that rule ${at + 1} holds.\n`).join('');
  const chunks = Array.from({ length: 100 }, (_, at) => sampleChunk('big.md', [at * 60 + 1, at * 60 + 60], text));
  const evidence = chunks.flatMap((chunk, at) =>
    [9, 18, 27, 36, 45, 54].map((line) => sampleFact(`f${at}.${line}`, chunk, `Line ${at * 60 + line} says`)),
  );
  const claims = evidence.map((fact) => ({ text: fact.text, fact_ids: [fact.fact_id] }));
  const calls = Array.from({ length: 1_000 }, (_, at) => sampleCall(`call_${at}`, { prompt: 'p '.repeat(9_000) }));
  return samplePage({ chunks, calls, outcome: { evidence, claims } });
}

describe('the page of a run in a browser', { skip }, () => {
  let browser: Browser;
  before(async () => {
    if (program !== undefined) browser = await startChromium(program);
  });
  after(() => browser?.close());

  async function show(t: TestContext, name: string, view: View): Promise<ShownPage> {
    const path = join(createTempHome(t).path, `${name}.html`);
    writeFileSync(path, renderRunPage(SAMPLES[name] as RunRecord));
    return browser.open(pathToFileURL(path).href, view);
  }

  for (const name of Object.keys(SAMPLES)) {
    test(`${name}: nothing is asked for, nothing is complained about, nothing is wider than the screen`, async (t) => {
      for (const view of [WIDE, NARROW, { ...WIDE, scheme: 'dark' as const }, { ...NARROW, scheme: 'dark' as const }]) {
        const page = await show(t, name, view);
        await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`);
        assert.deepEqual(page.complaints, []);
        assert.deepEqual(page.requests, []);
        const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
        assert.ok(width <= view.width, `${width} of ${view.width} pixels`);
        const text = String(await page.evaluate('document.body.innerText'));
        assert.ok(text.length > 400);
        const [ratio, where] = (await page.evaluate(LEAST_CONTRAST)) as readonly [number, string];
        assert.ok(ratio >= 4.5, `${ratio.toFixed(2)} to 1 for "${where}" (${view.scheme ?? 'light'})`);
        assert.ok((await page.photograph()).length > 20_000, 'the picture is not blank');
      }
    });
  }

  test('the pages that the demo leaves', async (t) => {
    const { path } = createTempHome(t);
    const [demo] = demoCommands(testGround({ places: { home: join(path, 'never'), userHome: path } }));
    const run = demo?.run as unknown as (input: object, context: object) => AsyncIterable<CommandOutput>;
    const told = await Array.fromAsync(
      run({ keep: join(path, 'kept') }, { cwd: path, signal: new AbortController().signal }),
    );
    assert.equal(told.at(-1)?.type, 'data', JSON.stringify(told.at(-1)));
    const verdicts = { accepted: /Accepted\./, refused: /unsupported_fact_id/, repaired: /With it the gate accepted/ };
    for (const [name, verdict] of Object.entries(verdicts)) {
      const page = await browser.open(pathToFileURL(join(path, 'kept', `${name}.html`)).href, WIDE);
      assert.match(String(await page.evaluate('document.body.innerText')), verdict);
      assert.ok((await page.photograph()).length > 50_000, 'the picture is not blank');
      assert.deepEqual([page.complaints, page.requests], [[], []]);
    }
  });

  test('hostile texts make no element, and a script that got in would not run', async (t) => {
    const page = await show(t, 'hostile', WIDE);
    assert.equal(
      await page.evaluate(`document.querySelectorAll('script, img, iframe, [onerror], [style], base, form').length`),
      0,
    );
    assert.match(String(await page.evaluate('document.title')), /^<\/style>/);
    const title = await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "ran"';
      document.body.append(script);
      return document.title;
    })()`);
    assert.notEqual(title, 'ran');
    assert.match(page.complaints.join(''), /Content Security Policy/);
  });

  test('a handle leads to its words, which light up, and back to the claim', async (t) => {
    for (const view of [{ width: 1_400, height: 400 }, NARROW]) {
      const page = await show(t, 'run', view);
      const seen = (what: string) => `(() => {
        const { top, bottom } = document.querySelector(${JSON.stringify(what)}).getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      })()`;
      const follow = (link: string, to: string) =>
        page.evaluate(`document.querySelector(${JSON.stringify(link)}).click(),
          new Promise((done) => setTimeout(() => done(${seen(to)}), 200))`);
      const colour = (of: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${of} mark')).backgroundColor`);
      const before = await colour('#e3');
      assert.equal(await page.evaluate(seen('#e3 mark')), false, 'it is further down');
      assert.equal(await follow('#claim-2 a', '#e3 mark'), true);
      assert.notEqual(await colour('#e3'), before);
      assert.equal(await colour('#e1'), before, 'others stay as they were');
      assert.equal(await follow('#e3 a[href="#claim-2"]', '#claim-2'), true);
    }
  });

  test('a large run: its page opens, and a handle is lit at once', async (t) => {
    const path = join(createTempHome(t).path, 'large.html');
    writeFileSync(path, renderRunPage(largeRun()));
    const page = await browser.open(pathToFileURL(path).href, WIDE);
    const [ms, colour] = (await page.evaluate(`(() => {
      const from = performance.now();
      document.querySelector('#claim-400 a').click();
      const mark = document.querySelector('#e400 mark');
      const colour = getComputedStyle(mark).backgroundColor;
      mark.getBoundingClientRect();
      return [performance.now() - from, colour];
    })()`)) as readonly [number, string];
    assert.equal(colour, 'rgb(255, 213, 77)');
    assert.ok(ms < 1_500, `it took ${Math.round(ms)} ms`);
    assert.deepEqual(page.complaints, []);
  });

  test('everything is reached by keyboard: a handle is followed, an input is opened', async (t) => {
    const page = await show(t, 'run', WIDE);
    const focused = 'document.activeElement.matches("#claims a.handle")';
    for (let press = 0; press < 20 && (await page.evaluate(focused)) !== true; press += 1) await page.press('Tab');
    assert.equal(await page.evaluate(focused), true);
    await page.press('Enter');
    assert.match(String(await page.evaluate('location.hash')), /^#e\d+$/);
    const summary = 'document.activeElement.matches("#tree summary")';
    await page.evaluate(`document.querySelector('#tree').tabIndex = -1, document.querySelector('#tree').focus()`);
    for (let press = 0; press < 5 && (await page.evaluate(summary)) !== true; press += 1) await page.press('Tab');
    await page.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.parentElement.open'), true);
  });
});
