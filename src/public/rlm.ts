/**
 * Public entry `talaria/rlm`: the deterministic core of recursion with evidence, as functions on plain data: TraceGuard and its manifest,
 * repair of missing handles, JSON out of a reply, the scorer of truncated reading, operational memory. Every function is synchronous,
 * reads no file, no clock and asks no model; `mode: 'v1'` and `version: 'v1'` give the original's result where ours differs. What goes
 * in and comes out of each, with errors and the seed's section, stands where it is written.
 */

export { extractJson } from '#extensions/rlm/guard/extract-json.ts';
export { buildManifest } from '#extensions/rlm/guard/manifest.ts';
export { repairMissingHandles } from '#extensions/rlm/guard/repair-missing-handles.ts';
export { scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
export { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
export { validateMemoryRecord } from '#extensions/rlm/memory/memory-record.ts';
export { recallPriors } from '#extensions/rlm/memory/priors.ts';
