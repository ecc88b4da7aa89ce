// Owns the answer of an ask: sentences that their handles support, and apart from them those that nothing supports, with what is missing.
import type { AnswerSentence, AskOutcome } from '../../ask/ask-outcome.ts';
import { firstOf, leftNote, shortText } from '../markup/cut-text.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import type { Section } from '../parts/section.ts';
import { type HandleBook, handleLinks } from '../source/handle-book.ts';

const MOST = 500;
const MISSING = 20;

export function answerSection({ whole }: PageGround, { sentences }: AskOutcome, book: HandleBook): Section {
  const { shown, left } = firstOf(sentences, MOST);
  const numbered = shown.map((sentence, at) => ({ sentence, at }));
  const cited = numbered.filter(({ sentence }) => sentence.status === 'cited');
  const rest = numbered.filter(({ sentence }) => sentence.status !== 'cited');
  const list = cited.map(
    ({ sentence, at }) => html`<li id="claim-${at + 1}" value="${at + 1}">${said(sentence, book)}</li>
`,
  );
  const none = cited.length === 0 && html`<p class="dim">No sentence is cited.</p>`;
  const body = html`${none}${list.length > 0 && html`<ol class="claims">${list}</ol>`}${unsupported(rest, book)}${leftNote(left, 'sentence', whole)}`;
  return { id: 'claims', title: 'Answer', count: sentences.length, body };
}

function said({ text, handles }: AnswerSentence, book: HandleBook): Html {
  return html`<p dir="auto">${shortText(text)}</p>${handleLinks(book, handles)}`;
}

function unsupported(
  rest: readonly { readonly sentence: AnswerSentence; readonly at: number }[],
  book: HandleBook,
): Html | null {
  if (rest.length === 0) return null;
  const rows = rest.map(({ sentence, at }) => {
    const { missing } = sentence;
    const words = missing
      .slice(0, MISSING)
      .map((word, n) => html`${n > 0 && ', '}<code dir="auto">${shortText(word, 200)}</code>`);
    const more = missing.length > MISSING && html` and ${missing.length - MISSING} more`;
    const why = missing.length > 0 && html`<p class="cited">No handle holds ${words}${more}.</p>`;
    return html`<li id="claim-${at + 1}">${said(sentence, book)}${why}</li>
`;
  });
  return html`<h3>Not supported</h3><ul class="refusals">${rows}</ul>`;
}
