// Owns the guidance lines at the foot of a managed block, by style (curator notes 10). Constants: their bytes are what skills hold.
import type { GuidanceStyle } from './variant.ts';

const CHECK = '- When this skill is relevant, check these observed signals before choosing a workflow.';
const TARGET = '- Prefer targeted verification over broad retries when similar errors recur.';
const REPLACE =
  '- If a repeated issue is understood, replace this evidence note with a concise human-readable SOP update.';
const REUSE = '- Reuse matching evidence rows before re-running the same commands.';
const REPLAY = '- Replay the newest error rows first before trying a new approach.';

export const GUIDANCE: Readonly<Record<GuidanceStyle, readonly string[]>> = {
  'verify-first': [CHECK, TARGET, REPLACE],
  'evidence-first': [REUSE, CHECK, REPLACE],
  'errors-first': [REPLAY, TARGET, REPLACE],
};
