// Owns what the model-free tier does with peers: three exact forms (list, messages, send), each one call of a tool, and its answer quoted
// under who said it. Knows no transport and no language: a line of another form is nobody's. Invariants: a rule fits only where its tool is;
// what is sent are the quoted words as typed; nothing of a peer stands outside a quotation, and a failure is quoted as the tool gave it.
import { isJsonObject, type JsonObject, type JsonValue, objectOf, objectsOf, parseJson, textOf } from '#base/json.ts';
import type { ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { oneLine, plainName, plainText } from '../peer-names.ts';

const NAME = String.raw`(?<peer>[^\s"“”]+)`;

export function peerRules(): readonly ReflexRule[] {
  return [
    rule({
      intent: 'peers',
      purpose: 'recall',
      form: /^(?:list (?:my )?peers|who do I know)[.?]?$/iu,
      examples: ['list peers', 'who do I know?'],
      tool: 'hivemind_list_peers',
      line: () => 'list peers',
      said: sayPeers,
    }),
    rule({
      intent: 'peer-messages',
      purpose: 'recall',
      form: new RegExp(`^(?:check messages|messages(?: from ${NAME})?)[.?]?$`, 'iu'),
      examples: ['check messages', 'messages from hermes-of-carol'],
      tool: 'hivemind_check_messages',
      line: ({ peer }) => (peer === undefined ? 'check messages' : `messages from ${peer}`),
      said: sayMessages,
    }),
    rule({
      intent: 'tell-peer',
      purpose: 'act',
      form: new RegExp(`^send ${NAME} (?:"(?<message>[^]+)"|“(?<curled>[^”]+)”)$`, 'iu'),
      examples: ['send hermes-of-carol "the audit is on Friday"'],
      tool: 'hivemind_send_to_peer',
      line: ({ peer, message }) => `send ${peer} "${message}"`,
      said: (answer) => ({ type: 'say', text: `Sent to ${plainName(textOf(objectOf(answer).to))}.` }),
    }),
  ];
}

interface Form {
  readonly intent: string;
  readonly purpose: ReflexRule['purpose'];
  /** Its named groups are the arguments of the tool. */
  readonly form: RegExp;
  readonly examples: readonly string[];
  readonly tool: string;
  readonly line: (slots: Readonly<Record<string, string>>) => string;
  readonly said: (answer: JsonValue) => ReflexStep;
}

function rule({ form, tool, line, said, ...rest }: Form): ReflexRule {
  return {
    ...rest,
    effect: rest.purpose === 'act' ? 'write' : 'read',
    match: ({ tools, text }) => {
      const found = tools.has(tool) && text.length <= 40_000 ? form.exec(text.trim()) : null;
      if (found === null) return undefined;
      const { curled, message = curled, peer } = found.groups ?? {};
      return { score: 0.97, slots: { ...(peer ? { peer } : {}), ...(message ? { message } : {}) } };
    },
    restate: ({ slots }) => line(slots),
    act: ({ slots }, _input, results) => {
      const result = results.at(-1);
      return result ? answerWith(result, said) : { type: 'call', calls: [{ name: tool, arguments: slots }] };
    },
  };
}

function answerWith(result: ToolResultPart, said: (answer: JsonValue) => ReflexStep): ReflexStep {
  const parsed = parseJson(result.text);
  if (!result.isError && parsed.ok) return said(parsed.value);
  const told = parsed.ok && isJsonObject(parsed.value) ? textOf(parsed.value.error) : result.text;
  return say('This was not done:', [{ source: result.name, text: oneLine(told, 500) }]);
}

function sayPeers(answer: JsonValue): ReflexStep {
  const { you, peers, suggestions } = objectOf(answer);
  const known = objectsOf(peers);
  const text = known.length === 0 ? 'Nobody is known yet.' : 'Known peers:';
  const quotes = [...known.map(peerQuote), ...objectsOf(suggestions).map(suggestionQuote)];
  return say(`You are ${plainName(textOf(you))}. ${text}`, quotes);
}

/** The talk with one peer, or entries of peers with their messages. */
function sayMessages(answer: JsonValue): ReflexStep {
  const messages = objectsOf(answer).flatMap((entry) =>
    Array.isArray(entry.messages) ? objectsOf(entry.messages) : [entry],
  );
  const quotes = messages.filter(({ from }) => from !== undefined).map(messageQuote);
  return say(quotes.length === 0 ? 'Nothing was said yet.' : 'Messages, newest first:', quotes);
}

function peerQuote(peer: JsonObject): ReflexQuote {
  const status = peer.status === 'active' ? '' : ` (${peer.status === 'left' ? 'has left' : 'not here yet'})`;
  const by = textOf(peer.introduced_by);
  const from = /^nobody: \w+ made contact$/.test(by) ? '' : `, introduced by ${plainName(by)}`;
  const source = `${plainName(textOf(peer.name))} = ${plainName(textOf(peer.id))}${from}${status}`;
  return { source, text: oneLine(textOf(peer.context), 300) };
}

function suggestionQuote(spark: JsonObject): ReflexQuote {
  const how = `${plainName(textOf(spark.confidence))} confidence${spark.by === 'rule' ? ', by rule' : ''}`;
  const source = `suggestion: ${plainName(textOf(spark.peer_a))} and ${plainName(textOf(spark.peer_b))} (${how})`;
  return { source, text: oneLine(textOf(spark.reason), 300) };
}

function messageQuote(message: JsonObject): ReflexQuote {
  const source = `${plainName(textOf(message.from))}, ${oneLine(textOf(message.time), 40)}${message.new === true ? ', new' : ''}`;
  return { source, text: plainText(textOf(message.text)) };
}

function say(text: string, quotes: readonly ReflexQuote[]): ReflexStep {
  return quotes.length === 0 ? { type: 'say', text } : { type: 'say', text, quotes };
}
