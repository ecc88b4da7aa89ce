// Owns tying what the main agent writes into skills in an ordinary turn to the turn itself: the owner's words and the call (issue:
// provenance attached by the loop). Memory files do it by their journal. Knows no tool.
// Invariant: what a writer cites itself is left alone.
import type { Citation } from '#mind/evidence/trace-guard/claim.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';

export function citingDoor<Door extends SkillDoor>(
  door: Door,
  citationsOf: (sessionId: string) => readonly Citation[],
): Door {
  return {
    ...door,
    write: (request, signal) => {
      const { sessionId, citations, proposalId } = request;
      const needs = sessionId !== undefined && citations === undefined && proposalId === undefined;
      return door.write(needs ? { ...request, citations: citationsOf(sessionId) } : request, signal);
    },
  };
}
