/** The typed commands in plain words, and two hundred lines of somebody who has seen neither the prompt nor the forms: none reaches a wrong golem. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { verifies } from '../../verifies.ts';
import { type CladeStage, choicesOf, createCladeStage, decided, textOf } from './clade-stage.ts';

const LEDGER = { type: 'RouteSteer', target_golem: 'ledger', urgency: 'normal', kind: 'steer' };
const SAID: readonly (readonly [line: string, action: object])[] = [
  ['tell ledger to leave the flaky suite alone', { ...LEDGER, steer_content: 'leave the flaky suite alone' }],
  ['Tell Ledger: leave the flaky suite alone.', { ...LEDGER, steer_content: 'leave the flaky suite alone' }],
  ['tell ledger leave the flaky suite alone', { ...LEDGER, steer_content: 'leave the flaky suite alone' }],
  ['tell ledger now to stop', { ...LEDGER, steer_content: 'stop', urgency: 'now' }],
  ['pause ledger', { ...LEDGER, steer_content: 'pause', kind: 'pause' }],
  ['tell all golems to rest', { type: 'BroadcastSteer', steer_content: 'rest', urgency: 'normal' }],
  [
    'tell all coders to rest',
    { type: 'BroadcastSteer', steer_content: 'rest', urgency: 'normal', filter: { archetype: 'coder' } },
  ],
  [
    'tell all sim golems: rest',
    { type: 'BroadcastSteer', steer_content: 'rest', urgency: 'normal', filter: { domain: 'sim' } },
  ],
  [
    'tell beta and gamma to rest',
    { type: 'BroadcastSteer', steer_content: 'rest', urgency: 'normal', filter: { names: ['beta', 'gamma'] } },
  ],
  [
    'ask ledger what it knows of leaks',
    { type: 'RouteFollowUp', target_golem: 'ledger', question: 'what it knows of leaks' },
  ],
  [
    'why did ledger restart at tick 847?',
    { type: 'RouteFollowUp', target_golem: 'ledger', question: 'why, at tick 847', tick: 847 },
  ],
  ['what do they know about leaks', { type: 'QueryGrimoires', targets: [], query: 'leaks' }],
  ['what happened overnight?', { type: 'DirectResponse', response: '', skills_used: [], rows: 'night', hours: 12 }],
  [
    'equip ledger with leaks',
    { type: 'ExecuteMetaSkill', skill_name: 'equip-golem', params: { golem: 'ledger', query: 'leaks' } },
  ],
  [
    'create golem called zed for sim',
    { type: 'ExecuteMetaSkill', skill_name: 'create-golem', params: { name: 'zed', domain: 'sim' } },
  ],
  ['retire ledger', { type: 'ExecuteMetaSkill', skill_name: 'retire-golem', params: { golem: 'ledger' } }],
];

const ASKED = [
  ...['hello', 'ledger', 'leave the suite alone', 'please restart'],
  ...['tell ledger', 'tell me how ledger is', 'tell omega to rest', 'tell it to rest', 'do not tell ledger to rest'],
  ...[
    'tell ledger or beta to rest',
    'tell ledger, or beta, rest',
    'tell ledger not beta',
    'tell all but ledger to rest',
    'tell everyone except ledger to rest',
  ],
  ...[
    'tell ledger to rest and tell beta to work',
    'tell ledger to rest instead of beta',
    'tell ledger to rest?',
    'tell all frogs to rest',
  ],
  ...[
    'ask ledger to rest',
    'ask ledger and beta why',
    'why did omega stop at tick 5',
    'why did it stop at tick 5',
    'tell ledger beta rests',
  ],
];

describe('plain words', () => {
  test('each form leads to its action', async (t) => {
    const { say } = createCladeStage(t, { answer: () => ({}) });
    for (const [line, action] of SAID) assert.deepEqual(decided(await say(line)), action, line);
  });

  verifies('R1.26', 'what is no form from its first word to its last is asked, and reaches nobody', async (t) => {
    const { say, told } = createCladeStage(t);
    for (const line of ASKED) {
      const outputs = await say(line);
      assert.equal(decided(outputs), 'question', line);
      assert.ok(choicesOf(outputs).includes('Nothing'), line);
    }
    assert.deepEqual(told(), []);
  });

  test('`it` is the golem in view, which comes first among the choices', async (t) => {
    const { say, reached } = createCladeStage(t);
    await say('tell it to rest', 'gamma');
    assert.deepEqual(reached(), ['gamma: rest']);
    const [first, second] = choicesOf(await say('more logs', 'gamma'));
    assert.deepEqual([first, second], ['Tell gamma: more logs', 'Ask gamma: more logs']);
    await say('1');
    assert.deepEqual(reached(), ['gamma: rest', 'gamma: more logs']);
  });

  test('a choice that leads on leads to the golem that was chosen', async (t) => {
    const { say, reached } = createCladeStage(t);
    assert.equal(choicesOf(await say('more logs'))[0], 'Tell one golem');
    assert.deepEqual(choicesOf(await say('1')), ['alpha', 'beta', 'delta', 'gamma', 'ledger', 'Nothing']);
    await say('4');
    assert.deepEqual(reached(), ['gamma: more logs']);
    assert.equal(textOf(await say('hm')).includes('What shall I do with this?'), true);
    assert.equal(textOf(await say('5')), 'Nothing was done.');
    assert.deepEqual(reached(), ['gamma: more logs']);
  });

  test('typed as words of the command line they mean the same; what is empty, or no choice, is said', async (t) => {
    const { run, say, reached } = createCladeStage(t);
    const { text } = await run('clade why', { name: 'did', what: 'ledger', more: ['fail', 'at', 'tick', '5'] });
    assert.match(text, /^→ RouteFollowUp ledger \(rule\)/);
    assert.match((await run('clade compare', { names: ['ledger', 'with', 'beta'] })).text, /ledger(?:.|\n)*beta/);
    assert.deepEqual(decided(await say('strategy brief')), {
      ...{ type: 'ExecuteMetaSkill', skill_name: 'strategy-brief', params: {} },
    });
    assert.match(textOf(await say('tell all poets to rest')), /^What shall I do with this\?/);
    for (const number of ['77', '78'])
      assert.match(textOf(await say(number)), new RegExp(`^${number} is not one of them\\. What shall`));
    assert.equal((await run('clade', { text: [''] })).failure?.code, 'no-words');
    assert.equal(decided(await say('how are my golems', 'nobody')), 'no-such-golem');
    assert.deepEqual(reached(), []);
  });

  test('of a broadcast only those that live and fit hear; the dead are told nothing', async (t) => {
    const { say, reached, states } = createCladeStage(t);
    Object.assign(states[1] as object, { status: 'dead', cause: 'age' });
    await say('tell all coders to rest');
    assert.deepEqual(reached(), ['gamma: rest']);
    const outputs = await say('tell beta to rest');
    assert.equal(textOf(outputs.slice(1)), 'beta is dead (age); nothing is told to it.');
    assert.deepEqual(reached(), ['gamma: rest']);
  });
});

interface Line {
  readonly line: string;
  readonly focus: string | null;
  readonly label: { readonly action: string; readonly target: string | null };
}

const path = new URL('../../fixtures/clade/lines.json', import.meta.url);
const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'ledger'];

/** What a model that reads it as its writer meant it would answer. */
function labelled({ line, label: { action, target } }: Line): object {
  const golem = target === 'question' || target === null ? '?' : target;
  const isNamed = NAMES.includes(golem);
  const all: Readonly<Record<string, object>> = {
    DirectResponse: { response: 'ok', skills_used: [], rows: 'none' },
    RouteSteer: { target_golem: golem, steer_content: line, urgency: 'normal' },
    RouteFollowUp: { target_golem: golem, question: line },
    BroadcastSteer: { steer_content: line, urgency: 'normal', ...(target === 'question' ? ASK_BACK : {}) },
    ExecuteMetaSkill: { skill_name: 'search-library', params: { query: line } },
    QueryGrimoires: { targets: isNamed ? [golem] : [], query: line },
  };
  return { type: action, ...all[action] };
}

const ASK_BACK = { filter: { names: ['?'] } };

interface Aimed {
  readonly type: string;
  readonly target_golem?: string;
  readonly targets?: readonly string[];
  readonly filter?: { readonly names?: readonly string[] };
  readonly params?: { readonly golem?: string; readonly golems?: readonly string[] };
}

/** Golems that an action names, to be told or to be asked. */
function namedBy({ target_golem: one, targets = [], filter = {}, params = {} }: Aimed): readonly string[] {
  return [one ?? [], targets, filter.names ?? [], params.golem ?? [], params.golems ?? []].flat();
}

/** Did it reach anybody who was not meant? */
function isWrong({ line, label: { action, target } }: Line, did: Aimed | string, heard: readonly string[]): boolean {
  const named = typeof did === 'string' ? [] : namedBy(did);
  const isMeant = (name: string) => name === target || line.toLowerCase().includes(name);
  if (typeof did !== 'string' && did.type === 'BroadcastSteer')
    return action !== 'BroadcastSteer' || !named.every(isMeant);
  const isRead = action === 'QueryGrimoires' || action === 'ExecuteMetaSkill';
  return [...heard, ...named].some((name) => name !== target && !(isRead && isMeant(name)));
}

/** What a label leads to, and who hears of it. */
function expected({ label: { action, target } }: Line): { readonly type: string; readonly heard: readonly string[] } {
  if (target === 'question' && MAY_ASK.has(action)) return { type: 'question', heard: [] };
  return { type: action, heard: action === 'RouteSteer' && target !== null ? [target] : [] };
}

const MAY_ASK: ReadonlySet<string> = new Set(['RouteSteer', 'RouteFollowUp', 'BroadcastSteer']);

describe('two hundred labelled lines', { skip: !existsSync(path) }, () => {
  const lines: readonly Line[] = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];

  /** Says each, and gives what was done and who heard of it. */
  async function* sayAll(stage: CladeStage, before: (one: Line) => void = () => undefined) {
    for (const one of lines) {
      before(one);
      const count = stage.told().length;
      const did = decided(await stage.say(one.line, one.focus ?? undefined)) as Aimed | string;
      const heard = stage.reached().slice(count);
      yield { one, did, heard: heard.map((text) => text.split(':')[0] ?? '') };
    }
  }

  verifies.slow(
    ['R1.25', 'R1.27', 'R1.29'],
    'with a model that answers from the label each does what it says, and what cannot be told is asked',
    async (t) => {
      let now: Line | undefined;
      const model = ({ system }: { readonly system: string }) =>
        system.includes('You are Meta') && now ? JSON.stringify(labelled(now)) : '{"preferences":[]}';
      const stage = createCladeStage(t, { model, answer: () => ({}) });
      for await (const { one, did, heard } of sayAll(stage, (line) => {
        now = line;
      })) {
        const { type, heard: meant } = expected(one);
        assert.equal(typeof did === 'string' ? did : did.type, type, one.line);
        if (type !== 'BroadcastSteer') assert.deepEqual(heard, meant, one.line);
      }
      assert.ok(lines.length >= 200);
    },
  );

  verifies.slow(['R1.27', 'R1.29'], 'without a model none reaches a golem that was not meant', async (t) => {
    const wrong: string[] = [];
    for await (const { one, did, heard } of sayAll(createCladeStage(t, { answer: () => ({}) })))
      if (isWrong(one, did, heard)) wrong.push(`${one.line} [${one.focus}] → ${JSON.stringify(did)} ${heard}`);
    assert.deepEqual(wrong, []);
  });
});
