// Owns the page of a run: one file of HTML that needs nothing else, made from what the trace holds: a head, and a list of sections. Knows no file and
// no clock. Invariant: equal input gives an equal page; every text in it is escaped; what is left out is counted and says where it is to be seen.
// Serves seed 003: a run is shown with its tree, its calls, what was accepted and refused, and the lines that handles point to.
import { instant } from '#base/clock.ts';
import { duration, type Html, html, listed, pageFile, shortText, size, table, thousands } from '#base/text/page.ts';
import { ellipsize } from '#base/text.ts';
import { type ReadOutcome, readOutcome } from '../outcome.ts';
import type { RunEvent, RunRecord } from '../trace/run-record.ts';
import { callsSection, foldedText, type PageGround, type Section, treeSection } from './page-calls.ts';
import {
  answerSection,
  askBook,
  claimsSection,
  evidenceSection,
  refusedSection,
  repairSection,
  runBook,
  stepsSection,
  unreadSection,
} from './page-sections.ts';
import { RUN_STYLE } from './page-style.rules.ts';
import { type Tone, verdictWords } from './page-words.ts';
import { questionOf, readText, tokensText } from './run-text.ts';

/** Characters of all prompts, replies, code and outputs together. */
const ALL_TEXTS = 6_000_000;

export function renderRunPage(record: RunRecord): string {
  const whole = `talaria rlm show ${record.row.run_id} --export run.json`;
  const ground: PageGround = { ...record, budget: { left: ALL_TEXTS }, whole };
  const read = readOutcome(record.row.outcome);
  const found = [...findings(ground, read), eventsSection(ground), recordSection(ground)];
  const sections = found.filter((section) => section !== null);
  const body = html`<main>
${header(ground, read)}<nav aria-label="On this page"><ul>${sections.map((one) => html`<li><a href="#${one.id}">${titleOf(one)}</a></li>`)}</ul></nav>
${sections.map(drawSection)}</main>
`;
  return pageFile(`${ellipsize(questionOf(record.row), 80)} · Talaria`, body, RUN_STYLE);
}

function titleOf({ title, count }: Section): Html {
  return html`${title}${count !== null && html` <span class="count">${thousands(count)}</span>`}`;
}

function drawSection(section: Section): Html {
  const { id, body } = section;
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${titleOf(section)}</h2>
${body}
</section>
`;
}

/** An outcome that this version does not know is shown as it is. */
function findings(ground: PageGround, read: ReadOutcome): readonly (Section | null)[] {
  if (read.kind === 'run') {
    const { outcome } = read;
    const book = runBook(ground, outcome);
    return [
      claimsSection(ground, outcome, book),
      refusedSection(ground, outcome, book),
      repairSection(outcome),
      unreadSection(ground, outcome),
      evidenceSection(ground, book),
      treeSection(ground, outcome),
    ];
  }
  if (read.kind === 'ask') {
    const { outcome } = read;
    const book = askBook(ground, outcome);
    return [
      answerSection(ground, outcome, book),
      unreadSection(ground, outcome),
      evidenceSection(ground, book),
      stepsSection(ground, book),
      callsSection(ground),
    ];
  }
  const none = html`<p class="dim">No outcome is stored.</p>`;
  const body = read.outcome === null ? none : foldedText(ground, 'As it is stored', JSON.stringify(read.outcome));
  return [{ id: 'outcome', title: 'Outcome', count: null, body }, callsSection(ground)];
}

const KINDS: Readonly<Record<string, string>> = { run: 'Run', ask: 'Ask', vanilla: 'Single pass' };

function header(ground: PageGround, read: ReadOutcome): Html {
  const { row } = ground;
  const [title, says, tone] = verdictOf(ground, read);
  const detail = read.kind === 'other' ? null : read.outcome.detail;
  const facts = factsOf(ground, read).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return html`<header>
<p class="brand"><span>Talaria</span> ${KINDS[row.kind] ?? row.kind} <code>${row.run_id}</code></p>
<h1 dir="auto">${shortText(questionOf(row), 1_000)}</h1>
<div class="verdict ${tone}"><p><strong>${title}.</strong> ${says}</p>${detail !== null && html`<p dir="auto">${shortText(detail, 1_000)}</p>`}</div>
<dl class="facts">${facts}</dl>
</header>
`;
}

function verdictOf({ row }: PageGround, read: ReadOutcome): readonly [title: string, says: string, tone: Tone] {
  if (read.kind !== 'other') return verdictWords(read.kind, read.outcome.verdict);
  if (row.state === 'running')
    return ['Not ended', 'No end is stored: it is still at work, or its process is gone.', 'mixed'];
  if (row.kind === 'vanilla' && row.state === 'completed')
    return ['Answered', 'A single pass without recursion: nobody has checked what it says.', 'mixed'];
  const title = { completed: 'Ended', failed: 'Failed', cancelled: 'Cancelled' }[row.state];
  return [title, '', row.state === 'failed' ? 'bad' : 'mixed'];
}

const MOST_MODELS = 4;

function factsOf({ row, calls }: PageGround, read: ReadOutcome): readonly (readonly [string, string])[] {
  const models = [...new Set(calls.map(({ model, runtime }) => model ?? `${runtime} (unknown)`))];
  const more = models.length > MOST_MODELS ? `, ${models.length - MOST_MODELS} more` : '';
  const named = models.length === 0 ? 'none was asked' : `${models.slice(0, MOST_MODELS).join(', ')}${more}`;
  const took = row.ended_at === null ? [] : [['Took', duration(row.ended_at - row.started_at)] as const];
  return [
    ['When', instant(row.started_at)],
    ...took,
    ['Model', named],
    ...totalsOf(read, calls.length),
    ...readText(read),
  ];
}

function totalsOf(read: ReadOutcome, stored: number): readonly (readonly [string, string])[] {
  if (read.kind === 'other') return [['Calls', thousands(stored)]];
  const { calls } = read.outcome.totals;
  const [tokens, cost] = tokensText(read.outcome.totals);
  return [
    ['Calls', thousands(calls)],
    ['Tokens', tokens],
    ['Cost', cost],
  ];
}

const MOST_EVENTS = 600;
const MOST_SOURCES = 200;

function eventsSection(ground: PageGround): Section {
  const { events, row, whole } = ground;
  const draw = ({ seq, at, type, node_id, data }: RunEvent) => {
    const says = Object.keys(data).length > 0 && foldedText(ground, 'data', JSON.stringify(data));
    return html`<tr><td class="figure">${thousands(seq)}</td><td class="figure">${duration(Math.max(0, at - row.started_at))}</td>
<td>${shortText(type.replace(/^rlm\./, ''), 80)}</td><td>${node_id !== null && html`<code>${shortText(node_id, 80)}</code>`}</td><td>${says}</td></tr>
`;
  };
  const { rows, more } = listed(events, draw, { most: MOST_EVENTS, noun: 'event', whole });
  const shown = html`${table(['No.', 'After', 'Event', 'Node', 'Says'], rows)}${more}`;
  const body = html`<details><summary>All events, in order</summary>${shown}</details>`;
  return { id: 'events', title: 'Events', count: events.length, body };
}

/** Rules: what holds for every call of its kind; most calls share them. */
function recordSection(ground: PageGround): Section {
  const { row, calls, whole } = ground;
  const draw = ({ path, bytes, hash }: RunRecord['row']['sources'][number]) =>
    html`<tr><td><code><bdi>${shortText(path, 300)}</bdi></code></td><td class="figure">${size(bytes)}</td><td><code>${shortText(hash, 100)}</code></td></tr>
`;
  const { rows, more } = listed(row.sources, draw, { most: MOST_SOURCES, noun: 'source', whole });
  const rules = [...new Set(calls.map(({ system_prompt }) => system_prompt))].slice(0, 12);
  const given = rules.map((text, at) => foldedText(ground, `Rules ${at + 1} that calls were given`, text));
  const body = html`<dl class="record">
<dt>Run</dt><dd><code>${row.run_id}</code></dd>
<dt>State hash</dt><dd><code>${row.state_hash ?? 'none: it has not ended'}</code></dd>
<dt>Replay</dt><dd><code>talaria rlm replay ${row.run_id}</code> reaches the same hash without a model.</dd>
<dt>Check</dt><dd><code>talaria rlm verify ${row.run_id}</code> follows the links of the trace.</dd>
</dl>
${table(['Source', 'Size', 'Hash'], rows)}${more}${foldedText(ground, 'Request', JSON.stringify(row.request))}${given}`;
  return { id: 'record', title: 'Record', count: null, body };
}
