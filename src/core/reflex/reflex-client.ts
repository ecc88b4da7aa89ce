// Owns `reflex/1`: the ModelClient that needs no model. It only matches (reflex 1), on nothing but the request and its folder.
// Knows no tool: rules come from the rooms that own them. Invariant: no state between requests, no network, cost 0.
import { type Clock, systemClock } from '#base/clock.ts';
import { newId } from '#base/ids.ts';
import { isJsonObject, parseJson } from '#base/json.ts';
import {
  NO_FOLDER,
  type ReflexFolder,
  type ReflexRule,
  type ReflexStep,
  type ReflexTask,
} from '#core/agent/reflex-rule.ts';
import { messageText } from '#core/model/message.ts';
import {
  type ModelClient,
  type ModelEvent,
  type ModelRequest,
  NO_USAGE,
  type Purpose,
} from '#core/model/model-client.ts';
import { REFLEX_ID, renderStep } from './answer.ts';
import { decideTurn } from './decide-turn.ts';
import { TEXTS } from './words.ts';

/** Calls that are a task as data, and no person's line. */
const TASKS: ReadonlySet<Purpose> = new Set(['recurse', 'peers']);

export interface ReflexOptions {
  readonly clock?: Clock;
  readonly tasks?: readonly ReflexTask[];
  /** What the folder of a session offers, by its frozen prompt. */
  readonly folder?: (system: string) => ReflexFolder;
}

export function createReflexClient(rules: readonly ReflexRule[], options: ReflexOptions = {}): ModelClient {
  const clock = options.clock ?? systemClock;
  const all = [...rules, ...metaRules(rules)];
  return {
    id: REFLEX_ID,
    tier: 'T0',
    traits: { contextWindow: 1_000_000, toolCalling: 'structured', cacheMarks: false, local: true },
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      signal.throwIfAborted();
      const step = TASKS.has(request.purpose)
        ? await answerTask(request, options.tasks ?? [])
        : decide(request, all, { now: clock.now(), folder: options.folder?.(request.system) ?? NO_FOLDER });
      if (step.type === 'call') {
        for (const call of step.calls) {
          signal.throwIfAborted();
          yield { type: 'tool-call', callId: newId('call'), name: call.name, arguments: call.arguments };
        }
      } else {
        yield { type: 'text-delta', text: renderStep(step) };
      }
      signal.throwIfAborted();
      const reason = step.type === 'call' ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: NO_USAGE, model: REFLEX_ID, tier: 'T0', cost: 0 };
    },
  };
}

/** Only an owner's turn may act: a review or a flush carries the owner's old lines, which must not run again. */
function decide(
  request: ModelRequest,
  rules: readonly ReflexRule[],
  around: { readonly now: number; readonly folder: ReflexFolder },
): ReflexStep {
  if (request.purpose !== 'answer') return { type: 'say', text: TEXTS.notOwner };
  const tools = new Set(request.tools.map((tool) => tool.name));
  return decideTurn({ messages: request.messages, surroundings: { system: request.system, tools, ...around }, rules });
}

/** A task that is data: the last message is one JSON object that names its schema. */
async function answerTask({ messages }: ModelRequest, tasks: readonly ReflexTask[]): Promise<ReflexStep> {
  const last = messages.findLast((message) => message.role === 'user');
  const asked = last === undefined ? undefined : parseJson(messageText(last));
  const input = asked?.ok && isJsonObject(asked.value) ? asked.value : undefined;
  const task = tasks.find(({ schema }) => schema === input?.schema_version);
  if (input === undefined || task === undefined) return { type: 'say', text: TEXTS.notOwner };
  return { type: 'say', text: (await task.load())(input) };
}

// The rules about reflex itself: what it can do, how it gets a model, a greeting and thanks; and what /help says of all rules.
// Knows no other rule by name. Invariant: everything that help shows is a line that works as it stands.

const HEADINGS: Readonly<Record<ReflexRule['purpose'], string>> = {
  act: 'Do',
  memory: 'Remember',
  recall: 'Recall',
  meta: 'About',
};

export function helpText(rules: readonly ReflexRule[]): string {
  const purposes = Object.keys(HEADINGS).filter((purpose): purpose is ReflexRule['purpose'] => purpose in HEADINGS);
  const blocks = purposes.flatMap((purpose) => {
    const own = rules.filter((rule) => rule.purpose === purpose);
    const width = Math.max(...own.map((rule) => rule.intent.length));
    const lines = own.map((rule) => `  ${rule.intent.padEnd(width)}  ${rule.examples.slice(0, 2).join('  ·  ')}`);
    return own.length === 0 ? [] : [[HEADINGS[purpose], ...lines].join('\n')];
  });
  return ['reflex/1 · rules only, no language model, cost 0', ...blocks].join('\n\n');
}

const HELP: readonly string[] = [
  '(help|/help|/commands|commands|usage|?) [me]',
  'what (can|could) (you|i) (do|say|ask|type) [here|for me|next|with this]',
  'what do you (do|understand|know how to do)',
  'what (commands|things) (are there|can i use|do you (know|understand|have))',
  '(show|list) [me] [all] (commands|rules|help)',
  'how (do|can|should) i (use|talk to|work with) (you|this|it|talaria)',
  'how (does|do) (this|it|you) work',
  'i need help',
];
const MODEL: readonly string[] = [
  'how (do|can|should|would) i (add|get|connect|use|configure|set up|setup|change|switch|install) [to] [another|real|different|local|language|new|better] [ai] (model|models|llm|llms|gpt|claude|ollama|openai|api key|key)',
  '(add|connect|use|configure|set up|change|switch|install) [to] [another|real|different|local|language|new|better] [ai] (model|llm|gpt|claude|ollama|openai|api key)',
  'how to (add|get|connect|use|configure|set up|change|switch|install) [another|real|different|local|language|new|better] [ai] (model|llm|api key)',
  '(which|what) (model|llm|ai) (is this|are you|do you use|are you using|is running|is it)',
  '(are|r) you (chatgpt|gpt|claude|ai|bot|human|robot|llm|real)',
  '(who|what) are you',
  'what is (reflex|talaria|this)',
];
const HELLO: readonly string[] = [
  '(hello|hi|hey|yo|howdy|hiya|greetings|good (morning|evening|afternoon|day)) [there|talaria|everyone|again]',
  '(how are you|what is up|how is it going) [today|doing]',
];
const THANKS: readonly string[] = [
  '(thanks|thank you|thx|ty|cheers|many thanks) [so much|very much|a lot|a bunch|talaria|that helped|for (that|your help|the help)|very kind]',
  '(great|perfect|nice|cool|awesome|good job|well done|bye|goodbye|see you|good night|ok|okay|lovely|excellent) [thanks|thank you|job|work|one|later]',
];

/** Any rule that does something comes before one that talks. */
const LAST = 0.95;

/** A rule that only answers with a fixed text. */
function saying(
  rule: Pick<ReflexRule, 'intent' | 'examples'>,
  forms: readonly string[],
  text: () => string,
): ReflexRule {
  return {
    ...rule,
    purpose: 'meta',
    effect: 'read',
    match(input) {
      const fit = input.fit(forms);
      return fit && { ...fit, score: fit.score * LAST };
    },
    restate: () => rule.examples[0] ?? '',
    act: () => ({ type: 'say', text: text() }),
  };
}

export function metaRules(rules: readonly ReflexRule[]): readonly ReflexRule[] {
  return [
    saying({ intent: 'help', examples: ['help', 'what can you do'] }, HELP, () => helpText(rules)),
    saying(
      { intent: 'model', examples: ['how do I add a model', 'who are you'] },
      MODEL,
      () =>
        'I am reflex/1: fixed rules, no language model.\nAdd one with /model add KEY-OR-URL here, or `talaria setup` in a shell; /model shows what there is.',
    ),
    saying(
      { intent: 'greeting', examples: ['hello', 'good morning'] },
      HELLO,
      () => 'Hello. /help shows what I can do.',
    ),
    saying({ intent: 'thanks', examples: ['thanks', 'thank you'] }, THANKS, () => 'You are welcome.'),
  ];
}
