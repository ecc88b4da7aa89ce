// Owns the file around a page: head, policy, style. Knows no run.
// Invariant: the file asks for nothing: no script, no font, no picture, no address; the policy forbids them, and the one style is named by hash.
import { createHash } from 'node:crypto';
import { type Html, html, markupOf } from './markup/html.ts';
import { PAGE_STYLE } from './page-style.ts';

export interface Frame {
  readonly title: string;
  /** Rules of this page alone; made from numbers, never from texts of a run. */
  readonly rules: string;
  readonly body: Html;
}

export function pageFile({ title, rules, body }: Frame): string {
  const style = `${PAGE_STYLE}\n${rules}`;
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
${markupOf(html`<title>${title}</title>`)}
<style>${style}</style>
</head>
<body>
${markupOf(body)}</body>
</html>
`;
}
