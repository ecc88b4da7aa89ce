// Owns what the source pane of a run holds: for each chunk that was quoted its lines, and who cites what stands there.
import type { FreshFact, RunOutcome } from '../../run/run-outcome.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import type { Mark } from './cut-stretches.ts';
import { type HandleBook, handleBook, handleLink } from './handle-book.ts';
import { findQuote, type KeptChunk, keptChunks } from './kept-chunk.ts';
import type { SourceBlock } from './source-pane.ts';

export function runHandles({ evidence }: RunOutcome, most: number): HandleBook {
  return handleBook(evidence.slice(0, most).map((fact) => ({ id: fact.fact_id, where: whereOf(fact) })));
}

function whereOf({ place, chunk_id }: FreshFact): string {
  if (place === null) return chunk_id;
  const { source_path, start_line, end_line } = place;
  return `${source_path}:${start_line === end_line ? start_line : `${start_line}-${end_line}`}`;
}

/** In the order of the chunks; a chunk whose text is gone, or that holds no quotation, makes no block. */
export function runSources({ row, textOf }: PageGround, outcome: RunOutcome, book: HandleBook): readonly SourceBlock[] {
  const facts = outcome.evidence
    .slice(0, book.all.length)
    .map((fact, at) => ({ fact, anchor: book.all[at]?.anchor ?? '' }));
  const byChunk = Map.groupBy(facts, ({ fact }) => fact.chunk_id);
  const citing = citations(outcome);
  return keptChunks(row.request, textOf).flatMap((chunk) => {
    const here = byChunk.get(chunk.chunk_id) ?? [];
    const marks = here.flatMap(({ fact, anchor }) => markOf(chunk, fact, anchor));
    if (marks.length === 0) return [];
    const refs = here.map(({ fact }) => refOf(fact, book, citing.get(fact.fact_id) ?? []));
    return [{ title: chunk.chunk_id, text: chunk.text, firstLine: chunk.start_line, marks, refs }];
  });
}

function markOf(chunk: KeptChunk, { text, place }: FreshFact, anchor: string): readonly Mark[] {
  const range = findQuote(chunk, text, place);
  return range === null ? [] : [{ ...range, anchor }];
}

/** Fact to the numbers of the claims that name it. */
function citations({ claims }: RunOutcome): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const [at, { fact_ids }] of claims.entries()) {
    for (const id of new Set(fact_ids)) found.set(id, [...(found.get(id) ?? []), at + 1]);
  }
  return found;
}

const MOST_CLAIMS = 8;

function refOf({ fact_id }: FreshFact, book: HandleBook, claims: readonly number[]): Html {
  if (claims.length === 0) return html`${handleLink(book, fact_id)} <span class="dim">not used</span>`;
  return html`${handleLink(book, fact_id)} <span class="dim">cited by</span>${claimLinks(claims)}`;
}

export function claimLinks(claims: readonly number[]): Html {
  const links = claims.slice(0, MOST_CLAIMS).map((number) => html` <a href="#claim-${number}">${number}</a>`);
  return html`${links}${claims.length > MOST_CLAIMS && html` …`}`;
}
