// Owns the page of a run: one file of HTML that needs nothing else, made from what the trace holds. Knows no file and no clock.
// Invariant: equal input gives an equal page; every text in it is escaped; what is left out is counted and says where it is to be seen.
// Serves seed 003: a run is shown with its tree, its calls, what was accepted and refused, and the lines that handles point to.
import { ellipsize } from '#base/text.ts';
import type { AskOutcome } from '../ask/ask-outcome.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import type { TextBudget } from './markup/cut-text.ts';
import { type Html, html } from './markup/html.ts';
import { pageFile } from './page-frame.ts';
import type { PageGround, RunPageInput } from './page-input.ts';
import { foldedText } from './parts/folded-text.ts';
import { contents, drawSection, type Section } from './parts/section.ts';
import { readOutcome } from './read-outcome.ts';
import { answerSection } from './sections/answer-section.ts';
import { callsSection } from './sections/calls-section.ts';
import { claimsSection } from './sections/claims-section.ts';
import { eventsSection } from './sections/events-section.ts';
import { evidenceSection, MOST_EVIDENCE } from './sections/evidence-section.ts';
import { handlesSection, MOST_HANDLES } from './sections/handles-section.ts';
import { headerSection, questionOf } from './sections/header-section.ts';
import { recordSection } from './sections/record-section.ts';
import { refusedSection } from './sections/refused-section.ts';
import { repairSection } from './sections/repair-section.ts';
import { stepsSection } from './sections/steps-section.ts';
import { treeSection } from './sections/tree-section.ts';
import { gapSection, unreadSection } from './sections/unread-section.ts';
import { askHandles, askSources } from './source/ask-sources.ts';
import { type HandleBook, handleBook, handleRules } from './source/handle-book.ts';
import { runHandles, runSources } from './source/run-sources.ts';
import { type SourcePane, sourcePane } from './source/source-pane.ts';

/** Characters of all prompts, replies, code and outputs together. */
const ALL_TEXTS = 6_000_000;

interface Drawn {
  readonly sections: readonly Section[];
  readonly book: HandleBook;
  readonly pane: SourcePane;
}

export function renderRunPage(input: RunPageInput): string {
  const budget: TextBudget = { left: ALL_TEXTS };
  const ground: PageGround = { ...input, budget, whole: `talaria rlm show ${input.row.run_id} --export run.json` };
  const read = readOutcome(input.row.outcome);
  const { sections, book, pane } =
    read.kind === 'run'
      ? drawRun(ground, read.outcome)
      : read.kind === 'ask'
        ? drawAsk(ground, read.outcome)
        : drawOther(ground);
  const end = [eventsSection(ground), recordSection(ground)];
  const all = [...sections, ...end];
  const listed =
    pane.markup === null
      ? all
      : [...all.slice(0, 1), { id: 'sources', title: 'Sources', count: null }, ...all.slice(1)];
  const body = html`<div class="page${pane.markup !== null && ' paned'}">
<main>
${headerSection(ground, read)}${contents(listed)}${all.map(drawSection)}</main>
${pane.markup}</div>
`;
  return pageFile({ title: `${ellipsize(questionOf(ground, read), 80)} · Talaria`, rules: handleRules(book), body });
}

function drawRun(ground: PageGround, outcome: RunOutcome): Drawn {
  const book = runHandles(outcome, MOST_EVIDENCE);
  const pane = sourcePane(runSources(ground, outcome, book), ground.whole);
  const sections = [
    claimsSection(ground, outcome, book),
    refusedSection(ground, outcome, book),
    repairSection(outcome),
    unreadSection(ground, outcome),
    treeSection(ground, outcome),
    evidenceSection(ground, outcome, { book, pane }),
  ];
  return { sections: sections.filter((section) => section !== null), book, pane };
}

function drawAsk(ground: PageGround, outcome: AskOutcome): Drawn {
  const book = askHandles(outcome, MOST_HANDLES);
  const pane = sourcePane(askSources(ground, outcome, book), ground.whole);
  const sections = [
    answerSection(ground, outcome, book),
    gapSection(ground, outcome.gaps),
    stepsSection(ground, book),
    callsSection(ground),
    handlesSection(ground, outcome, { book, pane }),
  ];
  return { sections: sections.filter((section) => section !== null), book, pane };
}

/** No outcome, or one that this version does not know: what there is, as it is. */
function drawOther(ground: PageGround): Drawn {
  const { outcome } = ground.row;
  const body: Html =
    outcome === null
      ? html`<p class="dim">No outcome is stored.</p>`
      : foldedText(ground, 'As it is stored', JSON.stringify(outcome));
  const section = { id: 'outcome', title: 'Outcome', count: null, body };
  const pane: SourcePane = { markup: null, placed: new Set() };
  return { sections: [section, callsSection(ground)], book: handleBook([]), pane };
}
