// Owns the answer of an ask, in its order: each sentence with its grade, what was quoted with its place, what code computed as a table.
// Invariant: what nothing supports stands where the answer has it, marked, with why.
import type { AnswerSentence, AskOutcome, Grade } from '../../ask/ask-outcome.ts';
import { valueRows } from '../../ask/view/ask-lines.ts';
import { placeText } from '../../run/place-text.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLinks } from '../source/handle-book.ts';

const MOST = 500;

export function answerSection({ whole }: PageGround, outcome: AskOutcome, book: HandleBook): Section {
  const { sentences } = outcome;
  const { shown, left } = firstOf(sentences, MOST);
  const list = shown.map(
    (one, at) => html`<li id="claim-${at + 1}" class="${one.grade}"><p dir="auto">${shortText(one.text)}</p>
<p class="cited">${gradeWords(one)} ${handleLinks(book, one.handles)}</p>${one.grade === 'computed' && tables(one, outcome)}</li>
`,
  );
  const none = sentences.length === 0 && html`<p class="dim">There is no answer.</p>`;
  const body = html`${none}${list.length > 0 && html`<ol class="claims">${list}</ol>`}${leftNote(left, 'sentence', whole)}`;
  return { id: 'claims', title: 'Answer', count: sentences.length, body };
}

const WORDS: Readonly<Record<Grade, string>> = {
  quoted: 'quoted',
  supported: 'supported',
  'not-supported': 'not supported',
  computed: 'computed',
};

function gradeWords({ grade, place, why, model }: AnswerSentence): Html {
  const by = model !== '' && html` read by <code>${shortText(model, 80)}</code>`;
  const says = why !== '' && html`: ${shortText(why, 400)}`;
  const where = place !== null && html` <code>${shortText(placeText(place), 200)}</code>`;
  return html`<strong class="grade">${WORDS[grade]}</strong>${where}${by}${says}`;
}

function tables({ handles }: AnswerSentence, outcome: AskOutcome): readonly Html[] {
  const made = outcome.handles.filter(({ id, kind }) => kind === 'computed' && handles.includes(id));
  return made.map((handle) => {
    const rows = handle.kind === 'computed' ? valueRows(handle.output) : [];
    return html`<table class="evidence"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td dir="auto">${value}</td></tr>`)}</tbody></table>`;
  });
}
