// Owns the kit that an owner gives a newborn: skills of the library, what each is worth to it, and his signature. Knows no store. Invariants: one kit has
// one text, canonical JSON, and no byte of it lies outside the signature.
import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { issueText } from '#base/schema-issue.ts';
import { bundledRecord, bundledSkill, type Frozen, MOST_BYTES, VERSION } from '#mind/skills/format/testament.ts';
import { isSignedBy, ownerOf } from './owner-key.ts';

/** By which an heir discounts: from a sibling of the clade; of others, of the same strategy, and of another one. */
export const FACTORS = { sibling: 0.9, strategy: 0.7, stranger: 0.5 } as const;

const share = z.number().min(0).max(1);
const keys = { signer: z.string(), signature: z.string() };

const seedKit = z.strictObject({
  ...{ kind: z.literal('seed-kit'), version: z.literal(VERSION), archetype: z.string() },
  ...{ made_at: z.int().min(0), ...keys },
  skills: z.array(
    bundledSkill.extend({
      record: bundledRecord.extend({ bloodstain: z.boolean() }),
      /** What it was worth to who proved it; `record.confidence` is what the library makes of that. */
      raw_confidence: share,
      distance: z.enum(Object.keys(FACTORS) as [keyof typeof FACTORS]),
    }),
  ),
});

export type SeedKit = Frozen<z.infer<typeof seedKit>>;

function kitText(kit: JsonValue): string {
  return `${canonicalJson(kit)}\n`;
}

/** Text of a kit, its skills in order of names, signed with the key of that home. */
export function signKit(kit: Pick<SeedKit, 'archetype' | 'made_at' | 'skills'>, home: string): string {
  const owner = ownerOf(home);
  const skills = kit.skills.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const unsigned = { kind: 'seed-kit', version: VERSION, ...kit, skills, signer: owner.key } as const;
  return kitText({ ...unsigned, signature: owner.sign('kit', unsigned).signature });
}

/** The kit of a text. `owners`: keys that count here. Refusal `unread`: it is no kit, or a changed one. */
export function readKit(
  text: string,
  owners: readonly string[],
): Result<SeedKit, 'no-kit' | 'unread' | 'bad-signature'> {
  const parsed = parseJson(text.length > MOST_BYTES ? '' : text);
  if (!parsed.ok || !isJsonObject(parsed.value) || parsed.value.kind !== 'seed-kit')
    return refuse('no-kit', 'It is no kit.');
  const read = seedKit.safeParse(parsed.value);
  if (!read.success || kitText(read.data) !== text) {
    const issue = read.error?.issues[0];
    return refuse('unread', issue ? `${issue.path.join('.') || 'It'}: ${issueText(issue)}.` : 'It was written anew.');
  }
  const { signature, ...unsigned } = read.data;
  const { signer: by } = unsigned;
  if (owners.includes(by) && isSignedBy('kit', unsigned, { by, signature })) return ok(read.data);
  return refuse('bad-signature', `No owner whom this home trusts signed it, or it was changed: ${by}.`);
}
