// Owns the pages of the catalogue, which need no script: what is on sale, and of one listing all that can be known before paying, with what the
// market cannot protect. Knows no shop.
import { isoTime } from '#base/clock.ts';
import { isJsonObject, type JsonValue, parseJson, textOf } from '#base/json.ts';
import { counted, type Html, html, pageFile, shortText, table } from '#base/text/page.ts';
import type { Listing } from './listing.ts';
import { dollars } from './market-rows.ts';

export interface Page {
  readonly listings: readonly JsonValue[];
  /** Micro-USDC, by id. */
  readonly prices: Readonly<Record<string, string>>;
  /** Of the page behind; empty: there is none. */
  readonly next: string;
}

/** What the market cannot do. */
const UNPROTECTED = [
  'A buyer who opened the key and lets the job expire has the text for nothing. The seller’s guards are the price, and an agent who decides in the buyer’s place.',
  'What was bought can be copied. Resale pays the first creator only where it is sold as a resale.',
  'Whoever pays at once, without escrow, does not get his money back.',
  'Confidence and uses are what the seller’s record says; a review is of somebody who bought it and accepted it.',
].map((line) => html`<li>${line}</li>`);
const LIMITS = html`<section><h2>What this market cannot protect</h2><ul>${UNPROTECTED}</ul></section>`;

export function catalogueList({ listings, prices, next }: Page, category: string | undefined): string {
  const rows = (listings as unknown as readonly Listing[]).map((one) => {
    const name = html`<a href="/skills/${one.id}">${shortText(one.name, 80)}</a>`;
    const kind = html`<a href="/?category=${encodeURIComponent(one.category)}">${one.category}</a>`;
    const price = dollars(BigInt(prices[one.id] ?? '0'));
    const cells = [name, kind, price, percent(one.confidence), one.validated_count, isResale(one), when(one.listed_at)];
    return html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
  });
  const body =
    rows.length === 0
      ? html`<p>Nothing is on sale here.</p>`
      : table(['Skill', 'Category', 'Price now', 'Confidence', 'Verified uses', 'Origin', 'Listed'], rows);
  const query = category === undefined ? '' : `&category=${encodeURIComponent(category)}`;
  const more = next !== '' && html`<p><a href="/?before=${next}${query}">Older ones</a></p>`;
  const only = category !== undefined && html`<p>Only ${category}. <a href="/">All</a></p>`;
  return pageFile('Skills on sale', html`<main><h1>Skills on sale</h1>${only}${body}${more}${LIMITS}</main>`);
}

export function cataloguePage(listing: Listing, price: bigint, reviews: readonly string[]): string {
  const facts: readonly (readonly [string, string])[] = [
    [
      'Price now',
      `${dollars(price)} (from ${dollars(BigInt(listing.base_price))}; it falls with each hour, to a tenth)`,
    ],
    ['Confidence', percent(listing.confidence)],
    ['Verified uses', String(listing.validated_count)],
    ['Version', String(listing.version)],
    ['Made by', listing.lineage.join(' → ') || 'not said'],
    ['Seller', listing.seller],
    ['First creator', listing.creator ?? 'the seller'],
    ['Who decides', listing.evaluator === 'buyer' ? 'the buyer, within an hour' : listing.evaluator],
    ['Gives the key when the seller is away', listing.agent.address],
    ['Content, SHA-256', listing.content_hash],
    ['Listed', when(listing.listed_at)],
  ];
  const rows = facts.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
  const kind = listing.item === 'skill' ? 'A skill' : 'An entry of a Grimoire';
  const parts = [
    html`<p><a href="/">All skills</a></p><h1>${listing.name}</h1><p>${kind} · ${listing.category}</p>`,
    html`<div class="scroll" tabindex="0"><table><tbody>${rows}</tbody></table></div>`,
    html`<h2>The first 500 characters</h2><pre>${listing.preview}</pre>`,
    html`<h2>To buy it</h2><pre>talaria market buy ${listing.id}</pre>`,
    ...[opinions(reviews), LIMITS],
  ];
  return pageFile(`${listing.name} — skills on sale`, html`<main>${parts}</main>`);
}

function opinions(reviews: readonly string[]): Html {
  const read = reviews.flatMap((one) => {
    const said = parseJson(one);
    return said.ok && isJsonObject(said.value) ? [said.value] : [];
  });
  const items = read.map(({ stars, text, record }) => {
    const { uses, successes } = isJsonObject(record ?? null) ? (record as Record<string, number>) : {};
    return html`<li>${String(stars)} of 5: ${shortText(textOf(text), 1_000)}${uses !== undefined && html` (worked ${String(successes)} of ${counted(uses, 'time')} there)`}</li>`;
  });
  return html`<h2>Of buyers</h2>${items.length === 0 ? html`<p>Nobody has said anything yet.</p>` : html`<ul>${items}</ul>`}`;
}

function isResale({ creator, seller }: Listing): string {
  return creator === undefined || creator === seller ? 'made by its seller' : 'sold on';
}

function percent(confidence: number): string {
  return `${Math.round(confidence * 100)} %`;
}

function when(at: number): string {
  return isoTime(at).slice(0, 16).replace('T', ' ');
}
