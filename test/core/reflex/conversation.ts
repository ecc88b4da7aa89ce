// A conversation with reflex over tools that answer from fixed texts: what a turn calls, says and asks, without any other room.
import type { Message, ToolResultPart } from '#core/model/message.ts';
import { userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import type { JsonObject, ModelClient } from '#public/talaria.ts';
import { folder, rules, toolNames } from './all-rules.ts';

export interface Called {
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface TurnSeen {
  readonly calls: readonly Called[];
  readonly text: string;
  /** The turn ended with a numbered question. */
  readonly asked: boolean;
}

type Answer = (call: Called) => string | { readonly text: string; readonly isError: boolean };

export class ReflexConversation {
  readonly messages: Message[] = [];
  readonly #client: ModelClient;
  readonly #answer: Answer;
  readonly #system: string;

  constructor(options: { readonly answer?: Answer; readonly system?: string; readonly client?: ModelClient } = {}) {
    this.#client = options.client ?? createReflexClient(rules, { folder: () => folder });
    this.#answer = options.answer ?? answerPlainly;
    this.#system = options.system ?? '';
  }

  async say(line: string): Promise<TurnSeen> {
    this.messages.push(userMessage(line));
    const calls: Called[] = [];
    for (let step = 0; step < 50; step += 1) {
      const { made, text } = await this.#step();
      if (made.length === 0) return { calls, text, asked: /^\d\) /m.test(text) };
      calls.push(...made);
    }
    throw new Error(`no end of the turn for: ${line}`);
  }

  async #step(): Promise<{ readonly made: readonly Called[]; readonly text: string }> {
    const made: (Called & { readonly callId: string })[] = [];
    let text = '';
    for await (const event of this.#client.stream(this.#request(), new AbortController().signal)) {
      if (event.type === 'text-delta') text += event.text;
      if (event.type === 'tool-call') made.push(event);
    }
    this.messages.push({
      role: 'assistant',
      model: this.#client.id,
      parts: [
        ...(text === '' ? [] : [{ type: 'text', text, origin: 'model' } as const]),
        ...made.map((call) => ({ ...call, type: 'tool-call', origin: 'model' }) as const),
      ],
    });
    for (const call of made) this.messages.push({ role: 'tool', parts: [this.#result(call)] });
    return { made: made.map(({ name, arguments: given }) => ({ name, arguments: given })), text };
  }

  #request(): Parameters<ModelClient['stream']>[0] {
    const tools = toolNames.map((name) => ({ name, description: name, parameters: { type: 'object' } }));
    return { system: this.#system, messages: [...this.messages], tools, purpose: 'answer' };
  }

  #result(call: Called & { readonly callId: string }): ToolResultPart {
    const answer = this.#answer(call);
    const { text, isError } = typeof answer === 'string' ? { text: answer, isError: false } : answer;
    const observed = { ms: 3, bytes: text.length, ...(call.name === 'terminal' ? { exitCode: isError ? 1 : 0 } : {}) };
    return { type: 'tool-result', callId: call.callId, name: call.name, text, isError, origin: 'foreign', observed };
  }
}

export function answerPlainly({ name, arguments: given }: Called): string {
  if (name === 'memory') return JSON.stringify({ success: true, target: given.target });
  if (name === 'session_search') return JSON.stringify({ success: true, mode: 'discover', results: [], count: 0 });
  if (name === 'read_file') return '# Title\nmade on 2026-03-04\ncosts 12 euro';
  return `output of ${name}`;
}
