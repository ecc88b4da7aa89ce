/** What holds of managed blocks and of texts that hold one, for any evidence and any text (seed 002, what gets written). */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { buildCompactBlock, buildManagedBlock, referenceFile } from '#extensions/curator/block/managed-block.ts';
import { prepareUpdate, spliceManagedBlock } from '#extensions/curator/block/prepare-update.ts';
import type { EvidenceRow } from '#extensions/curator/report.ts';
import { END_MARKER, locateBlock, START_MARKER } from '#mind/skills/format/skill-text.ts';
import { parseSkillHeader, structuralCheck } from '#public/curator.ts';
import { LINE_ENDS, type ReadLine, readLines } from './markdown-reader.ts';
import { anyRow, harmless, NOW, ownText, summary } from './nasty-evidence.ts';

const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cs}]/u;
/** Every control but the line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/;

/** One verdict for all: the verdict is no text of the evidence, and stands in headings. */
const someRows = fc
  .tuple(fc.array(anyRow, { minLength: 1, maxLength: 6 }), fc.constantFrom(0, 1))
  .map(([rows, is_error]) => rows.map((row) => ({ ...row, is_error })));

function asked(rows: readonly EvidenceRow[], now = NOW) {
  return { skill: 'x', days: 7, now, summary, rows };
}

/** The block of the rows and the one of rows that differ in nothing but what the evidence says. */
function blocks(rows: readonly EvidenceRow[], variant: number): readonly (readonly [nasty: string, plain: string])[] {
  const plain = rows.map(harmless);
  return [
    [buildManagedBlock({ ...asked(rows), variant }), buildManagedBlock({ ...asked(plain), variant })],
    [buildCompactBlock(asked(rows), 'references/x.md'), buildCompactBlock(asked(plain), 'references/x.md')],
  ];
}

/** Both are read alike but for lines that are no instructions to any reader; of those there may be more or fewer. */
function assertReadAlike(nasty: string, plain: string, allowed: readonly ReadLine['kind'][]): void {
  for (const ends of Object.values(LINE_ENDS)) {
    const read = (text: string) => readLines(text, ends).filter(({ kind }) => !allowed.includes(kind));
    assert.deepEqual(read(nasty), read(plain));
  }
}

/** No evidence stands outside the fence, ends it, or hides in it. */
export function evidenceStaysInItsFence(runs: number): void {
  fc.assert(
    fc.property(someRows, fc.nat(3), (rows, variant) => {
      for (const [nasty, plain] of blocks(rows, variant)) {
        assertReadAlike(nasty, plain, ['code']);
        assert.deepEqual(locateBlock(nasty), { state: 'whole', start: 0, end: nasty.length - 1 });
        assert.deepEqual([nasty.match(/<!--/g)?.length, nasty.match(/--!?>/g)?.length], [2, 2]);
        assert.doesNotMatch(nasty, HIDDEN);
        assert.doesNotMatch(nasty, CONTROLS);
      }
      const [file, plainFile] = [referenceFile(asked(rows)), referenceFile(asked(rows.map(harmless)))];
      assertReadAlike(file.text, plainFile.text, ['code']);
      assert.equal(file.path, plainFile.path);
      assert.doesNotMatch(file.text, HIDDEN);
      assert.ok(!file.text.includes(START_MARKER) && !file.text.includes(END_MARKER));
    }),
    { numRuns: runs },
  );
}

/** In any text of the owner, whatever that text leaves open. */
export function evidenceInstructsNobody(runs: number): void {
  fc.assert(
    fc.property(ownText, someRows, (text, rows) => {
      const nasty = prepareUpdate(text, asked(rows));
      const plain = prepareUpdate(text, asked(rows.map(harmless)));
      assert.deepEqual([nasty.skippedReason, nasty.sizeStrategy], [plain.skippedReason, plain.sizeStrategy]);
      assertReadAlike(nasty.content, plain.content, opensRaw(plain.content) ? ['code', 'raw'] : ['code']);
      for (const options of [{}, { compat: 'upstream' } as const])
        assert.deepEqual(parseSkillHeader(nasty.content, options), parseSkillHeader(text, options));
    }),
    { numRuns: runs },
  );
}

/** Whether the text's own HTML is open where the evidence stands: then all of it is raw to the reader, with evidence or without. */
function opensRaw(text: string): boolean {
  return Object.values(LINE_ENDS).some((ends) =>
    readLines(text, ends).some(({ kind, line }) => kind === 'raw' && line.startsWith('- terminal: ')),
  );
}

/** Splicing is literal, done once, and every byte outside the markers stays. */
export function splicingTouchesNothingElse(runs: number): void {
  fc.assert(
    fc.property(ownText, fc.array(anyRow, { maxLength: 3 }), (text, rows) => {
      const block = buildManagedBlock(asked(rows));
      const once = spliceManagedBlock(text, block);
      assert.equal(spliceManagedBlock(once, block), once);
      const place = locateBlock(text);
      if (place.state === 'broken') assert.equal(once, text);
      else if (place.state === 'whole')
        assert.equal(once, text.slice(0, place.start) + block.slice(0, -1) + text.slice(place.end));
      else assert.equal(once, `${text}${text.endsWith('\n') ? '' : '\n'}\n${block}`);
      assert.equal(
        spliceManagedBlock(once, buildManagedBlock(asked([]))),
        spliceManagedBlock(text, buildManagedBlock(asked([]))),
      );
    }),
    { numRuns: runs },
  );
}

/** An update leaves whole markers or the text as it was, and is not made twice. */
export function updatesAreWholeAndMadeOnce(runs: number): void {
  const faults = (text: string) => structuralCheck(text).failures.filter((failure) => /managed/.test(failure));
  fc.assert(
    fc.property(ownText, fc.array(anyRow, { maxLength: 3 }), (text, rows) => {
      const update = prepareUpdate(text, asked(rows));
      if (update.skippedReason === null) assert.deepEqual(faults(update.content), []);
      else assert.equal(update.content, text);
      assert.equal(prepareUpdate(update.content, asked(rows, '2026-06-01T00:00:00+00:00')).content, update.content);
    }),
    { numRuns: runs },
  );
}
