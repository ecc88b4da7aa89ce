// Owns the calls of one sub-call: the question about a piece as JSON, and once more plainly when the reply was of no use, as weak models need
// it. Knows no REPL. Invariant: at most two calls, the second with an id of its own; a piece that is no handle is asked about once, since its
// claims count for nothing; without a claim of the second the first stands.
import type { CallRecord } from '../../call/call-record.ts';
import type { SubQuery } from '../../repl/repl-session.ts';
import { PLAIN_SYSTEM, plainPrompt, plainTokens } from '../../run/prompt/plain-prompt.ts';
import type { AskParts, AskPlace } from '../ask-parts.ts';
import { keptForJudge, replyTokens } from '../ask-request.ts';
import type { AskEvents } from '../loop/ask-events.ts';
import { SUB_SCHEMA, type SubPrompt } from '../prompt-shapes.ts';
import { isSubOfNoUse, readPlainSub, readSubReply, type SubReading } from './read-sub-reply.ts';
import { SUB_RULES } from './sub-rules.ts';

export interface PieceTry {
  readonly record: CallRecord;
  /** Null: no reply. */
  readonly reading: SubReading | null;
}

/** The first try, and the second when there was one. */
export type PieceTries = readonly [PieceTry, ...PieceTry[]];

export interface PieceParts {
  readonly ask: Pick<AskParts, 'request' | 'calls' | 'signal'>;
  readonly place: AskPlace;
  readonly events: AskEvents;
}

export interface PieceAsk {
  readonly query: SubQuery;
  readonly call_id: string;
  readonly parent_call_id: string;
  readonly cause: string;
}

export async function askPiece(parts: PieceParts, asked: PieceAsk): Promise<PieceTries> {
  const { question, piece, over } = asked.query;
  const prompt = JSON.stringify({
    schema_version: SUB_SCHEMA,
    task: 'answer_from_piece',
    piece,
    question,
  } satisfies SubPrompt);
  const max_output_tokens = replyTokens(parts.ask.request.window_tokens);
  const record = await call(parts, asked, { suffix: '', system: SUB_RULES, prompt, max_output_tokens });
  const reading = record.completion === null ? null : readSubReply(record.completion, piece);
  const first = { record, reading };
  if (over === null || piece === null || !isWanted(first)) return [first];
  const plain = {
    ...{ suffix: ':plain', system: PLAIN_SYSTEM, prompt: plainPrompt(question, [piece]) },
    max_output_tokens: plainTokens(max_output_tokens),
  };
  const again = await call(parts, asked, plain);
  return [first, { record: again, reading: again.completion === null ? null : readPlainSub(again.completion, piece) }];
}

/** The one that counts. */
export function bestTry(tries: PieceTries): PieceTry {
  return tries.find(({ reading }) => reading !== null && reading.claims.length > 0) ?? tries[0];
}

function isWanted({ record, reading }: PieceTry): boolean {
  return reading === null ? record.adapter_error?.type === 'reply_too_large' : isSubOfNoUse(reading);
}

interface Wording {
  readonly suffix: string;
  readonly system: string;
  readonly prompt: string;
  readonly max_output_tokens: number;
}

function call(
  { ask, place, events }: PieceParts,
  { query, call_id, parent_call_id, cause }: PieceAsk,
  { suffix, ...wording }: Wording,
): Promise<CallRecord> {
  const head = { parent_call_id, cause, depth: place.depth + 1 };
  return ask.calls.ask(
    {
      ...events.callHead(events.known(call_id), `${call_id}${suffix}`, head),
      mode: 'repl_sub',
      selected_chunk_ids: query.over === null ? [] : [query.over],
      ...wording,
      families: query.model === null ? ask.request.families : [query.model],
      keep_back: place.level + keptForJudge(ask.request),
    },
    ask.signal,
  );
}
