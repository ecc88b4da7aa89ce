// Owns what a golem leaves behind (hierarchy notes A7, B3, D5): the testament of a dead one and the bundle of a living one, as a file, its
// signature (EIP-712, no chain) and who signed it. Knows no store: the golems' register of births says whose an address is.
// Invariants: one bundle has one text, canonical JSON, and no byte of it lies outside the signature; nothing is written that is not read again.
// A bundle is foreign data: its skills pass the skill door as any others, which judges paths and texts.
import { z } from 'zod';
import { atomicWrite } from '#base/atomic-write.ts';
import { TalariaError } from '#base/errors.ts';
import { accountOf, ethereum, signerOf } from '#base/ethereum.ts';
import { canonicalJson, isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { guardDecision } from '#mind/evidence/guard/finding.ts';
import { scanSkillFiles } from '#mind/evidence/guard/scan-skill.ts';
import { readSkillTree } from '../door/skill-tree.ts';
import { SKILL_FILE, SKILL_NAME, skillLimits } from './skill-text.ts';

export const DEATH_CAUSES = ['credit-exhausted', 'senescence', 'age', 'owner-kill', 'vm-failure'] as const;

/** The form that this version reads and writes. */
export const VERSION = 1;
/** Of the file. */
export const MOST_BYTES = 64 * 1024 ** 2;
export const TOO_LARGE = `A bundle has at most ${MOST_BYTES / 1024 ** 2} MiB.`;
const MOST_SKILLS = 10_000;

const name = z.string().max(skillLimits.name).regex(SKILL_NAME);
/** Ids of golems, oldest first. */
const lineage = z.array(name).refine((ids) => new Set(ids).size === ids.length, 'names one golem twice');
const whole = z.int().min(0);
const generation = z.int().min(1).max(0xffff_ffff);
const feeling = z.number().min(-1).max(1);
const cause = z.enum(DEATH_CAUSES);

export const bundledRecord = z.strictObject({
  confidence: z.number().min(0).max(1),
  ...{ validated_count: whole, improved_count: whole, use_count: whole, success_count: whole, failure_count: whole },
  ...{ tags: z.array(z.string()), lineage, derived_from: z.string().optional() },
  /** Of its text where it was; absent in bundles of before. */
  version: whole.optional(),
});

export const bundledSkill = z.strictObject({
  name,
  /** Whole SKILL.md. */
  skill_md: z.string(),
  /** Those beside it; paths are relative to its folder. */
  files: z.array(z.strictObject({ path: z.string(), base64: z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/) })),
  record: bundledRecord,
});

const deadSkill = bundledSkill.extend({
  record: bundledRecord.extend({ bloodstain: z.literal(true) }),
  /** Of the one that made it; `validations`: in its life. */
  death_context: z.strictObject({
    ...{ golem: name, generation, tick: whole, cause, validations: whole },
    /** What was said of it at the end. */
    note: z.string().max(2_000).optional(),
  }),
});

const common = {
  version: z.literal(VERSION),
  /** Id of the golem, the last of the lineage. */
  source_golem: name,
  ...{ lineage, generation, archetype: z.string(), domain: z.string() },
  /** Epoch ms. */
  timestamp: whole,
  last_pad: z.strictObject({ pleasure: feeling, arousal: feeling, dominance: feeling }),
  /** PLAYBOOK.md as it stood. */
  playbook_snapshot: z.string(),
  /** Address, lower case; null, as the signature: the golem had no key any more. */
  signer: z.string().nullable(),
  signature: z.string().nullable(),
};

const anyBundle = z
  .discriminatedUnion('kind', [
    z.strictObject({
      ...{ kind: z.literal('skill-testament'), ...common, death_cause: cause, death_tick: whole },
      skills: z.array(deadSkill),
    }),
    z.strictObject({
      ...{ kind: z.literal('skill-bundle'), ...common, death_cause: z.null(), skills: z.array(bundledSkill) },
    }),
  ])
  // Each name once.
  .refine(({ skills }) => skills.every(({ name: own }, at) => at === 0 || (skills[at - 1]?.name ?? '') < own), {
    path: ['skills'],
    message: 'is not in order of names',
  })
  .refine((bundle) => bundle.lineage.at(-1) === bundle.source_golem, 'has a lineage of another golem');

export type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;
type AnyBundle = Frozen<z.infer<typeof anyBundle>>;
export type SkillTestament = Extract<AnyBundle, { readonly kind: 'skill-testament' }>;
export type SkillBundle = Extract<AnyBundle, { readonly kind: 'skill-bundle' }>;
export type BundledSkill = AnyBundle['skills'][number];
type Signature = { readonly signer: string | null; readonly signature: string | null };
type Unsigned = Omit<SkillTestament, keyof Signature> | Omit<SkillBundle, keyof Signature>;

/** Whose an address is: of a golem of this home, of somebody whom the owner takes for good, of nobody known. */
export type Standing = 'own' | 'accepted' | 'stranger';

const KEY_LOST = 'Bring golem.key back from a copy; without it the golem goes on, and what it leaves is unsigned.';

/**
 * In order of names and signed; without a key it stays unsigned, and waits for the owner wherever it comes to.
 * Throws TalariaError `key-invalid`.
 */
export async function signBundle<Given extends Unsigned>(
  bundle: Given,
  key: string | undefined,
): Promise<Given & Signature> {
  const skills = bundle.skills.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const account = key === undefined ? undefined : await accountOf(key, KEY_LOST);
  const signed = { ...bundle, skills, signer: account?.address.toLowerCase() ?? null };
  const signature = (await account?.signTypedData(await typedData(signed))) ?? null;
  return { ...signed, signature };
}

/** Is it whole, and who signed it? `known`: whose an address is that speaks for that golem. */
export async function verifyBundle(
  bundle: AnyBundle,
  known: (address: string, golem: string) => Exclude<Standing, 'stranger'> | undefined,
): Promise<Result<{ readonly signer: string; readonly standing: Standing }, 'unsigned' | 'bad-signature'>> {
  const { signer, signature } = bundle;
  if (signer === null || signature === null)
    return refuse('unsigned', 'Nobody signed it: look at it, and take it in yourself.');
  if ((await signerOf(await typedData(bundle), signature)) !== signer)
    return refuse('bad-signature', `It is not what ${signer} signed: it was changed, or is somebody else's.`);
  return ok({ signer, standing: known(signer, bundle.source_golem) ?? 'stranger' });
}

const FIELDS = [
  ...['sourceGolem string', 'lineage string[]', 'generation uint32', 'deathCause string', 'deathTick uint64'],
  ...['skillsRoot bytes32', 'skillCount uint32', 'playbookHash bytes32', 'timestamp uint64', 'contextHash bytes32'],
];

/** What is signed. `contextHash` is of everything but the skills, which `skillsRoot` holds. */
async function typedData(bundle: Unsigned & Pick<Signature, 'signer'>) {
  const { keccak256 } = await ethereum();
  const hash = (text: string) => keccak256(Buffer.from(text));
  const roots = bundle.skills.map((one) => hash(canonicalJson(one))).sort();
  const isDead = bundle.kind === 'skill-testament';
  const fields = FIELDS.filter((field) => isDead || !field.startsWith('death'));
  const primaryType = isDead ? 'SkillTestament' : 'SkillBundle';
  return {
    domain: { name: 'HermesSkillTestament', version: '1', chainId: 0 },
    types: {
      [primaryType]: fields.map((field) => ({ name: field.split(' ')[0] ?? '', type: field.split(' ')[1] ?? '' })),
    },
    primaryType,
    message: {
      ...{ sourceGolem: bundle.source_golem, lineage: bundle.lineage, generation: bundle.generation },
      ...(isDead ? { deathCause: bundle.death_cause, deathTick: bundle.death_tick } : {}),
      skillsRoot: keccak256(`0x${roots.map((root) => root.slice(2)).join('')}`),
      ...{ skillCount: roots.length, playbookHash: hash(bundle.playbook_snapshot), timestamp: bundle.timestamp },
      contextHash: hash(canonicalJson({ ...bundle, skills: undefined, signature: undefined })),
    },
  };
}

export type UnreadBundle =
  | 'too-large'
  | 'not-json'
  | 'not-a-bundle'
  | 'newer-version'
  | 'too-many-skills'
  | 'not-canonical';

/** The bundle of a file, whoever signed it. */
export function readBundle(text: string): Result<AnyBundle, UnreadBundle> {
  if (text.length > MOST_BYTES || Buffer.byteLength(text) > MOST_BYTES) return refuse('too-large', TOO_LARGE);
  const parsed = parseJson(text);
  if (!parsed.ok) return refuse('not-json', parsed.detail);
  const early = refuseEarly(parsed.value);
  if (early) return early;
  const read = anyBundle.safeParse(parsed.value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return refuse('not-a-bundle', issue ? `${issue.path.join('.') || 'It'}: ${issueText(issue)}.` : 'It is no bundle.');
  }
  if (bundleText(read.data) !== text)
    return refuse('not-canonical', 'It was written anew since it was signed: take the file as it was made.');
  return ok(read.data);
}

/** What need not be looked at in whole. */
function refuseEarly(value: JsonValue) {
  if (!isJsonObject(value) || (value.kind !== 'skill-testament' && value.kind !== 'skill-bundle'))
    return refuse('not-a-bundle', 'It is neither a testament nor a bundle of skills.');
  if (typeof value.version === 'number' && value.version > VERSION)
    return refuse('newer-version', `It has form ${value.version}, this Talaria reads ${VERSION}: update Talaria.`);
  if (Array.isArray(value.skills) && value.skills.length > MOST_SKILLS)
    return refuse('too-many-skills', `It has ${value.skills.length} skills; at most ${MOST_SKILLS} are read.`);
  return undefined;
}

/** One file (0600), wholly there or not at all. Throws TalariaError as `atomicWrite`, and `bundle-unreadable` for what no reader would take. */
export function writeBundle(path: string, bundle: AnyBundle): void {
  const text = bundleText(bundle);
  const read = readBundle(text);
  if (!read.ok) throw new TalariaError(`${path} would not be read: ${read.detail}`, { code: 'bundle-unreadable' });
  atomicWrite(path, text);
}

/** As it stands in a file. */
export function bundleText(bundle: AnyBundle): string {
  return `${canonicalJson(bundle)}\n`;
}

/** What lies beside the SKILL.md of a folder. */
export function filesBeside(folder: string): BundledSkill['files'] {
  const tree = readSkillTree(folder);
  if (!tree.ok || tree.value === undefined) return [];
  const beside = [...tree.value].filter(([path]) => path !== SKILL_FILE);
  return beside.map(([path, { bytes }]) => ({ path, base64: Buffer.from(bytes).toString('base64') }));
}

/** What nobody of the clade made is judged as what strangers make; undefined: let through. */
export function doubtOf({ skill_md, files }: BundledSkill): 'held' | 'rejected' | undefined {
  const text = { path: SKILL_FILE, bytes: Buffer.from(skill_md), executable: false };
  const beside = files.map(({ path, base64 }) => ({ path, bytes: Buffer.from(base64, 'base64'), executable: false }));
  const decision = guardDecision(scanSkillFiles([text, ...beside]), 'community');
  return decision === 'allow' ? undefined : decision === 'ask' ? 'held' : 'rejected';
}
