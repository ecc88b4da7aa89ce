// Owns a section of a page: its anchor, its title with a count, its entry in the list of contents. Knows no content.
import { thousands } from '../markup/figures.ts';
import { type Html, html } from '../markup/html.ts';

export interface Section {
  /** Also its anchor. */
  readonly id: string;
  readonly title: string;
  /** Shown beside the title; null: nothing to count. */
  readonly count: number | null;
  readonly body: Html;
}

export function drawSection({ id, title, count, body }: Section): Html {
  const badge = count !== null && html` <span class="count">${thousands(count)}</span>`;
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}${badge}</h2>
${body}
</section>
`;
}

export function contents(sections: readonly Pick<Section, 'id' | 'title' | 'count'>[]): Html {
  const entries = sections.map(
    ({ id, title, count }) =>
      html`<li><a href="#${id}">${title}${count !== null && html` <span class="count">${thousands(count)}</span>`}</a></li>`,
  );
  return html`<nav aria-label="On this page"><ul>${entries}</ul></nav>
`;
}
