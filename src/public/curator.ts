/**
 * Public entry `talaria/curator`: the deterministic core of evidence-led skill improvement, as functions on plain data. Every function
 * is synchronous, reads no file and no clock; `{ compat: 'upstream' }` gives the original's result where ours differs. What goes in and
 * comes out of each, with units, errors and the seed's section, stands where it is written.
 */

export { chooseVariant } from '#extensions/curator/block/choose-variant.ts';
export { buildManagedBlock } from '#extensions/curator/block/managed-block.ts';
export { spliceManagedBlock } from '#extensions/curator/block/splice-block.ts';
export { parseSkillHeader } from '#extensions/curator/header/parse-skill-header.ts';
export { classifyCandidate } from '#extensions/curator/mine/classify-candidate.ts';
export { planAutoRun } from '#extensions/curator/plan/plan-auto-run.ts';
export { lexicalCandidates } from '#extensions/curator/search/lexical-candidates.ts';
export { classifySource } from '#extensions/curator/sources/classify-source.ts';
export { structuralCheck } from '#extensions/curator/verify/structural-check.ts';
export { attributeSkill } from '#mind/evidence/ledger/attribute-skill.ts';
export { compactPreview } from '#mind/evidence/ledger/compact-preview.ts';
export { isErrorLike } from '#mind/evidence/ledger/error-like.ts';
