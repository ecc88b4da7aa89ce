/** A library in a home, and golems that are nothing but a name, a key and what they signed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { addressOf, newKey } from '#base/ethereum.ts';
import { type Library, type LibraryOptions, withLibrary } from '#fleet/meta/library/library-home.ts';
import { room } from '#fleet/meta/room.ts';
import { ownerOf } from '#fleet/styx/owner-key.ts';
import { type SkillBundle, type SkillTestament, signBundle, writeBundle } from '#mind/skills/format/testament.ts';
import { leapingClock } from '../../ground.ts';
import { createStage, groundOf, runSpec } from '../../surfaces/app/app-fixture.ts';

export const START_MS = 1_768_478_400_000;
export const DAY_MS = 86_400_000;

export interface Told {
  readonly name: string;
  /** When it is for, and its steps. */
  readonly when: string;
  readonly steps: readonly string[];
  readonly confidence?: number;
  readonly validated?: number;
  readonly failures?: number;
  readonly lineage?: readonly string[];
  readonly from?: string;
  readonly version?: number;
  readonly tags?: readonly string[];
  readonly more?: string;
}

export function skillMd({ name, when, steps, more = 'None seen so far.' }: Told): string {
  const lines = steps.map((step, at) => `${at + 1}. \`${step}\``).join('\n');
  const head = `---\nname: ${name}\ndescription: ${when.slice(0, 60)}\n---\n\n# ${name}\n\n`;
  return `${head}## When to Use\n${when}\n\n## Procedure\n${lines}\n\n## Pitfalls\n- ${more}\n`;
}

export interface Signer {
  readonly golem: string;
  readonly key: string;
  readonly lineage?: readonly string[];
  readonly archetype?: string;
  readonly domain?: string;
}

/** Of the same name always the same key. */
const keys = new Map<string, string>();

export function signer(golem: string, more: Partial<Signer> = {}): Signer {
  const key = keys.get(golem) ?? newKey();
  keys.set(golem, key);
  return { golem, key, ...more };
}

/** Text of a testament, or with `alive` of a bundle, that this golem signed. */
export async function saidBy(
  { golem, key, lineage = [golem], archetype = 'observer', domain = 'watch' }: Signer,
  skills: readonly Told[],
  { alive = false, at = START_MS } = {},
): Promise<string> {
  const generation = Number(/\d+$/.exec(golem)?.[0] ?? 1);
  const common = {
    ...({ version: 1, source_golem: golem, lineage, generation, archetype, domain, timestamp: at } as const),
    ...{ last_pad: { pleasure: 0, arousal: 0, dominance: 0 }, playbook_snapshot: '' },
  };
  const plain = skills.map((one) => {
    const { confidence = 0.8, validated = 3, failures = 0, lineage: path = [], from, version, tags = [domain] } = one;
    const counts = { validated_count: validated, improved_count: 0, use_count: validated + failures };
    return {
      ...{ name: one.name, skill_md: skillMd(one), files: [] },
      record: {
        ...{
          ...counts,
          confidence,
          success_count: validated,
          failure_count: failures,
          tags: [...tags],
          lineage: [...path],
        },
        ...(from === undefined ? {} : { derived_from: from }),
        ...(version === undefined ? {} : { version }),
      },
    };
  });
  const bundle: SkillBundle | SkillTestament = alive
    ? await signBundle({ ...common, kind: 'skill-bundle', death_cause: null, skills: plain }, key)
    : await signBundle(
        {
          ...({ ...common, kind: 'skill-testament', death_cause: 'age', death_tick: 9 } as const),
          skills: plain.map((one) => ({
            ...one,
            record: { ...one.record, bloodstain: true as const },
            death_context: { golem, generation, tick: 9, cause: 'age' as const, validations: 1 },
          })),
        },
        key,
      );
  // As the file of it says: there is one way to write it.
  const path = join(mkdtempSync(join(tmpdir(), 'talaria-said-')), 'bundle.json');
  writeBundle(path, bundle);
  const text = readFileSync(path, 'utf8');
  rmSync(dirname(path), { recursive: true });
  return text;
}

/** As the log tells of it; `home`: whose owner vouches for it. */
export async function presenceOf(
  { golem, key, archetype = 'observer', domain = 'watch' }: Signer,
  { status = 'lives', home = '' } = {},
) {
  const signed = await addressOf(key);
  const vouch =
    home === '' ? {} : { vouch: { ...ownerOf(home).sign('birth', { kind: 'birth', golem, signer: signed }) } };
  return { golem, name: golem.replace(/-gen\d+$/, ''), signer: signed, archetype, domain, status, ...vouch };
}

export function createLibraryStage(t: TestContext) {
  const stage = createStage(t);
  const clock = leapingClock(START_MS);
  const ground = groundOf(t, { environment: stage.environment, clock });
  return {
    ...{ ground, root: stage.root, cwd: stage.cwd, clock },
    /** Golems that count as born here. */
    open: <T>(work: (library: Library) => Promise<T>, golems: LibraryOptions['golems'] = {}) =>
      withLibrary(ground, work, { golems: { standing: async () => 'own', ...golems } }),
    run: async (name: string, input: unknown = {}, ask?: (question: string) => Promise<string>) => {
      const command = (await room.commands?.(ground))?.find((one) => one.name === name);
      if (command === undefined) throw new Error(`no command ${name}`);
      return runSpec(command, input, { cwd: stage.cwd, ...(ask ? { ask } : {}) });
    },
  };
}
