// Owns `curator candidates`: skills for a query, by words or by models (seed 002, candidates; curator notes 6, 16). Knows no ranking.
// Invariant: it writes nothing, and opens the agent only when models shall run.
import { z } from 'zod';
import type { JsonValue } from '#base/json.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import type { CuratorGround } from '../../curator-ground.ts';
import type { CandidateResult } from '../../search/find-candidates.ts';
import type { RankedSkill } from '../../search/search-result.ts';
import { requiredText } from '../flags.ts';
import { missingFolderNote } from '../printed.ts';

const SAY_IT = 'say what it should be about: --query TEXT';

const input = z.object({
  query: requiredText(SAY_IT).trim().min(1, SAY_IT).describe('What the skill should be about'),
  skillsDir: z.string().optional().describe("Folder of skills; Talaria's own when absent"),
  semantic: z.boolean().default(false).describe('Tell which models would rank, and run none'),
  executeSemantic: z.boolean().default(false).describe('Rank by the local embedding model'),
  rerank: z.boolean().default(false).describe('With it, score the best again by the local reranker'),
  limit: z.coerce.number().default(10).describe('Most candidates, at least 1; default 10'),
  format: z.enum(['text', 'json']).default('text').describe('How the result is printed'),
});

export function candidatesCommand(ground: CuratorGround): AnyCommand {
  return defineCommand({
    name: 'curator candidates',
    summary: 'Find skills for a query, by shared words or by local models',
    surfaces: ['cli'],
    input,
    examples: [
      'talaria curator candidates --query "gateway restart" --limit 5',
      'talaria curator candidates --query "gateway restart" --skills-dir ~/.hermes/skills --semantic',
      'talaria curator candidates --query "gateway restart" --execute-semantic --rerank --format json',
    ],
    async *run(asked, { cwd, signal }): AsyncGenerator<CommandOutput> {
      const [{ fullPath }, { readSkillFiles }, { findCandidates }, { createRank }, { dumpJson }] = await Promise.all([
        import('#core/tools/file/file-access.ts'),
        import('../../search/read-skill-files.ts'),
        import('../../search/find-candidates.ts'),
        import('../../search/create-rank.ts'),
        import('../../text/dump-json.ts'),
      ]);
      const folder =
        asked.skillsDir === undefined
          ? ground.places.skills
          : fullPath(asked.skillsDir, cwd, { userHome: ground.places.userHome });
      const { skills, problems } = readSkillFiles(folder);
      const { query, semantic, executeSemantic: execute, rerank } = asked;
      const limit = Math.max(1, Math.trunc(asked.limit));
      const missing = missingFolderNote(asked.skillsDir === undefined ? undefined : folder);
      const found = await findCandidates(
        { query, skills, limit, semantic, execute, rerank },
        async (request, aborted) => createRank(ground, await ground.open())(request, aborted),
        signal,
      );
      const result = withNote(found, missing);
      if (asked.format === 'json') yield line(dumpJson(result));
      else yield* textOf(result, { folder, isEmpty: missing === undefined && skills.length === 0, problems });
      yield { type: 'data', value: result as unknown as JsonValue };
      if (result.error !== undefined) yield failure(result.mode, result.error);
    },
  });
}

interface Surroundings {
  readonly folder: string;
  /** It is there, and has no skills. */
  readonly isEmpty: boolean;
  readonly problems: readonly string[];
}

function* textOf(result: CandidateResult, { folder, isEmpty, problems }: Surroundings): Generator<CommandOutput> {
  const { embedding, reranker } = result.models;
  const names = [embedding, reranker].filter((name) => name !== 'not-used');
  yield line(`mode: ${result.mode}${names.length === 0 ? '' : ` (${names.join(', ')})`}`);
  if (result.error !== undefined) yield line('The models could not rank; by shared words instead:');
  if (result.note !== undefined) yield line(result.note);
  const shown = result.fallback?.candidates ?? result.candidates;
  if (shown.length > 0) yield table(shown);
  else if (isEmpty) yield line(`No SKILL.md below ${folder}.`);
  for (const problem of problems) yield line(`not read: ${problem}`);
}

function withNote(result: CandidateResult, missing: string | undefined): CandidateResult {
  if (missing === undefined) return result;
  return { ...result, note: result.note === undefined ? missing : `${result.note} ${missing}` };
}

function table(candidates: readonly RankedSkill[]): CommandOutput {
  const reranked = candidates.some((one) => one.embedding_score !== undefined);
  return {
    type: 'table',
    columns: ['skill', 'score', ...(reranked ? ['embedding'] : []), 'why', 'file'],
    rows: candidates.map((one) => [
      one.skill_name,
      String(one.score),
      ...(reranked ? [String(one.embedding_score ?? '')] : []),
      one.reasons.join(' '),
      one.path ?? '',
    ]),
  };
}

function line(text: string): CommandOutput {
  return { type: 'line', text };
}

function failure(code: string, message: string): CommandOutput {
  return { type: 'failure', exitCode: 1, code, message, fix: '' };
}
