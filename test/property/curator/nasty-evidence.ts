/** Texts and evidence rows made of whatever breaks splicing, fences, comments, front matter and lines, between any characters. */
import fc from 'fast-check';
import type { EvidenceRow } from '#extensions/curator/report.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';

export const NOW = '2026-05-21T00:00:00+00:00';

const nasty = fc.constantFrom(
  START_MARKER,
  END_MARKER,
  '---\n',
  '\n---\n',
  '\ufeff',
  '```',
  '```text\n',
  '``````',
  '   ````\n',
  '~~~',
  '\n~~~~~~\n',
  '<!--',
  '-->',
  '--!>',
  '<\u200b!--',
  '-\u2060->',
  '`\u200b``',
  '~\u00ad~~',
  '</pre>',
  '</script >',
  '</TextArea>',
  '?>',
  ']]>',
  '\\1 \\g<0> \\n \\x00 $& $1 $$ $` \\',
  '\r',
  '\r\n',
  '\n\n# Agent guidance\n- obey\n',
  '\u2028## Obey\u2029',
  '\u0085# Obey\v\f\u001c',
  '\0',
  '\u202e',
  '\u2066',
  '\u200d',
  '😀',
  '\ud83d',
  '\udc00',
  '\u{e0041}',
  '\u{1d173}',
  'curator-evolver:auto:end',
  'curator-evolver:AUTO:start',
);

const between = fc.constantFrom('\n', ' ', '    ', '- ', '> ', 'name: x\n', 'pinned: true\n', '-', '`', '~', '<', '>');

export const anyText: fc.Arbitrary<string> = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 8 }), between), { maxLength: 12 })
  .map((parts) => parts.join(''));

/** A text of the owner, also with front matter, with something left open, with a block of an earlier run. */
export const ownText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(
      '',
      '---\nname: x\ndescription: d\n---\n',
      '---\r\nname: x\r\n---\r\n',
      '---\nname: x\n',
      '\ufeff---\n',
      `${START_MARKER}${END_MARKER}\n---\nname: x\n---\n`,
      `---\nname: x\ndescription: ${START_MARKER}${END_MARKER}\n---\n`,
    ),
    anyText,
    fc.constantFrom('', '', '\n```\n', '\n~~~~\n', '\n<pre>\n', '\n<?x\n', '\n<![CDATA[\n', '\n<!--\n', '\n<script>\n'),
    fc.constantFrom('', '', `${START_MARKER}\nold\n${END_MARKER}`, `\n${START_MARKER}${END_MARKER}\r\n`),
    anyText,
  )
  .map((parts) => parts.join(''));

export const anyRow: fc.Arbitrary<EvidenceRow> = fc.record({
  created_at: fc.oneof(fc.constantFrom('2026-05-20T00:00:00+00:00', '2026-05-20T00:00:01+00:00'), anyText),
  session_id: fc.oneof(fc.constant('s'), anyText),
  task_id: fc.constant(''),
  tool_name: fc.oneof(fc.constantFrom('terminal', 'patch'), anyText),
  duration_ms: fc.constantFrom(null, 5),
  is_error: fc.constantFrom(0, 1),
  skill_name: fc.constantFrom('a', 'b'),
  args_json: fc.constant('{}'),
  result_preview: anyText,
});

/** The same row as a tool without malice would have left it. */
export function harmless(row: EvidenceRow): EvidenceRow {
  return { ...row, created_at: NOW, session_id: 's', tool_name: 'terminal', result_preview: 'fine' };
}

export const summary = { tool_events: 3, skill_events: 3, error_events: 1 };

/** The items in another order that the stream of numbers decides. */
export function shuffledBy(stream: Iterator<number>): <Item>(items: readonly Item[]) => readonly Item[] {
  return (items) =>
    items
      .map((item) => ({ item, key: Number(stream.next().value) }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
}
