/** What each window says of what happened: the table of events and sounds, the windows one by one, and how they are drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { visibleWidth } from '@earendil-works/pi-tui';
import fc from 'fast-check';
import { type Board, EMPTY, FLOW_STEPS, reduce, type ScreenEvent } from '#surfaces/tui/board.ts';
import { braille, drawWindow } from '#surfaces/tui/drawing.ts';
import {
  bellOf,
  EVENTS,
  type EventName,
  mindEvent,
  type Note,
  pitchOf,
  type WindowName,
} from '#surfaces/tui/event-table.ts';
import { type Block, WINDOW_NAMES, windowNames, windowOf } from '#surfaces/tui/windows.ts';
import { verifies } from '../../verifies.ts';
import { entryOf, FIGURES, MARKET, NOW, seenOf, steerOf, tickOf } from './stage.ts';

const VIEW = { focus: 'ada', chosen: 0, now: NOW };
const grey = (_: string, text: string) => text;
const coloured = (style: string, text: string) => (style === 'cyan' ? `\u001b[36m${text}\u001b[39m` : text);

function boardAfter(...events: readonly ScreenEvent[]): Board {
  const golems: ScreenEvent = { type: 'golems', golems: [seenOf('ada'), seenOf('bea', { status: 'rests' })] };
  return [golems, ...events].reduce(reduce, EMPTY);
}

function mind(event: Record<string, unknown>, golem = 'ada'): ScreenEvent {
  return { type: 'mind', golem, at: NOW, event: mindEvent.parse(event) };
}

function drawn(window: WindowName, board: Board, width = 80, paint = grey): string {
  return drawWindow(windowOf(window, board, VIEW), width, paint).lines.join('\n');
}

const rises = (notes: readonly Note[]) => notes.every(({ hz }, at) => at === 0 || hz > (notes[at - 1]?.hz ?? 0));

interface Row {
  readonly event: Record<string, unknown>;
  readonly window: WindowName;
  readonly reads: RegExp;
  /** Absent: nothing is heard. */
  readonly hears?: (notes: readonly Note[]) => boolean;
}

const TABLE: Readonly<Record<EventName, Row>> = {
  SkillsLoaded: { event: { count: 47 }, window: 'hermes', reads: /47 skills loaded/ },
  SkillsActivated: {
    ...{ event: { tick: 8, skills: ['disk-full'] }, window: 'hearth', reads: /REFLECT +disk-full/ },
    hears: (notes) => notes.length === 1 && notes[0]?.hz === pitchOf('disk-full'),
  },
  SkillDrafted: { event: { tick: 8, trigger: 'disk inode' }, window: 'hermes', reads: /Drafts\ntick 8: disk inode/ },
  SkillCreated: {
    ...{ event: { name: 'fresh', tick: 50, source_episodes: [] }, window: 'hermes', reads: /\+ fresh · new/ },
    hears: (notes) => notes.length >= 3 && rises(notes),
  },
  SkillImproved: {
    event: { name: 'disk-full', improvement_summary: 'rotates first' },
    ...{ window: 'hermes', reads: /± disk-full · changed · rotates first/, hears: (notes) => notes.length === 2 },
  },
  FeedbackFlushed: { event: { count: 3 }, window: 'dream', reads: /Learning: 3 outcomes counted/ },
  SkillPromoted: {
    ...{ event: { name: 'old', confidence: 0.8 }, window: 'library', reads: /Nominated\nold of ada, 80 %/ },
    hears: (notes) => notes.length === 1 && (notes[0]?.ms ?? 0) >= 500,
  },
  SkillIngested: {
    event: { name: 'late', source: 'bea-gen1', confidence: 0.5 },
    ...{ window: 'hermes', reads: /← late · taken in · bea-gen1 · 50 %/ },
  },
  DeathSkillExport: {
    ...{ event: { skills_exported: 4 }, window: 'library', reads: /ada ✦·+ library: 4 skills/ },
    hears: (notes) => notes.length === 1 && (notes[0]?.hz ?? 999) < 100,
  },
  EvolutionCycleComplete: {
    event: { skills_evolved: 2, fitness_improved: 0.09, duration_secs: 5 },
    ...{ window: 'dream', reads: /2 skills evolved · fitness \+0\.09 · 5 s/ },
    hears: (notes) => notes.length >= 3 && rises(notes),
  },
};
const ROWS = Object.entries(TABLE).map(([type, row]) => ({ ...row, type: type as EventName }));

verifies(
  ['R0.22', 'R0.143', 'R0.144', 'R0.145', 'R0.146', 'R0.147', 'R0.148', 'R0.149', 'R0.150', 'R0.151', 'R0.152'],
  'each of the ten events does on the screens what the table says, and sounds so or not at all',
  () => {
    const known: ScreenEvent = {
      type: 'skills',
      golem: 'ada',
      skills: [{ name: 'old', mark: '', note: '', confidence: 0.8 }],
    };
    assert.deepEqual(Object.keys(TABLE), Object.keys(EVENTS));
    for (const { type, event, window, reads, hears } of ROWS) {
      const board = boardAfter(known, mind({ type, ...event }));
      assert.equal(EVENTS[type].window, window);
      assert.match(drawn(window, board), reads, type);
      const notes = EVENTS[type].sound?.(mindEvent.parse({ type, ...event }));
      assert.equal(notes !== undefined, hears !== undefined, type);
      assert.ok(hears?.(notes ?? []) ?? true, type);
      // What is used in a tick is told with the tick.
      if (type !== 'SkillsActivated') assert.match(drawn('clade', board), /What happens\nada /);
    }
  },
);

verifies('R0.144', 'the pitch of a chime is that of the name, and names differ', () => {
  const pitches = new Set(['disk-full', 'late-packets', 'flaky-suite', 'no-quota', 'slow-query'].map(pitchOf));
  assert.ok(pitches.size >= 3);
  assert.equal(pitchOf('disk-full'), pitchOf('disk-full'));
  assert.equal(bellOf({ hz: 440, ms: 90 }), '\u001b[10;440]\u001b[11;90]\u0007');
});

verifies(['R0.149', 'R0.151'], 'a promoted skill leaves its golem for the clade; what flows arrives', () => {
  const known: ScreenEvent = {
    type: 'skills',
    golem: 'ada',
    skills: [{ name: 'old', mark: '', note: '', confidence: 0.8 }],
  };
  const board = boardAfter(known, mind({ type: 'SkillPromoted', name: 'old', confidence: 0.8 }));
  assert.doesNotMatch(drawn('hermes', board), /old/);
  const kept = {
    ...board,
    library: [entryOf('old', { equipped: 4, validated: 3, contradicted: 1, isCrossValidated: true })],
  };
  const [clade, nominated] = drawn('library', kept).split('Nominated');
  assert.match(
    clade ?? '',
    /old · \[testament\] · clade · 49 % of 70 % · cross-validated · equipped to 4,\s+validated by 3, contradicted by 1/,
  );
  assert.doesNotMatch(nominated ?? '', /old/);
  const dying = boardAfter(mind({ type: 'DeathSkillExport', skills_exported: 4 }));
  const steps = Array.from({ length: FLOW_STEPS }, () => ({ type: 'flow' }) as const);
  assert.doesNotMatch(drawn('library', steps.reduce(reduce, dying)), /✦/);
});

verifies(['R0.39'], 'the skill that was injected stands in cyan on the ring of nine steps, whatever the width', () => {
  const board = boardAfter({ type: 'tick', golem: 'ada', at: NOW, tick: tickOf(8) });
  for (const width of [20, 40, 80, 200]) {
    const text = drawn('hearth', board, width, coloured);
    assert.ok(text.includes('\u001b[36mdisk-full\u001b[39m'), String(width));
    for (const step of [
      'OBSERVE',
      'RETRIEVE',
      'ANALYZE',
      'GATE',
      'SIMULATE',
      'VALIDATE',
      'EXECUTE',
      'VERIFY',
      'REFLECT',
    ])
      assert.ok(stripVTControlCharacters(text).includes(step), `${step} at ${width}`);
  }
  assert.match(drawn('hearth', board), /● GATE[\s\S]*○ SIMULATE[\s\S]*tick 8 · T2 · answered by rule/);
  assert.match(drawn('hearth', board), /prediction: drain answers disk, 98 %\noutcome: came true: cured/);
});

verifies(
  ['R1.44'],
  'the mind shows the steers in force, what became of each, the mood and what the owner wants',
  () => {
    const board = boardAfter({
      type: 'kept',
      library: [],
      owner: [{ key: 'risk', value: 'low', confidence: 0.6, updatedAt: NOW, evidence: [] }],
      steers: [
        steerOf('be bold', { standing: 'context' }),
        steerOf('be calm', { heard: { golem: 'ada-gen1', id: 'be calm', tick: 9, refused: null }, pinned: true }),
        steerOf('stop', { heard: { golem: 'ada-gen1', id: 'stop', tick: null, refused: 'replayed' } }),
        steerOf('elsewhere', { golem: 'bea-gen1', signer: '0xbea', called: 'bea' }),
      ],
    });
    const text = drawn('mind', board);
    assert.match(text, /ada: “be calm” · directive · taken at tick 9 · pinned/);
    assert.match(text, /ada: “be bold” · context · on its way/);
    assert.match(text, /ada: “stop” · directive · refused: replayed/);
    assert.match(text, /pleasure +█+░+ \+0\.50[\s\S]*risk: low, 60 %/);
    assert.doesNotMatch(text, /elsewhere/);
    const heard: ScreenEvent = {
      type: 'heard',
      golem: 'ada',
      at: NOW,
      heard: { golem: 'ada-gen1', id: 'be bold', tick: 12, refused: null },
    };
    assert.match(drawn('mind', reduce(board, heard)), /“be bold” · context · taken at tick 12/);
  },
);

verifies(
  ['RX.15', 'RX.18', 'RX.21'],
  'infra: quantisation, speed as braille, memory and context as bars with the range of the tier',
  () => {
    const text = drawn('infra', boardAfter({ type: 'infra', figures: FIGURES }));
    assert.match(text, /ollama\/hermes:Q6_K · Q6_K/);
    assert.match(text, /memory +█{13}░{13} 32\.0 of 64\.0 GiB/);
    assert.match(text, /speed +[\u2801-\u28ff]{2} +18\.5 tok\/s/);
    assert.match(text, /context +█+░+ 9\.1K of 128K · T1 takes\s+4\.0K–12\.0K, a dream nearly all of it/);
    assert.match(text, /1 ollama\/hermes:Q6_K · in use\n2 ollama\/hermes:Q4_K_M/);
    const reloading = { from: 'Q6_K', to: 'Q8_0', elapsedMs: 1, share: 0.4 };
    const late = boardAfter({ type: 'infra', figures: { ...FIGURES, reloading, warnings: ['the speed fell'] } });
    assert.match(drawn('infra', late), /the speed fell\nreload +█+░+ 40 %, Q6_K → Q8_0; requests\s+wait for it/);
    assert.equal(braille([1, 2, 3, 4], 40), '⣠⣾');
    assert.equal(
      [
        ...braille(
          Array.from({ length: 3_600 }, (_, at) => at),
          30,
        ),
      ].length,
      30,
    );
  },
);

verifies(
  ['R2.16'],
  'market: what shops offer, at what price now, and what was bought; without it there is no window',
  () => {
    const board = boardAfter({ type: 'market', seen: MARKET });
    const text = drawn('market', board, 120);
    assert.match(text, /1 offer · looked at 5 min ago\nhttp:\/\/far\.example: it does not answer\n/);
    assert.match(text, /clear-disk +\$0\.39 +81 % +7 +ops\/disks +0xf3a91c77 +http:\/\/127\.0\.0\.1:8402/);
    assert.match(text, /Bought and sold\n2026-01-15 · bought renew-cert for \$0\.25 · ingested/);
    assert.match(
      drawn('market', boardAfter({ type: 'market', seen: { ...MARKET, at: null, offers: [] } })),
      /no shop was looked at yet/,
    );
    assert.deepEqual([windowNames(EMPTY).includes('market'), windowNames(board).at(-1)], [false, 'market']);
  },
);

test('what is newer stands: late rows of a link and ticks of the past take nothing back', () => {
  const late: ScreenEvent = { type: 'presence', golem: 'ada', at: NOW - 1, state: { ...seenOf('ada'), tick: 3 } };
  const old: ScreenEvent = { type: 'tick', golem: 'ada', at: NOW, tick: tickOf(5) };
  const board = boardAfter(late, old);
  assert.equal(board.golems[0]?.seen.tick, 7);
  assert.match(drawn('hearth', board), /tick 5 · T2/);
  const gone = boardAfter({ type: 'golems', golems: [seenOf('ada', { where: 'c0ffee', seenAt: NOW - 300_000 })] });
  assert.match(drawn('clade', gone), /silent 5 min/);
});

/** Without what wrapping and marks add. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '');
}

function saidIn(block: Block): readonly string[] {
  if (block.type === 'list') return block.items.map(({ text }) => text);
  if (block.type === 'table') return block.rows.flat();
  return block.type === 'ring' ? block.skills : [block.text];
}

test('no line is wider than asked for, and below 60 columns every word of a model is said', () => {
  const board = boardAfter(
    ...ROWS.map(({ type, event }) => mind({ type, ...event })),
    { type: 'tick', golem: 'ada', at: NOW, tick: tickOf(8, { saw: `${'long '.repeat(40)}end 漢字` }) },
    { type: 'kept', library: [entryOf('old')], steers: [steerOf('be calm')], owner: [] },
    { type: 'infra', figures: FIGURES },
    { type: 'market', seen: MARKET },
    { type: 'absent', what: 'golems', why: 'The room of the golems is not there.' },
  );
  const long: Block = { type: 'table', columns: ['golem', 'last'], rows: [['a'.repeat(70), 'tick 1']], chosen: -1 };
  const [head, ...rows] = drawWindow({ name: 'clade', blocks: [long] }, 80, grey).lines;
  assert.deepEqual(
    [head, rows],
    ['  golem', [`  ${'a'.repeat(70)}`, '    tick 1']],
    'a line of its own has no heading',
  );
  for (const window of WINDOW_NAMES) {
    const model = windowOf(window, board, VIEW);
    const isFitting = (width: number) =>
      drawWindow(model, width, grey).lines.every((line) => visibleWidth(line) <= width);
    fc.assert(fc.property(fc.integer({ min: 4, max: 220 }), isFitting));
    const narrow = letters(drawn(window, board, 20));
    const unsaid = model.blocks.flatMap(saidIn).filter((text) => !narrow.includes(letters(text)));
    assert.deepEqual(unsaid, [], window);
  }
});
