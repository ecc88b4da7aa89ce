// Owns what a page says of a run in its own sections: claims or sentences, what was refused or repaired, what was not read, the evidence in its lines.
// Invariant: what is lit says what is quoted, but for white space; a link that would lead nowhere is none.
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { counted, type Html, html, listed, shortText, table, thousands } from '#base/text/page.ts';
import { sliceText } from '#base/text.ts';
import { valueRows } from '../ask/ask-lines.ts';
import type { RejectedClaim } from '../guard/read-claims.ts';
import {
  type AnswerSentence,
  type AskOutcome,
  type Handle,
  placeText,
  type RunGap,
  type RunOutcome,
  type SourcePlace,
} from '../outcome.ts';
import { type KeptChunk, keptChunks, type RunEvent } from '../trace/run-record.ts';
import { callLink, foldedText, type PageGround, plainText, type Section } from './page-calls.ts';
import { reasonWords } from './page-words.ts';

const MOST = 500;

/** What a claim may cite: a quotation, a claim of a sub-call, a value of code. */
interface Entry {
  readonly id: string;
  /** Where it stands, in a word. */
  readonly where: string;
  /** The call that reported it; null: none did. */
  readonly call_id: string | null;
  readonly shown: (book: EvidenceBook) => Html;
}

/** What a page may link to, and which claims cite it. */
export class EvidenceBook {
  readonly entries: readonly Entry[];
  readonly #citing = new Map<string, number[]>();
  readonly #places = new Map<string, number>();

  constructor(entries: readonly Entry[], claims: readonly (readonly string[])[]) {
    this.entries = entries;
    for (const [at, { id }] of entries.slice(0, MOST).entries()) if (!this.#places.has(id)) this.#places.set(id, at);
    for (const [at, ids] of claims.entries())
      for (const id of new Set(ids)) this.#citing.set(id, [...(this.#citing.get(id) ?? []), at + 1]);
  }

  link(id: string): Html {
    const at = this.#places.get(id);
    const name = id.length > LONGEST_ID ? `${sliceText(id, LONGEST_ID)}…` : id;
    if (at === undefined) return html`<span class="handle unknown"><bdi>${name}</bdi></span>`;
    const where = this.entries[at]?.where ?? '';
    return html`<a class="handle" href="#e${at + 1}"><bdi>${name}</bdi> <span class="where"><bdi>${where}</bdi></span></a>`;
  }

  links(ids: readonly string[]): Html {
    const more = ids.length - MOST_LINKS;
    const shown = ids.slice(0, MOST_LINKS).map((id, at) => html`${at > 0 && ' '}${this.link(id)}`);
    return html`<span class="handles">${shown}${more > 0 && html` and ${thousands(more)} more`}</span>`;
  }

  use(id: string): Html {
    const claims = this.#citing.get(id) ?? [];
    if (claims.length === 0) return html`not used`;
    return html`cited by${claims.slice(0, MOST_LINKS).map((number) => html` <a href="#claim-${number}">${number}</a>`)}`;
  }
}

const LONGEST_ID = 60;
const MOST_LINKS = 40;

export function runBook({ row, textOf }: PageGround, { evidence, claims }: RunOutcome): EvidenceBook {
  const chunks = new Map(keptChunks(row.request, textOf).map((chunk) => [chunk.chunk_id, chunk]));
  const entries = evidence.map(({ fact_id: id, chunk_id, text, place, child_call_id: call_id }): Entry => {
    const shown = () => {
      const chunk = chunks.get(chunk_id);
      return chunk === undefined ? inContext('', text) : inContext(chunk.text, text, placeIn(chunk, place));
    };
    return { id, where: place === null ? chunk_id : placeText(place), call_id, shown };
  });
  return new EvidenceBook(
    entries,
    claims.map(({ fact_ids }) => fact_ids),
  );
}

export function askBook(ground: PageGround, { handles, sentences }: AskOutcome): EvidenceBook {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  return new EvidenceBook(
    handles.map((handle) => askEntry(ground, handle, byId)),
    sentences.map((sentence) => sentence.handles),
  );
}

function askEntry(ground: PageGround, handle: Handle, byId: ReadonlyMap<string, Handle>): Entry {
  const { id } = handle;
  if (handle.kind === 'span') {
    const { quote } = handle;
    return { id, where: placeText(handle.place), call_id: null, shown: () => inContext(quote, quote) };
  }
  if (handle.kind === 'computed') {
    const shown = (
      book: EvidenceBook,
    ) => html`${plainText(ground, handle.output)}<p class="dim">from ${book.links(handle.inputs)}</p>
${foldedText(ground, 'Code', handle.code)}`;
    return { id, where: 'computed', call_id: null, shown };
  }
  const over = byId.get(handle.over);
  const lines = over?.kind === 'span' ? over.quote : '';
  const shown = (book: EvidenceBook) =>
    html`${inContext(lines, handle.text)}<p class="dim">over ${book.link(handle.over)}</p>`;
  return { id, where: 'claim', call_id: handle.call_id, shown };
}

/** From where on a quotation is looked for; bytes that are no UTF-8 have moved the text. */
function placeIn({ text, start_byte }: KeptChunk, place: SourcePlace | null): number {
  return place === null ? 0 : Buffer.from(text).toString('utf8', 0, place.start_byte - start_byte).length;
}

const AROUND_LINES = 2;
const AROUND = 400;
const LONGEST_QUOTE = 1_200;

/** The quotation between the lines beside it; alone when it is not found there. */
function inContext(text: string, quote: string, near = 0): Html {
  const next = text.indexOf(quote, near);
  const from = next < 0 ? text.indexOf(quote) : next;
  if (from < 0) return html`<pre dir="auto">${shortText(quote, LONGEST_QUOTE)}</pre>`;
  const before = text.slice(Math.max(0, from - AROUND), from).split('\n');
  const to = from + quote.length;
  const after = text.slice(to, to + AROUND).split('\n');
  const lit = html`<mark>${shortText(quote, LONGEST_QUOTE)}</mark>`;
  const [head, tail] = [before.slice(-1 - AROUND_LINES).join('\n'), after.slice(0, 1 + AROUND_LINES).join('\n')];
  return html`<pre dir="auto">${head.toWellFormed()}${lit}${tail.toWellFormed()}</pre>`;
}

export function evidenceSection(ground: PageGround, book: EvidenceBook): Section {
  const draw = ({ id, where, call_id, shown }: Entry, at: number) => {
    const by = call_id !== null && html` · by ${callLink(ground, call_id)}`;
    return html`<li id="e${at + 1}"><p><strong><bdi>${shortText(id, LONGEST_ID)}</bdi></strong> <code><bdi>${shortText(where, 200)}</bdi></code>
<span class="dim">${by} · ${book.use(id)}</span></p>${shown(book)}</li>
`;
  };
  const { rows, more } = listed(book.entries, draw, { most: MOST, noun: 'quotation', whole: ground.whole });
  const hint = html`<p class="hint">What was quoted, word for word, in the lines where it stands; and what code made of it.</p>`;
  const body =
    rows.length === 0 ? html`<p class="dim">None.</p>` : html`${hint}<ul class="evidence">${rows}</ul>${more}`;
  return { id: 'evidence', title: 'Evidence', count: book.entries.length, body };
}

export function claimsSection({ whole }: PageGround, { claims, summary }: RunOutcome, book: EvidenceBook): Section {
  const draw = ({ text, fact_ids }: RunOutcome['claims'][number], at: number) =>
    html`<li id="claim-${at + 1}"><p dir="auto">${shortText(text)}</p>${book.links(fact_ids)}</li>
`;
  const { rows, more } = listed(claims, draw, { most: MOST, noun: 'claim', whole });
  const none = html`<p class="dim">No claim was accepted.</p>`;
  const said =
    (summary ?? '').trim() !== '' &&
    html`<div class="summary"><h3>In the model's own words</h3>
<p class="hint">Nobody has checked this paragraph; the claims above are what counts.</p><p dir="auto">${shortText(summary ?? '', 4_000)}</p></div>`;
  const list = rows.length === 0 ? none : html`<ol class="claims">${rows}</ol>`;
  return { id: 'claims', title: 'Claims', count: claims.length, body: html`${list}${more}${said}` };
}

export function answerSection({ whole }: PageGround, { sentences, handles }: AskOutcome, book: EvidenceBook): Section {
  const draw = (one: AnswerSentence, at: number) => {
    const cited = one.grade === 'computed' ? handles.filter(({ id }) => one.handles.includes(id)) : [];
    return html`<li id="claim-${at + 1}" class="${one.grade}"><p dir="auto">${shortText(one.text)}</p>
<p class="cited">${gradeWords(one)} ${book.links(one.handles)}</p>${cited.map(valueTable)}</li>
`;
  };
  const { rows, more } = listed(sentences, draw, { most: MOST, noun: 'sentence', whole });
  const body =
    rows.length === 0 ? html`<p class="dim">There is no answer.</p>` : html`<ol class="claims">${rows}</ol>${more}`;
  return { id: 'claims', title: 'Answer', count: sentences.length, body };
}

function gradeWords({ grade, place, why, model }: AnswerSentence): Html {
  const by = model !== '' && html` read by <code>${shortText(model, 80)}</code>`;
  const says = why !== '' && html`: ${shortText(why, 400)}`;
  const where = place !== null && html` <code>${shortText(placeText(place), 200)}</code>`;
  return html`<strong class="grade">${grade.replace('-', ' ')}</strong>${where}${by}${says}`;
}

function valueTable(handle: Handle): Html | null {
  if (handle.kind !== 'computed') return null;
  const rows = valueRows(handle.output).map(
    ([name, value]) => html`<tr><td>${name}</td><td dir="auto">${value}</td></tr>`,
  );
  return table([], rows);
}

export function refusedSection(ground: PageGround, outcome: RunOutcome, book: EvidenceBook): Section | null {
  const { refused, refused_facts } = outcome;
  const most = { most: MOST, whole: ground.whole };
  const parent = listed(refused, (one) => refusedClaim(one, book), { ...most, noun: 'refused claim' });
  const drawFact = ({ call_id, text, reason }: RunOutcome['refused_facts'][number]) =>
    html`<li>${reasonLine(reason)}<blockquote dir="auto">${shortText(text)}</blockquote><p class="cited dim">said by ${callLink(ground, call_id)}</p></li>
`;
  const children = listed(refused_facts, drawFact, { ...most, noun: 'refused quotation' });
  const block = (title: string, { rows, more }: typeof parent) =>
    rows.length > 0 && html`<h3>${title}</h3><ul class="refusals">${rows}</ul>${more}`;
  const count = refused.length + refused_facts.length;
  const body = html`${block('By the gate, in the synthesis', parent)}${block('Quotations of children that their chunk does not hold', children)}`;
  return count === 0 ? null : { id: 'refused', title: 'Refused', count, body };
}

function refusedClaim({ reason, claim, detail }: RejectedClaim, book: EvidenceBook): Html {
  const said = claim.text.trim() !== '' && html`<blockquote dir="auto">${shortText(claim.text)}</blockquote>`;
  const fact = claim.fact_id !== null && html`fact ${book.link(claim.fact_id)} `;
  const chunk = claim.chunk_id !== null && html`chunk <code><bdi>${shortText(claim.chunk_id, 200)}</bdi></code> `;
  return html`<li>${reasonLine(reason)}${said}<p>${shortText(detail, 600)}</p>
<p class="cited dim">${fact}${chunk}in <code>${shortText(claim.surface, 120)}</code></p></li>
`;
}

function reasonLine(reason: string): Html {
  return html`<p><code class="code">${shortText(reason, 120)}</code> ${reasonWords(reason)}</p>`;
}

/** Nothing to tell of a synthesis that was accepted as it came. */
export function repairSection({ repair }: RunOutcome): Section | null {
  if (repair === null || (repair.initial_accept && !repair.repair_attempted)) return null;
  const { repair_attempted, repair_accept, before_after_diff: diff, initial_rejection_reasons } = repair;
  const rows = diff
    .slice(0, MOST)
    .map(
      ({ path, before, after }) =>
        html`<tr><td>${shortText(path, 200)}</td><td>${before}</td><td>${shortText(after, 200)}</td></tr>`,
    );
  const end = repair_accept
    ? html`With it the gate accepted the synthesis.`
    : html`The gate refused it all the same: <code>${repair.repair_failure_reason ?? 'unknown'}</code>.`;
  const tried = html`<p>The synthesis left out where ${counted(diff.length, 'quotation')} stood. The controller filled that in from what the
children of this run reported, without asking a model, and changed nothing else. ${end}</p>${table(['Field', 'Was', 'Filled in'], rows)}`;
  const notTried = html`<p>Nothing was repaired: only handles that were left out can be filled in, and only when the children of this run
know them. Why not here: <code>${repair.failure_reason ?? 'unknown'}</code>.</p>${[...new Set<string>(initial_rejection_reasons)].map(reasonLine)}`;
  return { id: 'repair', title: 'Repair', count: null, body: repair_attempted ? tried : notTried };
}

/** `gaps` is all that an ask tells; null then when there is none. */
export function unreadSection({ whole }: PageGround, outcome: RunOutcome | AskOutcome): Section | null {
  const { gaps } = outcome;
  const { omitted, boundaries } = 'omitted' in outcome ? outcome : { omitted: [], boundaries: [] };
  const all: readonly RunGap[] = [
    ...boundaries.map(({ source_path, last_retained_line, omitted_line_count: left }) => {
      return {
        what: source_path,
        why: `read up to line ${thousands(last_retained_line)}, ${counted(left, 'line')} after it not`,
      };
    }),
    ...gaps,
    ...omitted.map(({ chunk_id: what, reason }) => ({ what, why: `not read: ${reasonWords(reason) ?? reason}` })),
  ];
  const draw = ({ what, why }: RunGap) =>
    html`<li dir="auto">${shortText(what, 600)}<br><span class="dim">${shortText(why, 600)}</span></li>
`;
  const { rows, more } = listed(all, draw, { most: MOST, noun: 'gap', whole });
  if (rows.length === 0 && !('omitted' in outcome)) return null;
  const none = html`<p class="dim">The whole target was read, and no gap was reported.</p>`;
  const body = rows.length === 0 ? none : html`<ul>${rows}</ul>${more}`;
  return { id: 'unread', title: 'Not read, not known', count: gaps.length + omitted.length, body };
}

const MOST_STEPS = 200;

/** Of an ask; null: no code ran. */
export function stepsSection(ground: PageGround, book: EvidenceBook): Section | null {
  const steps = ground.events.filter(
    ({ type, data }) => type === 'rlm.state.committed' && typeof data.code === 'string',
  );
  const { rows, more } = listed(steps, (event) => drawStep(ground, event, book), {
    most: MOST_STEPS,
    noun: 'step',
    whole: ground.whole,
  });
  const body = html`<ul class="steps">${rows}</ul>${more}`;
  return steps.length === 0 ? null : { id: 'steps', title: 'Steps', count: steps.length, body };
}

function drawStep(ground: PageGround, { data, node_id }: RunEvent, book: EvidenceBook): Html {
  const call = ground.calls.find(({ rlm_node_id }) => rlm_node_id === node_id);
  const by = call && html` <span class="dim">by ${callLink(ground, call.call_id)}</span>`;
  const [code, output, failure] = [data.code, data.output, data.failure].map((one) =>
    typeof one === 'string' ? one : '',
  );
  const unseen = typeof data.cut === 'number' ? data.cut : 0;
  const handles = idsOf(data.handles);
  return html`<li><p><strong>Step ${typeof data.step === 'number' && data.step}</strong>${by}</p>
${plainText(ground, code ?? '')}${failure !== '' && html`<p class="failure">${shortText(failure ?? '', 600)}</p>`}${foldedText(ground, 'Printed', output ?? '')}
${unseen > 0 && html`<p class="cut">${counted(unseen, 'more character')} of output were not shown to the model.</p>`}
${handles.length > 0 && html`<p class="dim">Made ${book.links(handles)}</p>`}</li>
`;
}

function idsOf(handles: JsonValue | undefined): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(handles) ? handles : [];
  return list.map((handle) => (isJsonObject(handle) ? handle.id : handle)).filter((id) => typeof id === 'string');
}
