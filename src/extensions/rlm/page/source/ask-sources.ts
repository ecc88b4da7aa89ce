// Owns what the source pane of an ask holds: the handles that sentences cite, and what those rest on in turn, down to the source.

import { sliceText } from '#base/text.ts';
import type { AskOutcome, ChildHandle, Handle, SpanHandle } from '../../ask/ask-outcome.ts';
import { type Html, html } from '../markup/html.ts';
import type { PageGround } from '../page-input.ts';
import { plainText } from '../parts/folded-text.ts';
import type { Mark } from './cut-stretches.ts';
import { type HandleBook, handleBook, handleLink, handleLinks } from './handle-book.ts';
import { findWords } from './kept-chunk.ts';
import { claimLinks } from './run-sources.ts';
import type { SourceBlock } from './source-pane.ts';

export function askHandles({ handles }: AskOutcome, most: number): HandleBook {
  return handleBook(handles.slice(0, most).map((handle) => ({ id: handle.id, where: whereOf(handle) })));
}

function whereOf(handle: Handle): string {
  if (handle.kind === 'child') return 'claim';
  if (handle.kind === 'computed') return 'computed';
  const { source_path, start_line, end_line } = handle.place;
  return `${source_path}:${start_line === end_line ? start_line : `${start_line}-${end_line}`}`;
}

interface Ground {
  readonly page: PageGround;
  readonly book: HandleBook;
  readonly byId: ReadonlyMap<string, Handle>;
  readonly citing: ReadonlyMap<string, readonly number[]>;
}

/** In the order in which they are first cited; claims of sub-calls stand in the span that they were made over. */
export function askSources(page: PageGround, outcome: AskOutcome, book: HandleBook): readonly SourceBlock[] {
  const byId = new Map(outcome.handles.slice(0, book.all.length).map((handle) => [handle.id, handle] as const));
  const ground: Ground = { page, book, byId, citing: citations(outcome) };
  const needed = neededHandles(outcome, byId);
  const placed = new Set<string>();
  return needed.flatMap((handle) => {
    if (placed.has(handle.id)) return [];
    const inside = handle.kind === 'span' ? claimsOver(handle, needed) : [];
    for (const one of [handle, ...inside]) placed.add(one.id);
    return [blockOf(ground, handle, inside)];
  });
}

function neededHandles({ sentences }: AskOutcome, byId: Ground['byId']): readonly Handle[] {
  const found = new Map<string, Handle>();
  const open = sentences.flatMap(({ handles }) => handles);
  for (let at = 0; at < open.length; at += 1) {
    const handle = byId.get(open[at] ?? '');
    if (handle === undefined || found.has(handle.id)) continue;
    found.set(handle.id, handle);
    if (handle.kind === 'child') open.push(handle.over);
    if (handle.kind === 'computed') open.push(...handle.inputs);
  }
  // Spans first: a claim that stands in one is drawn there.
  const all = [...found.values()];
  return [...all.filter(({ kind }) => kind === 'span'), ...all.filter(({ kind }) => kind !== 'span')];
}

function claimsOver(span: SpanHandle, needed: readonly Handle[]): readonly ChildHandle[] {
  return needed.filter(
    (handle): handle is ChildHandle =>
      handle.kind === 'child' && handle.over === span.id && findWords(span.quote, handle.text) !== null,
  );
}

function blockOf(ground: Ground, handle: Handle, inside: readonly ChildHandle[]): SourceBlock {
  const refs = [handle, ...inside].map((one) => refOf(ground, one));
  switch (handle.kind) {
    case 'span': {
      const marks = [whole(ground, handle, handle.quote), ...inside.flatMap((child) => markIn(ground, handle, child))];
      const firstLine = handle.place.start_line;
      return { title: whereOf(handle), text: handle.quote, firstLine, marks, refs, around: 0 };
    }
    case 'child':
      return bare(`Claim over ${sliceText(handle.over, 60)}`, handle.text, [whole(ground, handle, handle.text)], refs);
    case 'computed':
      return bare(
        'Computed',
        handle.output,
        [whole(ground, handle, handle.output)],
        [...refs, ...workings(ground, handle)],
      );
  }
}

function bare(title: string, text: string, marks: readonly Mark[], refs: readonly Html[]): SourceBlock {
  return { title, text, firstLine: null, marks, refs, around: 0 };
}

function whole({ book }: Ground, { id }: Handle, text: string): Mark {
  return { anchor: book.find(id)?.anchor ?? '', from: 0, to: text.length };
}

function markIn({ book }: Ground, span: SpanHandle, child: ChildHandle): readonly Mark[] {
  const range = findWords(span.quote, child.text);
  return range === null ? [] : [{ ...range, anchor: book.find(child.id)?.anchor ?? '' }];
}

function workings({ page, book }: Ground, { code, inputs }: Extract<Handle, { kind: 'computed' }>): readonly Html[] {
  const from = html`<span class="dim">from</span> ${handleLinks(book, inputs.slice(0, 40))}`;
  return [from, html`<details><summary>Code</summary>${plainText(page, code)}</details>`];
}

function refOf({ book, citing }: Ground, { id }: Handle): Html {
  const claims = citing.get(id) ?? [];
  const used =
    claims.length > 0
      ? html`<span class="dim">cited by</span>${claimLinks(claims)}`
      : html`<span class="dim">carries others</span>`;
  return html`${handleLink(book, id)} ${used}`;
}

function citations({ sentences }: AskOutcome): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const [at, { handles }] of sentences.entries()) {
    for (const id of new Set(handles)) found.set(id, [...(found.get(id) ?? []), at + 1]);
  }
  return found;
}
