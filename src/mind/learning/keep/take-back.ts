// Owns `/undo`: which write is meant, and taking it back by the undo of its own door. Knows no surface.
// Invariants: what was taken back by another way meanwhile is passed over; what a later version covers is kept until that one is undone;
// what cannot be undone any more is said once, and the next undo means the write before it.
import { ok, type Result, refuse } from '#base/result.ts';
import type { Proposal } from '#mind/evidence/proposal.ts';
import { undoMemoryWrite } from '#mind/memory/journal/undo-memory-write.ts';
import type { SkillDoor, SkillVersion } from '#mind/skills/skill-door.ts';
import type { Learning } from '../learning.ts';
import type { Announcements, KnownWrite } from './announcements.ts';
import { doneLine, takenBackLine } from './describe-change.ts';
import type { KeepDoors } from './keep-proposal.ts';

export interface TakeBackParts {
  readonly doors: Pick<KeepDoors, 'ledger' | 'memory'>;
  readonly door: Pick<SkillDoor, 'versions' | 'rollback'>;
  readonly announcements: Announcements;
  /** Called after a skill was put back, so that its readers see it. */
  readonly skillWritten: () => Promise<void>;
}

/** Refusals that stay as they are, however often it is tried. */
const FINAL: ReadonlySet<string> = new Set([
  'target-changed',
  'nothing-to-undo',
  'no-such-version',
  'backup-not-found',
  'manifest-changed',
]);

/** What `takeBackLast` would mean now. */
export function undoableNow(parts: TakeBackParts, sessionId?: string): ReturnType<Learning['undoable']> {
  const known = nextOf(parts, sessionId);
  return known && { at: known.at, isHere: known.isHere, line: doneLine(known.proposal) };
}

function nextOf(parts: TakeBackParts, sessionId?: string): KnownWrite | undefined {
  return parts.announcements.undoable(sessionId).find(({ proposal }) => stands(parts, proposal));
}

/** Gives one sentence. */
export async function takeBackLast(
  parts: TakeBackParts,
  sessionId?: string,
): Promise<Result<string, 'nothing-to-undo' | (string & {})>> {
  const { announcements } = parts;
  const proposal = nextOf(parts, sessionId)?.proposal;
  if (proposal === undefined) return refuse('nothing-to-undo', 'Nothing was kept lately that could be taken back.');
  const undone = proposal.kind === 'memory' ? await undoMemory(parts, proposal) : await undoSkill(parts, proposal);
  if (undone.ok || FINAL.has(undone.reason)) announcements.undone(proposal.id);
  return undone.ok ? ok(takenBackLine(proposal)) : undone;
}

function stands({ door }: TakeBackParts, { kind, id, target }: Proposal): boolean {
  if (kind === 'memory') return true;
  return door.versions(target).some((one) => one.proposalId === id && one.rolledBackAt === undefined);
}

async function undoMemory({ doors }: TakeBackParts, { id }: Proposal): Promise<Result<unknown>> {
  return undoMemoryWrite({ files: doors.memory, ledger: doors.ledger }, id);
}

async function undoSkill({ door, skillWritten }: TakeBackParts, { id, target }: Proposal): Promise<Result<unknown>> {
  const versions = door.versions(target);
  const version = versions.find((one) => one.proposalId === id)?.version;
  const undone = await door.rollback({ skill: target, ...(version === undefined ? {} : { version }) });
  if (undone.ok) await skillWritten();
  if (undone.ok || undone.reason !== 'target-changed' || version === undefined) return undone;
  const isLater = (one: SkillVersion) =>
    one.version > version && one.rolledBackAt === undefined && one.action !== 'rollback';
  const later = versions.filter(isLater);
  const [newest] = later.toSorted((a, b) => b.version - a.version);
  return newest === undefined ? undone : refuse('later-version', coveredBy(newest));
}

/** Not final: that one can be undone first. */
function coveredBy({ skill, version, actor }: SkillVersion): string {
  const who = actor === 'owner' ? 'you' : `the ${actor}`;
  return `Nothing was undone: ${who} changed ${skill} since (version ${version}); \`talaria skills rollback ${skill}\` undoes that first.`;
}
