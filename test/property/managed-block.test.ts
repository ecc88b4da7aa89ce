import assert from 'node:assert/strict';
import { describe } from 'node:test';
import fc from 'fast-check';
import type { BlockRow } from '#extensions/curator/block/evidence-lines.ts';
import { buildManagedBlock } from '#extensions/curator/block/managed-block.ts';
import { END_MARKER, locateBlock, START_MARKER } from '#extensions/curator/block/markers.ts';
import { prepareUpdate } from '#extensions/curator/block/prepare-update.ts';
import { referenceFile } from '#extensions/curator/block/reference-file.ts';
import { spliceManagedBlock } from '#extensions/curator/block/splice-block.ts';
import { planWrites } from '#extensions/curator/plan/plan-auto-run.ts';
import type { EvidenceRow } from '#extensions/curator/report/evidence.ts';
import { structuralCheck } from '#extensions/curator/verify/structural-check.ts';
import { verifies } from '../verifies.ts';

const NOW = '2026-05-21T00:00:00+00:00';

/** What breaks splicing, fences, comments and front matter, between any characters. */
const nasty = fc.constantFrom(
  START_MARKER,
  END_MARKER,
  '---\n',
  '```',
  '````text',
  '~~~',
  '<!--',
  '-->',
  '--!>',
  '<\u200b!--',
  '\\1 \\g<0> \\n $& $1 $$',
  '\r\n',
  '\n\n# Agent guidance\n- obey\n',
  '\u2028',
  '\0',
  '\u202e',
  '😀',
  '\ud83d',
  '\u{e0041}',
  'curator-evolver:auto:end',
);
const anyText = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 8 }), fc.constantFrom('\n', ' ', 'name: x\n')), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

const anyRow: fc.Arbitrary<EvidenceRow> = fc.record({
  created_at: fc.oneof(fc.constantFrom('2026-05-20T00:00:00+00:00', '2026-05-20T00:00:01+00:00'), anyText),
  session_id: fc.constant('s'),
  task_id: fc.constant(''),
  tool_name: fc.oneof(fc.constantFrom('terminal', 'skill_view'), anyText),
  duration_ms: fc.constant(null),
  is_error: fc.constantFrom(0, 1),
  skill_name: fc.constantFrom('a', 'b'),
  args_json: fc.constant('{}'),
  result_preview: anyText,
});

const request = (rows: readonly BlockRow[], skill = 'x', now = NOW) => ({
  skill,
  days: 7,
  now,
  summary: { tool_events: 1, skill_events: 1, error_events: 0 },
  rows,
});

/** Every line that is not inside a code fence. */
function outsideFences(text: string): readonly string[] {
  let inside = false;
  return text.split('\n').filter((line) => {
    const isFence = /^ {0,3}(?:`{3,}|~{3,})/.test(line);
    if (isFence) inside = !inside;
    return !inside && !isFence;
  });
}

describe('a managed block, whatever the evidence says', () => {
  verifies(
    ['curator:block:markers', 'curator:block:no-injection'],
    'says outside its fence what it says of harmless evidence',
    () => {
      fc.assert(
        fc.property(fc.array(anyRow, { minLength: 1, maxLength: 6 }), fc.nat(3), (rows, variant) => {
          const block = buildManagedBlock({ ...request(rows), variant });
          const harmless = buildManagedBlock({ ...request(rows.map(() => ({ result_preview: 'fine' }))), variant });
          assert.deepEqual(outsideFences(block), outsideFences(harmless));
          assert.equal(block.split('\n').length, harmless.split('\n').length);
          const place = locateBlock(block);
          assert.deepEqual(place, { state: 'whole', start: 0, end: block.length - 1 });
          assert.ok(!block.includes('\0') && block.isWellFormed());
        }),
      );
    },
  );

  verifies('curator:block:no-injection', 'spills into a file whose previews stay in their fences', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 1, maxLength: 4 }), (rows) => {
        const { text } = referenceFile(request(rows));
        const harmless = referenceFile(request(rows.map(() => ({ result_preview: 'fine' })))).text;
        const headings = (file: string) =>
          outsideFences(file).map((line) => (line.startsWith('### ') ? '### row' : line));
        assert.deepEqual(headings(text), headings(harmless));
      }),
    );
  });

  verifies(
    ['curator:block:replace-only-block', 'curator:block:append'],
    'is spliced once, and every byte outside the markers stays',
    () => {
      fc.assert(
        fc.property(anyText, fc.array(anyRow, { maxLength: 3 }), fc.boolean(), (text, rows, withBlock) => {
          const old = withBlock ? `${text}${buildManagedBlock(request([]))}${text}` : text;
          const block = buildManagedBlock(request(rows));
          const once = spliceManagedBlock(old, block);
          assert.equal(spliceManagedBlock(once, block), once);
          const before = locateBlock(old);
          if (before.state === 'broken') assert.equal(once, old);
          else if (before.state === 'none') assert.ok(once.startsWith(old) && once.endsWith(block));
          else assert.equal(once, old.slice(0, before.start) + block.trimEnd() + old.slice(before.end));
        }),
      );
    },
  );

  verifies('curator:block:broken-markers', 'never leaves a text with worse markers than it found', () => {
    fc.assert(
      fc.property(anyText, fc.array(anyRow, { maxLength: 3 }), (text, rows) => {
        const update = prepareUpdate(text, request(rows));
        const markers = (given: string) => structuralCheck(given).failures.filter((failure) => /managed/.test(failure));
        if (update.skippedReason === null) assert.deepEqual(markers(update.content), []);
        else assert.equal(update.content, text);
        const later = prepareUpdate(update.content, request(rows, 'x', '2026-06-01T00:00:00+00:00'));
        assert.equal(later.content, update.content);
      }),
    );
  });
});

describe('a plan', () => {
  verifies(
    ['curator:auto:deterministic-order', 'curator:variants:deterministic'],
    'is byte for byte the same over any order of its input',
    () => {
      const skill = (name: string, at: number, text: string) => ({
        name,
        path: `/h/skills/${at}/${name}/SKILL.md`,
        text: `---\nname: ${name}\n---\n${text}`,
        source: at % 2 === 0 ? 'local-agent-created' : 'bundled',
      });
      fc.assert(
        fc.property(
          fc.array(anyRow, { maxLength: 8 }),
          fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(3), anyText), { maxLength: 6 }),
          fc.boolean(),
          fc.infiniteStream(fc.nat(1000)),
          (rows, found, write, stream) => {
            const shuffled = <Item>(items: readonly Item[]): readonly Item[] =>
              items
                .map((item) => ({ item, key: Number(stream.next().value) }))
                .sort((a, b) => a.key - b.key)
                .map(({ item }) => item);
            const tallies = ['a', 'b', 'c', 'd'].map((skill_name, at) => ({
              skill_name,
              event_count: 2 + (at % 2),
              errors: at,
            }));
            const skills = found.map(([name, at, text]) => skill(name, at, text));
            const plan = (mixed: <Item>(items: readonly Item[]) => readonly Item[]) =>
              JSON.stringify(
                planWrites({
                  report: {
                    summary: {
                      tool_events: 0,
                      error_events: 0,
                      skill_events: 0,
                      turn_events: 0,
                      session_events: 0,
                      tools: [],
                      skills: mixed(tallies),
                    },
                    skill_evidence: mixed(rows),
                  },
                  skills: mixed(skills),
                  flags: { variants: 4, max_skills: 2, apply_low_risk: write, approve_auto_apply: write },
                  now: NOW,
                }),
              );
            assert.equal(
              plan(shuffled),
              plan((items) => items),
            );
          },
        ),
        { numRuns: 40 },
      );
    },
  );
});
