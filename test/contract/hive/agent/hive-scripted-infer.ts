/** A model for the spark engine that answers by rule of a test: what it said last is never repeated by accident, and garbage can be asked for. */
import type { InferReply, InferRequest } from '#extensions/hive/sparks/infer.ts';

/** Undefined: nothing was found. */
export type ScriptedInfer = (request: InferRequest, signal: AbortSignal) => Promise<InferReply | undefined>;

export interface SaidOfPeer {
  readonly needs?: readonly string[];
  readonly offers?: readonly string[];
  readonly expertise?: readonly string[];
  readonly summary_text?: string;
}

/** Undefined: the two have nothing for each other. */
export type SaidOfPair = { readonly reason: string; readonly confidence: string } | undefined;

/**
 * @param summaries by a word that occurs in the question, such as a name; the first that occurs
 * @param pair asked for each pair of a question, with what it says of the two as text
 */
export function inferring(
  summaries: Readonly<Record<string, SaidOfPeer>>,
  pair: (question: string) => SaidOfPair = () => undefined,
): ScriptedInfer {
  return async (request) => {
    const question = questionOf(request);
    if (request.kind === 'spark') {
      return reply({
        introduce: pairsOf(request).flatMap((text, at) => {
          const said = pair(text);
          return said === undefined ? [] : [{ pair: at + 1, ...said }];
        }),
      });
    }
    const [, said] = Object.entries(summaries).find(([word]) => question.includes(word)) ?? [];
    return said === undefined ? undefined : reply({ needs: [], offers: [], expertise: [], summary_text: '', ...said });
  };
}

/** What a question says of each pair, as text. */
export function pairsOf({ input }: InferRequest): readonly string[] {
  const { agents, pairs } = input as unknown as {
    readonly agents: readonly { readonly id: string }[];
    readonly pairs: readonly { readonly a: string; readonly b: string }[];
  };
  return pairs.map(({ a, b }) => JSON.stringify(agents.filter(({ id }) => id === a || id === b)));
}

export function questionOf({ input }: InferRequest): string {
  return JSON.stringify(input);
}

function reply(value: unknown): InferReply {
  return { text: JSON.stringify(value), byRule: false };
}
