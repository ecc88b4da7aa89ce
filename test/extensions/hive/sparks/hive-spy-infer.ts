/** An Infer that answers from a table and keeps what it was asked. */
import type { JsonObject } from '#base/json.ts';
import type { Infer, InferReply, InferRequest } from '#extensions/hive/sparks/infer.ts';

export type Answer = JsonObject | string | Error | ((request: InferRequest) => JsonObject | string | Error);

export interface SpyInfer {
  readonly infer: Infer;
  readonly asked: InferRequest[];
  /** Names of the peers that each question was about. */
  readonly about: string[];
  readonly count: (kind: InferRequest['kind']) => number;
}

export interface SpyAnswers {
  readonly summary?: Answer;
  readonly spark?: Answer;
  readonly byRule?: boolean;
}

export const EMPTY_SUMMARY = { needs: [], offers: [], expertise: [], summary_text: 'somebody' };
export const NO_SPARK = { introduce: [] };
/** Suggests the first ten pairs of a question. */
export const GOOD_SPARK = {
  introduce: Array.from({ length: 10 }, (_, at) => at + 1).map((pair) => ({
    pair,
    reason: 'it fits',
    confidence: 'high',
  })),
};

export function spyInfer({ summary = EMPTY_SUMMARY, spark = NO_SPARK, byRule = false }: SpyAnswers = {}): SpyInfer {
  const asked: InferRequest[] = [];
  const about: string[] = [];
  return {
    asked,
    about,
    count: (kind) => asked.filter((request) => request.kind === kind).length,
    infer: async (request, signal): Promise<InferReply> => {
      signal.throwIfAborted();
      asked.push(request);
      about.push(namesIn(request));
      const given = request.kind === 'summary' ? summary : spark;
      const answer = typeof given === 'function' ? given(request) : given;
      if (answer instanceof Error) throw answer;
      return { text: typeof answer === 'string' ? answer : JSON.stringify(answer), byRule };
    },
  };
}

function namesIn({ kind, input }: InferRequest): string {
  if (kind === 'summary') return (input.peer as { name: string }).name;
  const agents = input.agents as unknown as readonly { id: string; name: string }[];
  const name = (id: string) => agents.find((agent) => agent.id === id)?.name;
  const pairs = input.pairs as unknown as readonly { a: string; b: string }[];
  return pairs.map(({ a, b }) => `${name(a)}+${name(b)}`).join(' ');
}
