/**
 * Public entry `talaria/curator`: the deterministic core of evidence-led skill improvement, as functions on plain data. Every function
 * is synchronous, reads no file and no clock; `{ compat: 'upstream' }` gives the original's result where ours differs. What goes in and
 * comes out of each, with units, errors and the seed's section, stands where it is written.
 */

export { buildManagedBlock } from '#extensions/curator/block/managed-block.ts';
export { chooseVariant, spliceManagedBlock } from '#extensions/curator/block/prepare-update.ts';
export { classifySource, parseSkillHeader } from '#extensions/curator/block/skill-source.ts';
export { structuralCheck } from '#extensions/curator/block/structural-check.ts';
export { classifyCandidate } from '#extensions/curator/mine.ts';
export { planAutoRun } from '#extensions/curator/run/plan-auto-run.ts';
export { lexicalCandidates } from '#extensions/curator/skill-search.ts';
export { compactPreview } from '#mind/evidence/ledger/compact-value.ts';
export { attributeSkill, isErrorLike } from '#mind/evidence/ledger/turn-calls.ts';
