// Owns what handles are called on a page: a short anchor for each, whatever its id holds, and the link that leads to its place.
// Invariant: an id that names no handle gets no link; anchors are made here alone, from numbers.
import { sliceText } from '#base/text.ts';
import { type Html, html } from '../markup/html.ts';

export interface BookedHandle {
  readonly id: string;
  /** `e1`, also a class of everything that stands for it. */
  readonly anchor: string;
  /** Shown beside the id: where it points. */
  readonly where: string | null;
}

export interface HandleBook {
  readonly all: readonly BookedHandle[];
  readonly find: (id: string) => BookedHandle | undefined;
}

/** Of handles with one id the first counts. */
export function handleBook(handles: readonly Omit<BookedHandle, 'anchor'>[]): HandleBook {
  const byId = new Map<string, BookedHandle>();
  const all = handles.map((handle, at) => ({ ...handle, anchor: `e${at + 1}` }));
  for (const handle of all) if (!byId.has(handle.id)) byId.set(handle.id, handle);
  return { all, find: (id) => byId.get(id) };
}

const LONGEST_ID = 60;

export function handleLink(book: HandleBook, id: string): Html {
  const handle = book.find(id);
  const name = id.length > LONGEST_ID ? `${sliceText(id, LONGEST_ID)}…` : id;
  if (handle === undefined) return html`<span class="handle unknown"><bdi>${name}</bdi></span>`;
  const where = handle.where === null ? null : html` <span class="where"><bdi>${handle.where}</bdi></span>`;
  return html`<a class="handle ${handle.anchor}" href="#${handle.anchor}"><bdi>${name}</bdi>${where}</a>`;
}

export function handleLinks(book: HandleBook, ids: readonly string[]): Html {
  return html`<span class="handles">${ids.map((id, at) => html`${at > 0 && ' '}${handleLink(book, id)}`)}</span>`;
}

/** Links of the text light up too: each rule looks through the whole page, so only when they are few. */
const MOST_LINKED = 60;

/** The rules that light up what stands for the handle that the address names; without any script. A quotation is lit within its block. */
export function handleRules({ all }: HandleBook): string {
  if (all.length === 0) return '';
  const within = (where: string, what: string) =>
    all.map(({ anchor }) => `${where}:has(#${anchor}:target) ${what}.${anchor}`).join(',');
  const links = within(all.length > MOST_LINKED ? '.block' : 'body', 'a');
  return `${within('.block', 'mark')}{background:var(--lit);color:var(--lit-ink);box-shadow:0 0 0 2px var(--lit)}
${links}{background:var(--lit);border-color:var(--lit);color:var(--lit-ink);--dim:var(--lit-ink)}`;
}
