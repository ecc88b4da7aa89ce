/** What a golem leaves behind: a file of which no byte can be another, and a register that says whose it is. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { keccak256, recoverTypedDataAddress } from 'viem';
import { addressOf, newKey } from '#base/ethereum.ts';
import { canonicalJson } from '#base/json.ts';
import { openBirths } from '#fleet/golem/births.ts';
import {
  readBundle,
  type SkillBundle,
  type SkillTestament,
  signBundle,
  verifyBundle,
  writeBundle,
} from '#mind/skills/format/testament.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { ends } from '../../ends.ts';
import { runs } from '../../property-runs.ts';
import { slow } from '../../slow.ts';
import { createGolemStage, quiet, rowsOf, taught } from './stage.ts';

const KEY = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318';
/** Notes B3, and the hash of what that leaves out. */
const STRUCT = [
  ...['sourceGolem string', 'lineage string[]', 'generation uint32', 'deathCause string', 'deathTick uint64'],
  ...['skillsRoot bytes32', 'skillCount uint32', 'playbookHash bytes32', 'timestamp uint64', 'contextHash bytes32'],
];
const nobody = () => undefined;

const common = {
  version: 1,
  ...{ source_golem: 'ledger-gen2', lineage: ['ledger-gen1', 'ledger-gen2'], generation: 2 },
  ...{ archetype: 'observer', domain: 'watch', timestamp: 1_790_000_000_000 },
  last_pad: { pleasure: -0.1, arousal: 0.1 + 0.2, dominance: 0 },
  playbook_snapshot: '# Playbook\n\nWait for the lock – always.\n',
} as const;
const skill = (name: string) => ({
  ...{
    name,
    skill_md: `---\nname: ${name}\n---\n1. \`rotate\`\n`,
    files: [{ path: 'scripts/a.sh', base64: 'ZWNobw==' }],
  },
  record: {
    ...{ confidence: 0.8, validated_count: 2, improved_count: 0, use_count: 9, success_count: 8, failure_count: 1 },
    ...{ tags: ['disk'], lineage: ['ledger-gen1'] },
  },
});
const deadSkill = (name: string) => ({
  ...skill(name),
  record: { ...skill(name).record, bloodstain: true as const },
  death_context: { golem: 'ledger-gen1', generation: 2, tick: 70, cause: 'age' as const, validations: 2, note: 'old' },
});
const testament = (names = ['disk-full', 'clock-skew']) =>
  ({
    ...{ kind: 'skill-testament', ...common, death_cause: 'age', death_tick: 70, skills: names.map(deadSkill) },
  }) as const satisfies Omit<SkillTestament, 'signer' | 'signature'>;
const living = () =>
  ({
    ...{ kind: 'skill-bundle', ...common, death_cause: null, skills: [skill('disk-full')] },
  }) as const satisfies Omit<SkillBundle, 'signer' | 'signature'>;
const textOf = (bundle: SkillTestament | SkillBundle) => `${canonicalJson(bundle)}\n`;
const read = (text: string) => {
  const bundle = readBundle(text);
  return bundle.ok ? bundle.value : assert.fail(`${bundle.reason}: ${bundle.detail}`);
};
const why = (result: { readonly ok: true } | { readonly ok: false; readonly reason: string }) =>
  result.ok ? 'ok' : result.reason;
/** Undefined: it passes as what `signer` signed. */
const faultOf = async (text: string, signer: string): Promise<string | undefined> => {
  const bundle = readBundle(text);
  if (!bundle.ok) return bundle.reason;
  const verified = await verifyBundle(bundle.value, nobody);
  if (!verified.ok) return verified.reason;
  return verified.value.signer === signer ? undefined : 'another signer';
};

describe('a bundle', () => {
  test('is signed, written, read and verified, private on the disk; its skills are in order of their names', async (t) => {
    const path = join(createTempHome(t).path, 'testament', 'ledger-gen2.json');
    for (const bundle of [await signBundle(testament(), KEY), await signBundle(living(), KEY)]) {
      writeBundle(path, bundle);
      const back = read(readFileSync(path, 'utf8'));
      assert.deepEqual(back, bundle);
      const verified = await verifyBundle(back, nobody);
      assert.deepEqual(verified, { ok: true, value: { signer: await addressOf(KEY), standing: 'stranger' } });
      assert.deepEqual([statSync(path).mode & 0o777, statSync(join(path, '..')).mode & 0o777], [0o600, 0o700]);
    }
    const names = (await signBundle(testament(), KEY)).skills.map(({ name }) => name);
    assert.deepEqual(names, ['clock-skew', 'disk-full']);
  });

  test('is signed as EIP-712 says it, so that others can tell', async () => {
    const bundle = await signBundle(testament(), KEY);
    const hash = (text: string) => keccak256(Buffer.from(text));
    const { skills, signature, ...rest } = bundle;
    const roots = skills.map((one) => hash(canonicalJson(one))).sort();
    const fields = STRUCT.map((field) => ({ name: field.split(' ')[0] ?? '', type: field.split(' ')[1] ?? '' }));
    const address = await recoverTypedDataAddress({
      domain: { name: 'HermesSkillTestament', version: '1', chainId: 0 },
      types: { SkillTestament: fields },
      primaryType: 'SkillTestament',
      message: {
        ...{ sourceGolem: 'ledger-gen2', lineage: ['ledger-gen1', 'ledger-gen2'], generation: 2, deathCause: 'age' },
        ...{ deathTick: 70n, skillsRoot: keccak256(Buffer.from(roots.map((one) => one.slice(2)).join(''), 'hex')) },
        ...{ skillCount: 2, playbookHash: hash(common.playbook_snapshot), timestamp: 1_790_000_000_000n },
        contextHash: hash(canonicalJson(rest)),
      },
      signature: signature as `0x${string}`,
    });
    assert.equal(address, '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23');
    assert.equal(address.toLowerCase(), bundle.signer);
  });

  test('with any byte altered is none, or not what was signed', async () => {
    const signer = await addressOf(KEY);
    const texts = [textOf(await signBundle(testament(), KEY)), textOf(await signBundle(living(), KEY))];
    for (const text of texts) assert.equal(await faultOf(text, signer), undefined);
    const places = fc.record({ which: fc.nat(1), at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(places, async ({ which, at, by }) => {
        const bytes = Buffer.from(texts[which] ?? '');
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ by;
        assert.notEqual(await faultOf(bytes.toString(), signer), undefined);
      }),
      { numRuns: runs(4_800) },
    );
  });

  test('cannot be written anew so that it says the same', async () => {
    const bundle = await signBundle(testament(), KEY);
    const [signer, text, signature] = [await addressOf(KEY), textOf(bundle), bundle.signature ?? ''];
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const high = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
    const twin = `${signature.slice(0, 66)}${high}1${signature.endsWith('b') ? 'c' : 'b'}`;
    const faults = {
      [text.trimEnd()]: 'not-canonical',
      [text.replace('{', '{ ')]: 'not-canonical',
      [text.replace('"version":1', '"version":1.0')]: 'not-canonical',
      [text.replace('{', '{"archetype":"guard",')]: 'not-canonical',
      [text.replace('{', '{"__proto__":{},')]: 'not-a-bundle',
      [text.replace('{', '{"embedding":[1],')]: 'not-a-bundle',
      [text.replace(canonicalJson(bundle.skills), canonicalJson(bundle.skills.toReversed()))]: 'not-a-bundle',
      [text.replace(signature, signature.toUpperCase().replace('0X', '0x'))]: 'bad-signature',
      [text.replace(signature, twin)]: 'bad-signature',
      [text.replace(signature, `0x${'0'.repeat(128)}1b`)]: 'bad-signature',
      [text.replace(signature, 'none')]: 'bad-signature',
      [text.replace(signer, await addressOf(newKey()))]: 'bad-signature',
    };
    assert.equal(Object.keys(faults).length, 12);
    for (const [altered, fault] of Object.entries(faults)) {
      assert.notEqual(altered, text);
      assert.equal(await faultOf(altered, signer), fault, altered.slice(0, 60));
    }
  });

  test('of a stranger is whole and a stranger’s; one that nobody signed is nobody’s', async (t) => {
    const births = openBirths(createTempHome(t).path);
    t.after(() => births.close());
    await births.add(born('ledger', 2, await addressOf(KEY)));
    const standing = async (key: string | undefined) => {
      const verified = await verifyBundle(await signBundle(testament(), key), (...who) => births.standing(...who));
      return verified.ok ? verified.value.standing : why(verified);
    };
    const stranger = newKey();
    assert.equal(await standing(KEY), 'own');
    assert.equal(await standing(stranger), 'stranger');
    assert.equal(await standing(undefined), 'unsigned');
    await births.accept(await addressOf(stranger));
    assert.equal(await standing(stranger), 'accepted');
    assert.equal(read(textOf(await signBundle(testament(), undefined))).signature, null);
  });

  slow('that is too much, too new or no bundle is refused by its reason, and not written', async (t) => {
    const many = `{"kind":"skill-bundle","version":1,"skills":[${Array(100_000)
      .fill(JSON.stringify(skill('a')))
      .join()}]}`;
    assert.equal(
      ends('a hundred thousand skills', () => why(readBundle(many))),
      'too-many-skills',
    );
    const files = [{ path: 'assets/a', base64: 'A'.repeat(63 * 1024 ** 2) }];
    const large = textOf(await signBundle({ ...living(), skills: [{ ...skill('a'), files }] }, undefined));
    assert.deepEqual([why(readBundle(large)), why(readBundle(' '.repeat(64 * 1024 ** 2 + 1)))], ['ok', 'too-large']);
    const refused = {
      '': 'not-json',
      '[]': 'not-a-bundle',
      '{"kind":"seed-kit"}': 'not-a-bundle',
      '{"kind":"skill-bundle","version":2}': 'newer-version',
    };
    for (const [text, reason] of Object.entries(refused)) assert.equal(why(readBundle(text)), reason);
    const path = join(createTempHome(t).path, 'a.json');
    for (const wrong of [
      testament(['twice', 'twice']),
      testament(['../up']),
      { ...testament(), lineage: ['ledger-gen1'] },
      { ...testament(), lineage: ['ledger-gen2', 'ledger-gen2'] },
    ])
      await assert.rejects(async () => writeBundle(path, await signBundle(wrong, KEY)), { code: 'bundle-unreadable' });
    assert.equal(existsSync(path), false);
  });

  test('takes a key as a file holds it, and repeats none that is wrong', async () => {
    const address = await addressOf(KEY);
    for (const same of [`${KEY}\n`, `0x${KEY}`, KEY.toUpperCase()]) assert.equal(await addressOf(same), address);
    assert.match(newKey(), /^[0-9a-f]{64}$/);
    for (const wrong of ['', KEY.slice(1), `${KEY}0`, KEY.replace('4', 'g'), '0'.repeat(64), 'f'.repeat(64)])
      await assert.rejects(signBundle(living(), wrong), (error: Error) => {
        assert.equal(Object(error).code, 'key-invalid');
        return wrong === '' || !`${error.stack}${error.cause}`.includes(wrong.slice(0, 8));
      });
  });
});

const born = (name: string, generation: number, signer = `0x${'ab'.repeat(20)}`) => ({
  ...{ id: `${name}-gen${generation}`, name, generation, signer, archetype: 'observer', domain: 'watch', dir: null },
  ...{ lineage: [`${name}-gen${generation}`], bornAt: generation * 1_000 },
});

describe('the register of births', () => {
  test('outlives its process and the folders of its golems; a golem is born once and ends once', async (t) => {
    const home = createTempHome(t);
    const clock = createManualClock();
    const first = openBirths(home.path, clock);
    assert.deepEqual([first.get('ledger'), first.list()], [undefined, []]);
    for (const birth of [born('ledger', 1), born('ledger', 2), born('atlas', 3)])
      assert.equal(why(await first.add(birth)), 'ok');
    const again = await first.add({ ...born('ledger', 1), archetype: 'other' });
    assert.equal(why(again), 'born-before');
    const end = (cause: 'age' | 'owner-kill') => first.ended('ledger-gen1', cause, 7);
    assert.deepEqual([await end('age'), await end('owner-kill')], [true, false]);
    assert.equal(await first.ended('nobody-gen1', 'age', 7), false);
    first.close();
    rmSync(join(home.path, 'golems', 'ledger'), { recursive: true, force: true });
    const second = openBirths(home.path, clock);
    t.after(() => second.close());
    const old = { ...born('ledger', 1), end: { at: 7, cause: 'age' } };
    assert.deepEqual(second.list(), [old, born('ledger', 2), born('atlas', 3)]);
    assert.deepEqual(second.get('ledger'), born('ledger', 2));
  });

  test('knows whose an address is, however it is written', async (t) => {
    const births = openBirths(createTempHome(t).path);
    t.after(() => births.close());
    const [own, other, far] = ['Aa', 'bB', 'cc'].map((two) => `0x${two.repeat(20)}`) as [string, string, string];
    await births.add(born('ledger', 1, own));
    await births.add(born('atlas', 1, other));
    const is = (address: string, golem: string) => births.standing(address, golem);
    assert.equal(is(own.toLowerCase(), 'ledger-gen1'), 'own');
    assert.deepEqual([is(own, 'atlas-gen1'), is(far, 'ledger-gen1')], [undefined, undefined]);
    for (const address of [own, ` ${far.toUpperCase().replace('0X', '0x')}\n`])
      assert.equal(why(await births.accept(address)), 'ok');
    assert.deepEqual([is(own, 'atlas-gen1'), is(far, 'ledger-gen1')], [undefined, 'accepted']);
    const refused = await births.accept('0x12');
    assert.equal(why(refused), 'not-an-address');
  });
});

slow('an heir takes in at birth what it can, and what waits for a step once golem.toml names it', async (t) => {
  const stage = createGolemStage(t);
  const { run, at, bodies } = stage;
  await run('golem create', { name: 'ada' });
  const proven = { confidence: 0.8, useCount: 3 };
  const skills = [taught('rotate', 'logs fill disk', ['rotate-logs'], proven), taught('ask', 'who owns', [], proven)];
  await stage.teach('ada', skills);
  await run('golem retire', { name: 'ada', yes: true });
  const born = await run('golem create', { name: 'bea', from: 'ada' });
  assert.match(born.text, /knows 1 skill that it was given; 1 waits for steps that golem.toml does not name yet\n/);
  const taken = () => JSON.stringify(bodies('golem.bea.event')).match(/(?<="SkillIngested","name":")[a-z-]+/g);
  assert.deepEqual(taken(), ['ask']);
  for (const known of [['ask'], ['ask', 'rotate'], ['ask', 'rotate']]) {
    await run('golem run', { name: 'bea', ticks: 1 });
    assert.deepEqual(taken(), known);
    if (known.length === 1)
      appendFileSync(at('bea', 'golem.toml'), '\n[[remedy]]\nname = "rotate-logs"\nrun = "true"\n');
  }
  const sql = "SELECT outcome FROM ingestions WHERE name = 'rotate'";
  const told = await stage.life('bea', { domain: quiet() }, async (life) => rowsOf(life, sql));
  assert.deepEqual(told, [{ outcome: 'held' }, { outcome: 'accepted' }]);
  assert.match((await run('golem show', { name: 'bea' })).text, /^rotate \| 0\.72 [^\n]* ada-gen1$/m);
});
