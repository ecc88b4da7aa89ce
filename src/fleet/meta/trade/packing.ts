// Owns what may be sold and how it is packed: a skill of the library or an entry of a Grimoire, sealed and described, and the lot as a file for an agent.
// Knows no shop and no page. Invariants: nothing is packed that was not proved here, that holds a secret or that the guard doubts; what was bought is sold on
// only where its maker allows it, and he gets his part; nothing leaves the house before its owner said yes.
import { join } from 'node:path';
import { z } from 'zod';
import type { Hex } from '#base/ethereum.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, objectOf, objectsOf, parseJson, textOf } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { codeLength } from '#base/text/code-points.ts';
import type { Sale as Parties } from '#fleet/market/chain.ts';
import {
  checkListing,
  type Draft,
  LEAST_BODY,
  LEAST_CONFIDENCE,
  type Listing,
  previewOf,
} from '#fleet/market/listing.ts';
import type { Lot, MarketRows } from '#fleet/market/market-rows.ts';
import { openContent, openKey, sealContent, sealKey } from '#fleet/market/seal.ts';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { doubtOf, filesBeside } from '#mind/skills/format/testament.ts';
import { type EntryRow, type Library, lentBy, listOf, type ProofRow } from '../library/library-home.ts';
import type { Desk, Trade } from './desk.ts';
import type { MarketSettings } from './trade-settings.ts';

/** What is sold, in clear, and what is said of it. */
export interface Goods
  extends Pick<Draft, 'item' | 'name' | 'category' | 'version' | 'confidence' | 'validated_count' | 'lineage'> {
  readonly content: Buffer;
  /** That the preview is the beginning of. */
  readonly body: string;
  /** Of what is sold on. */
  readonly creator?: Hex;
  readonly previous?: Hex;
}

/** Verified uses by golems of this owner. */
const LEAST_USES = 3;

export const FIXES = {
  'no-such-entry': 'talaria library list shows what there is.',
  'too-unsure': 'Confidence grows by verified uses: let golems use it.',
  'too-short': 'The first 500 characters are free to read: write down more of what you know.',
  'has-secret': 'Take the secret out of it, and change it where it was used.',
  dangerous: 'Take out what a skill of a stranger would be refused for: commands that load, delete or send.',
  'has-files': 'Only the SKILL.md is sold: put what is needed into it.',
  'no-resale': 'Its maker must allow it: `resale: allowed` below `metadata` of its SKILL.md.',
  'creator-unknown': 'Only what was bought here by `talaria market buy` can be sold on.',
  unproved: 'Let your golems use it: three verified uses are needed.',
} as const;
type Unsellable = keyof typeof FIXES;

/** A skill of the library, as it stands there. */
export async function packSkill(library: Library, rows: MarketRows, name: string): Promise<Result<Goods, Unsellable>> {
  const entry = library.entry(name);
  const { skills, door } = await library.doors();
  const skill = skills.get(name);
  if (entry === undefined || entry.status === 'held' || skill === undefined)
    return refuse('no-such-entry', `There is no ${name} in the library that stands.`);
  const proofs = library.proofs(name);
  const why = unproved(entry, proofs) ?? unfit(skill.text, skill.body);
  if (why !== undefined) return why;
  if (filesBeside(skill.folder).length > 0) return refuse('has-files', `${name} has files beside its SKILL.md.`);
  const origin = soldOn(rows, proofs);
  if (!origin.ok) return origin;
  const lineage = proofs.filter(({ standing }) => standing !== 'owner').flatMap(({ path }) => listOf(path));
  return ok({
    ...{ item: 'skill', name, category: entry.domain || 'general', version: door.versions(name).at(-1)?.version ?? 0 },
    ...{ ...stated(entry.raw, usesOf(proofs)), lineage: [...new Set(lineage)] },
    ...{ content: Buffer.from(skill.text), body: skill.body, ...origin.value },
  });
}

/** Never more than is believed here. */
function stated(raw: number, uses: number): Pick<Goods, 'confidence' | 'validated_count'> {
  return { confidence: Math.floor(raw * 1_000 + 1e-6) / 1_000, validated_count: uses };
}

function usesOf(proofs: readonly ProofRow[]): number {
  return proofs.reduce((sum, { standing, validated }) => sum + (standing === 'outside' ? 0 : validated), 0);
}

function unproved({ name, raw }: EntryRow, proofs: readonly ProofRow[]) {
  if (raw < LEAST_CONFIDENCE)
    return refuse('too-unsure', `${name} has confidence ${raw.toFixed(2)}; ${LEAST_CONFIDENCE} is the least.`);
  const uses = usesOf(proofs);
  return uses < LEAST_USES
    ? refuse('unproved', `${name} was verified ${uses} times by your golems; ${LEAST_USES} is the least.`)
    : undefined;
}

function unfit(text: string, body: string) {
  if (codeLength(body) < LEAST_BODY)
    return refuse('too-short', `It has ${codeLength(body)} characters; ${LEAST_BODY} is the least.`);
  const [secret] = findSecrets(text);
  if (secret !== undefined) return refuse('has-secret', `A ${secret.kind} stands in it, at character ${secret.start}.`);
  const record = { confidence: 0, validated_count: 0, improved_count: 0, use_count: 0, success_count: 0 };
  const judged = {
    name: 'sold',
    skill_md: text,
    files: [],
    record: { ...record, failure_count: 0, tags: [], lineage: [] },
  };
  return doubtOf(judged) === undefined
    ? undefined
    : refuse('dangerous', 'The guard doubts it: nobody could take it in.');
}

/** Whoever made what is sold on, as far as it was bought; nothing of what is one's own. */
function soldOn(
  rows: MarketRows,
  proofs: readonly ProofRow[],
): Result<Pick<Goods, 'creator' | 'previous'>, 'no-resale' | 'creator-unknown'> {
  const bought = proofs.find(({ source }) => source === 'purchase');
  if (bought === undefined) return ok({});
  const read = parseJson(bought.content);
  const text = textOf(objectOf(read.ok ? read.value : undefined).skill_md);
  const parsed = parseSkill(text);
  // What was bought counts, and not what the owner may have written into it since.
  const { resale } = objectOf(parsed.ok ? parsed.frontmatter.metadata : undefined);
  if (resale !== 'allowed')
    return refuse('no-resale', 'It was bought, and its maker does not allow that it is sold on.');
  const hash = `0x${sha256(text)}`;
  const { listing } = rows.purchases(10_000).find((one) => one.listing.content_hash === hash) ?? {};
  if (listing === undefined)
    return refuse('creator-unknown', 'It came from outside, and nothing here says who is paid for it.');
  return ok({ creator: listing.creator ?? listing.seller, previous: listing.id });
}

/** What a golem of this home holds to be so. */
export async function packEntry({ ground }: Desk, golem: string, id: string): Promise<Result<Goods, Unsellable>> {
  const door = await lentBy(ground, 'golems');
  const answer = await door?.ask(golem, { what: 'grimoire', query: '', limit: 10_000 });
  const found = answer?.ok ? objectsOf(answer.value.value).find((one) => one.id === id) : undefined;
  if (found === undefined || !answer?.ok) return refuse('no-such-entry', `${golem} has no entry ${id}.`);
  const [text, raw, uses] = [textOf(found.text), Number(found.confidence), Number(found.validated)];
  if (raw < LEAST_CONFIDENCE) return refuse('too-unsure', `It has confidence ${raw.toFixed(2)}.`);
  if (uses < LEAST_USES) return refuse('unproved', `It was verified ${uses} times; ${LEAST_USES} is the least.`);
  const why = unfit(text, text);
  if (why !== undefined) return why;
  return ok({
    ...{ item: 'entry', name: id, category: textOf(found.kind) || 'general', version: 0, ...stated(raw, uses) },
    ...{ lineage: [answer.value.golem], content: Buffer.from(text), body: text },
  });
}

export interface Asked {
  /** Micro-USDC. */
  readonly price: bigint;
  readonly evaluator: 'buyer' | 'agent';
  readonly previous?: Hex | undefined;
}

/** Sealed and described, and not signed. */
export interface Packed {
  readonly draft: Draft;
  readonly parties: Parties;
  readonly sealed: Awaited<ReturnType<typeof sealContent>>;
}

export async function pack(
  { ground, settings }: Desk,
  { chain, box }: Trade,
  goods: Goods,
  asked: Asked,
): Promise<Packed> {
  const { content, body, creator, previous = asked.previous, ...about } = goods;
  const sealed = await sealContent(content);
  const agent = agentOf(settings) ?? { address: chain.me, key: box.publicKey };
  const or = (text: string) => (text === '' ? chain.me : (text.toLowerCase() as Hex));
  const maker = creator ?? chain.me;
  const parties = {
    ...{ seller: chain.me, agent: agent.address, creator: maker, creatorOwner: maker },
    ...{ styx: or(settings.styx_address), gas: or(settings.gas_address) },
  };
  const draft: Draft = {
    ...{ ...about, preview: previewOf(body.trim()), content_hash: sealed.contentHash },
    ...{ ciphertext_hash: sealed.ciphertextHash, key_commit: sealed.keyCommit, base_price: String(asked.price) },
    ...{ listed_at: ground.clock.now(), seller: chain.me, splitter: await chain.splitterOf(sealed.keyCommit, parties) },
    ...{ escrow: chain.places.escrow, chain_id: chain.places.chainId, agent },
    evaluator: asked.evaluator === 'agent' ? agent.address : 'buyer',
    ...(creator === undefined ? {} : { creator }),
    ...(previous === undefined ? {} : { previous }),
  };
  return { draft, parties, sealed };
}

/** Somebody else who delivers; undefined: nobody is set. */
export function agentOf({ agent }: MarketSettings): Draft['agent'] | undefined {
  return agent.address === '' || agent.key === ''
    ? undefined
    : { address: agent.address.toLowerCase() as Hex, key: agent.key };
}

/** The lot as this home keeps it, and as its agent does. */
export async function lotOf({ parties, sealed }: Packed, listing: Listing, box: string) {
  return { listing, parties, ciphertext: sealed.ciphertext, sealed: await sealKey(sealed.secret, box, listing.id) };
}

type LotParts = Pick<Lot, 'listing' | 'parties' | 'ciphertext' | 'sealed'>;

export function lotPath(home: string, id: Hex): string {
  return join(home, 'market', 'lots', `${id}.json`);
}

export function lotText({ listing, parties, ciphertext, sealed }: LotParts): string {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return `${JSON.stringify({ listing, parties, ciphertext: base64(ciphertext), sealed: base64(sealed) }, null, 2)}\n`;
}

const hex20 = z.string().regex(/^0x[0-9a-f]{40}$/);
const partiesForm = z.strictObject({
  ...{ seller: hex20, agent: hex20, creator: hex20, creatorOwner: hex20, styx: hex20, gas: hex20 },
});

/** A lot that a seller handed over: of this agent, whole, listed, and it opens. */
export async function readLot(
  text: string,
  { chain, box }: Trade,
): Promise<Result<LotParts, 'bad-lot' | 'not-listed'>> {
  const read = parseJson(text);
  const given = objectOf(read.ok && isJsonObject(read.value) ? read.value : undefined);
  const listing = await checkListing(given.listing);
  if (!listing.ok) return refuse('bad-lot', listing.detail);
  const parties = partiesForm.safeParse(given.parties).data as Parties | undefined;
  const { id, key_commit: commit, agent, seller, splitter } = listing.value;
  if (parties === undefined || (await chain.splitterOf(commit, parties)) !== splitter)
    return refuse('bad-lot', 'Who is paid is not what its listing says.');
  if (agent.address !== chain.me || parties.agent !== chain.me || agent.key !== box.publicKey)
    return refuse('bad-lot', `It is for the agent ${agent.address}, not for ${chain.me}.`);
  const [ciphertext, sealed] = [given.ciphertext, given.sealed].map((one) => Buffer.from(textOf(one), 'base64'));
  if (ciphertext === undefined || sealed === undefined) return refuse('bad-lot', 'It is not whole.');
  const secret = await openKey(sealed, box.privateKey, id);
  const content = secret.ok ? await openContent(ciphertext, secret.value, listing.value) : secret;
  if (!content.ok) return refuse('bad-lot', content.detail);
  if ((await chain.isListed(id, seller)) !== splitter)
    return refuse('not-listed', 'Its seller has not listed it on the chain yet.');
  return ok({ listing: listing.value, parties, ciphertext, sealed });
}
