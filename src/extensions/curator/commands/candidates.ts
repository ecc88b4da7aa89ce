// Owns the commands of the review queue: `curator candidates-mine`, `candidates-list`, and a person's word on candidates, `candidates-accept` and
// `candidates-reject` (seed 002; curator notes 7, 16, 21.12).
import { existsSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { suspectMark } from '#base/database/damage.ts';
import { errorCode, TalariaError } from '#base/errors.ts';
import type { JsonValue } from '#base/json.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  type Failure,
  failed,
  line,
  refused,
  wrongUse,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { CANDIDATE_STATUSES, CANDIDATE_TYPES } from '../mine.ts';
import type { QueuedCandidate, QueueFile, ReviewQueue } from '../review-queue.ts';
import type { SetupStep } from '../set-up-models.ts';
import type { CandidateResult } from '../skill-search.ts';
import { inlineText } from '../text.ts';
import { curatorCommand, flag, missingFolderNote, pathReader, printed, printedText } from './flags.ts';

const queueDb = flag.text("Database of the queue; the home's evidence file when absent");
const format = z.enum(['json', 'markdown']).default('json').describe('json when absent');
const SCHEMA_VERSION = '0.1';
/** The last line of every listing. */
const NEXT =
  'Decide with `talaria curator candidates-accept ID` or `candidates-reject ID`; how an id begins is enough.';

export function queueCommands(ground: Ground): readonly AnyCommand[] {
  const commands = [
    ...[mineCommand(ground), listCommand(ground)],
    ...[decideCommand(ground, 'accept', 'accepted'), decideCommand(ground, 'reject', 'rejected')],
  ];
  return commands.map((command) => ({
    ...command,
    run: (asked: { readonly queueDb?: string }, context: CommandContext) => guarded(ground, command, asked, context),
  })) as unknown as readonly AnyCommand[];
}

/** What holds for a file that was named by `--queue-db`, in every command. */
async function* guarded(
  ground: Ground,
  command: AnyCommand,
  asked: { readonly queueDb?: string },
  context: CommandContext,
): AsyncGenerator<CommandOutput> {
  const { path, isOwn } = queuePlace(ground, asked.queueDb, context);
  if (!isOwn && realPath(path) === realPath(ground.places.stateDatabase)) {
    const message = `--queue-db: ${path} is Talaria's own database, not one of a queue.`;
    return yield wrongUse('not-a-queue', message, 'Name another file, or leave --queue-db out.');
  }
  const mark = suspectMark(path);
  const isMarked = existsSync(mark);
  try {
    yield* command.run(asked as never, context);
  } finally {
    if (!isOwn && !isMarked) rmSync(mark, { force: true });
  }
}

function queuePlace(ground: Ground, typed: string | undefined, context: CommandContext): QueueFile {
  const { places, clock } = ground;
  const path = pathReader(ground, context)(typed) ?? places.evidenceDatabase;
  return { path, isOwn: path === places.evidenceDatabase, clock };
}

const BAD_INPUT = new Set(['invalid-json', 'line-too-long', 'line-not-utf-8', 'too-many-candidates']);

function mineCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator candidates-mine',
    summary: 'Turn lines of evidence into candidates for review; nothing else is written',
    input: z.object({
      inputJsonl: flag
        .required('name it: --input-jsonl FILE')
        .describe('One JSON object a line: text, evidence_ref, target_skill, …; - reads the input'),
      queueDb,
      format,
    }),
    examples: ['talaria curator candidates-mine --input-jsonl evidence.jsonl --format markdown'],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const path = asked.inputJsonl === '-' ? '/dev/stdin' : pathReader(ground, context)(asked.inputJsonl);
      const [{ candidatesMarkdown, mineFile }, { openQueue }] = await Promise.all([
        import('../mine.ts'),
        import('../review-queue.ts'),
      ]);
      const mined = await mineFile(path, context.signal).catch((error: unknown) => unreadable(path, error));
      if ('exitCode' in mined) return yield mined;
      const place = queuePlace(ground, asked.queueDb, context);
      const { queue, notices } = openQueue(place);
      const fresh = await queue.enqueue(mined.candidates, context.signal).finally(() => queue.close());
      const { count } = mined;
      const inserted = fresh.filter(Boolean).length;
      const candidates = mined.candidates.map((candidate, at) => ({ ...candidate, enqueued: fresh[at] === true }));
      const notes = notices.map(({ message }) => message);
      const result = {
        ...{ schema_version: SCHEMA_VERSION, queue_db: place.path, input_jsonl: path },
        ...{ count, inserted, duplicates: count - inserted, candidates },
        ...(notes.length === 0 ? {} : { notes }),
      };
      if (asked.format !== 'json') for (const note of notes) yield line(`note: ${note}`);
      const counts = { Lines: count, New: inserted, 'Known already': count - inserted };
      yield* printed(result, asked.format, () => candidatesMarkdown('Mined candidates', counts, candidates, NEXT));
    },
  });
}

function unreadable(path: string, error: unknown): Failure {
  const code = errorCode(error) ?? '';
  if (error instanceof TalariaError && BAD_INPUT.has(code))
    return wrongUse(code, error.message, error.fix ?? 'Nothing was stored.');
  if (!/^E[A-Z]+$/.test(code)) throw error;
  return wrongUse('file-not-readable', `${path} cannot be read (${code}).`, 'Name a file with one JSON object a line.');
}

function listCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator candidates-list',
    summary: 'List the candidates that were mined, oldest first',
    readOnly: true,
    input: z.object({
      queueDb,
      status: z.enum(CANDIDATE_STATUSES).optional().describe('Only candidates of this status'),
      candidateType: z.enum(CANDIDATE_TYPES).optional().describe('Only candidates of this type'),
      format,
    }),
    examples: ['talaria curator candidates-list --status pending --format markdown'],
    async *run({ status, candidateType, ...asked }, context): AsyncGenerator<CommandOutput> {
      const [{ openExistingQueue }, { keptAsideLine }, { candidatesMarkdown }] = await Promise.all([
        import('../review-queue.ts'),
        import('../backfill/ensure-evidence.ts'),
        import('../mine.ts'),
      ]);
      const { path, isOwn, clock } = queuePlace(ground, asked.queueDb, context);
      const opened = openExistingQueue({ path, isOwn, clock }, 'read');
      if (!opened.ok) return yield failed(opened.reason, opened.detail, '`talaria curator candidates-mine` fills one.');
      const candidates = listed(opened.value.queue, status, candidateType);
      const note = isOwn ? keptAsideLine(path) : undefined;
      const result = {
        ...{ schema_version: SCHEMA_VERSION, queue_db: path, status_filter: status ?? null },
        ...{ candidate_type_filter: candidateType ?? null, count: candidates.length, candidates },
        ...(note === undefined ? {} : { notes: [note] }),
      };
      if (note !== undefined && asked.format !== 'json') yield line(`note: ${note}`);
      const counts = { Candidates: candidates.length };
      yield* printed(result, asked.format, () => candidatesMarkdown('Candidates', counts, candidates, NEXT));
    },
  });
}

function listed(queue: ReviewQueue, ...filter: Parameters<ReviewQueue['list']>): readonly QueuedCandidate[] {
  try {
    return queue.list(...filter);
  } finally {
    queue.close();
  }
}

const NAME_THEM = 'name at least one; `talaria curator candidates-list` shows them';

function decideCommand(ground: Ground, verb: string, decision: 'accepted' | 'rejected'): AnyCommand {
  return curatorCommand({
    name: `curator candidates-${verb}`,
    summary: `${verb === 'accept' ? 'Accept' : 'Reject'} candidates; only their status changes`,
    positional: ['ids...'],
    input: z.object({
      ids: z.array(z.string(), NAME_THEM).min(1, NAME_THEM).describe('Ids, or how they begin'),
      queueDb,
    }),
    examples: [`talaria curator candidates-${verb} 3f2a91`],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const { openExistingQueue } = await import('../review-queue.ts');
      const place = queuePlace(ground, asked.queueDb, context);
      const opened = openExistingQueue(place, 'decide');
      if (!opened.ok) return yield failed(opened.reason, opened.detail, '`talaria curator candidates-mine` fills one.');
      const { queue, notices } = opened.value;
      for (const { message } of notices) yield line(`note: ${message}`);
      try {
        const found = findAll(queue, asked.ids);
        if ('exitCode' in found) return yield found;
        const decided = [];
        for (const candidate of found) {
          const { id, status } = candidate;
          const changed = await queue.decide(id, decision);
          yield line(decidedLine(candidate, decision, changed));
          if (decision === 'accepted') yield line(`  next: ${nextStep(candidate)}`);
          decided.push({ id, status: decision, previous_status: status, changed });
        }
        yield { type: 'data', value: { schema_version: SCHEMA_VERSION, queue_db: place.path, candidates: decided } };
      } finally {
        queue.close();
      }
    },
  });
}

function decidedLine({ id, title, status, updated_at }: QueuedCandidate, decision: string, changed: boolean): string {
  const shown = `${id.slice(0, 12)} ${inlineText(title)}`;
  if (!changed) return `${shown}: was ${decision} already, ${updated_at}`;
  return status === 'pending' ? `${shown}: ${decision}` : `${shown}: ${decision}; it was ${status} before`;
}

function findAll(queue: ReviewQueue, ids: readonly string[]): readonly QueuedCandidate[] | Failure {
  const found = new Map<string, QueuedCandidate>();
  for (const id of ids) {
    const [candidate, other] = id.trim() === '' ? [] : queue.find(id.trim().toLowerCase());
    if (candidate === undefined) {
      const message = `No candidate has the id ${id}. Nothing was changed.`;
      return refused('no-such-candidate', message, '`talaria curator candidates-list` shows them.');
    }
    if (other !== undefined)
      return refused('ambiguous-id', `More than one id begins with ${id}. Nothing was changed.`, 'Type more of it.');
    found.set(candidate.id, candidate);
  }
  return [...found.values()];
}

/** Nothing is written by accepting: this is what a person does with it. */
function nextStep({ candidate_type, target_skill }: QueuedCandidate): string {
  const skill = inlineText(target_skill ?? 'NAME');
  switch (candidate_type) {
    case 'skill_update':
      return `\`talaria curator propose --skill ${skill}\``;
    case 'skill_new':
      return 'show `talaria` the steps once; a skill is drafted for `talaria pending list`';
    case 'memory':
      return '`talaria memory add "…"`, in your own words';
    case 'replay_benchmark':
      return `run it again after the next change${target_skill === null ? '' : ` of ${skill}`}; \`talaria curator propose --skill ${skill}\` shows the failures`;
    case 'ignore':
      return 'nothing; it was mined as not worth keeping';
  }
}

const SAY_IT = 'say what it should be about: --query TEXT';

export function candidatesCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator candidates',
    summary: 'Find skills for a query, by shared words or by local models',
    input: z.object({
      query: flag.name(SAY_IT).describe('What the skill should be about'),
      skillsDir: z.string().optional().describe("Folder of skills; Talaria's own when absent"),
      semantic: flag.on('Tell which models would rank, and run none'),
      executeSemantic: flag.on('Rank by the local embedding model'),
      rerank: flag.on('With it, score the best again by the local reranker'),
      limit: z.coerce.number().default(10).describe('Most candidates, at least 1; default 10'),
      format: flag.textOrJson,
    }),
    examples: [
      'talaria curator candidates --query "gateway restart" --limit 5',
      'talaria curator candidates --query "gateway restart" --skills-dir ~/.hermes/skills --semantic',
      'talaria curator candidates --query "gateway restart" --execute-semantic --rerank --format json',
    ],
    async *run(asked, context): AsyncGenerator<CommandOutput> {
      const [{ readSkillFiles }, { findCandidates }] = await Promise.all([
        import('../skill-files.ts'),
        import('../skill-search.ts'),
      ]);
      const typed = pathReader(ground, context)(asked.skillsDir);
      const folder = typed ?? ground.places.skills;
      const { skills, problems } = readSkillFiles(folder);
      const limit = Math.max(1, Math.trunc(asked.limit));
      const found = await findCandidates(
        { ...asked, skills, limit, execute: asked.executeSemantic },
        async (request, signal) => {
          const { createRank } = await import('../rank-skills.ts');
          return createRank(ground, await ground.open())(request, signal);
        },
        context.signal,
      );
      const missing = missingFolderNote(typed);
      const note = [found.note, missing].filter((text) => text !== undefined).join(' ');
      const result = note === '' ? found : { ...found, note };
      const none = missing === undefined && skills.length === 0 ? [`No SKILL.md below ${folder}.`] : [];
      if (asked.format === 'json') yield line(printedText(result, 'json', () => ''));
      else yield* textOf(result, [...none, ...problems.map((problem) => `not read: ${problem}`)]);
      yield { type: 'data', value: result as unknown as JsonValue };
      if (result.error !== undefined) yield failed(result.mode, result.error);
    },
  });
}

/** `notes`: what stands below. */
function* textOf(result: CandidateResult, notes: readonly string[]): Generator<CommandOutput> {
  const { embedding, reranker } = result.models;
  const names = [embedding, reranker].filter((name) => name !== 'not-used');
  yield line(`mode: ${result.mode}${names.length === 0 ? '' : ` (${names.join(', ')})`}`);
  if (result.error !== undefined) yield line('The models could not rank; by shared words instead:');
  if (result.note !== undefined) yield line(result.note);
  const shown = result.fallback?.candidates ?? result.candidates;
  const reranked = shown.some((one) => one.embedding_score !== undefined);
  const rows = shown.map((one) => [
    ...[one.skill_name, String(one.score), ...(reranked ? [String(one.embedding_score ?? '')] : [])],
    ...[one.reasons.join(' '), one.path ?? ''],
  ]);
  const columns = ['skill', 'score', ...(reranked ? ['embedding'] : []), 'why', 'file'];
  if (rows.length > 0) yield { type: 'table', columns, rows };
  for (const note of notes) yield line(note);
}

function* stepLines({ ok, text, fix }: SetupStep): Generator<CommandOutput> {
  yield line(`${ok ? 'ok' : 'MISSING'}: ${text}`);
  if (fix !== undefined) yield line(`  ${fix}`);
}

export function setupSemanticCommand(ground: Ground): AnyCommand {
  return curatorCommand({
    name: 'curator setup-semantic',
    summary: 'Install the engine and the models that rank skills by meaning, and try them',
    input: z.object({
      from: z.string().optional().describe('Folder that holds the models; the hub (HF_ENDPOINT) is asked when absent'),
      engineOnly: flag.on('Install the engine and leave the models'),
    }),
    examples: ['talaria curator setup-semantic', 'talaria curator setup-semantic --from ~/models'],
    async *run({ from, engineOnly }, context): AsyncGenerator<CommandOutput> {
      const [mind, { setUpSemantic }, { readSemanticConfig }] = await Promise.all([
        ground.open(),
        import('../set-up-models.ts'),
        import('../rank-skills.ts'),
      ]);
      const setup = {
        ...{ ground, engineOnly, config: readSemanticConfig(mind), from: pathReader(ground, context)(from) },
        machine: { platform: process.platform, architecture: process.arch },
      };
      const steps: SetupStep[] = [];
      for await (const step of setUpSemantic(setup, context.signal)) {
        steps.push(step);
        yield* stepLines(step);
      }
      yield { type: 'data', value: { steps } as unknown as JsonValue };
      const [first, ...more] = steps.filter(({ ok }) => !ok);
      const others = more.length === 0 ? '' : ` (and ${more.length} more, above)`;
      if (first) yield failed(first.code ?? 'setup-failed', `${first.text}${others}`, first.fix);
    },
  });
}
