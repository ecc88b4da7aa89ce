// Owns turning stored messages into sources that can be cited, each piece with its origin (design 7). Knows no claim and no store.
// Invariants: assistant text supports nothing; a call's arguments are a record of what was run only when it ran, did something and went
// well; what a tool put out keeps the origin it was stored with.

import type { JsonObject, JsonValue } from '#base/json.ts';
import { splitWords } from '#base/text/words.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import {
  type AssistantMessage,
  isText,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  toolCalls,
} from '#core/model/message.ts';
import { programName, unwrapCommand } from '#core/tools/risk/call.ts';
import { lexScript } from '#core/tools/risk/lex-script.ts';
import { messageHandle } from '../citations.ts';
import type { EvidenceEntry, EvidenceText } from '../trace-guard/claim.ts';

export interface MessageEvidenceOptions {
  /**
   * Which arguments of calls that went well count as observed: `all` but written content for steps of a skill; `short` for facts: the
   * command, path or address on one line, but for commands that print or do nothing and lines that repeat what had been read.
   */
  readonly observedArguments: 'all' | 'short';
}

/** Messages of one session, oldest first. */
export function messageEvidence(
  messages: readonly StoredMessage[],
  options: MessageEvidenceOptions,
): readonly EvidenceEntry[] {
  const runs = new Runs(messages);
  const read = new Set<string>();
  const owned = new Set(messages.flatMap(({ message }) => message.parts.flatMap((part) => wordsOf(part, 'owner'))));
  return messages.map(({ id, message }) => {
    const isTaken = (line: string) => takenFrom(line, read, owned);
    const texts = textsOf(message, { runs, readForeign: read.size > 0, isTaken, options });
    for (const word of message.parts.flatMap((part) => wordsOf(part, 'foreign'))) read.add(word);
    return { handle: messageHandle(id), texts: texts.filter(({ text }) => text.trim() !== '') };
  });
}

/** Characters of one text whose words are looked at. */
const MOST_READ = 1_000_000;

function wordsOf(part: Part, origin: Part['origin']): readonly string[] {
  if (part.type === 'text' && part.label === 'summary') return [];
  return part.origin === origin && 'text' in part ? splitWords(part.text.slice(0, MOST_READ)) : [];
}

/** Two words, or one address or the like, that had been read before and that the owner did not say: then the line repeats what was read. */
function takenFrom(line: string, read: ReadonlySet<string>, owned: ReadonlySet<string>): boolean {
  if (read.size === 0) return false;
  const said = line.replace(/^\w+: /, '');
  const taken = new Set(splitWords(said).filter((word) => word.length > 3 && read.has(word) && !owned.has(word)));
  return taken.size >= 2;
}

/** What was run and ended well, uncut: commands, paths and addresses, for steps that repeat them. */
export function ranLines(messages: readonly StoredMessage[]): readonly string[] {
  const runs = new Runs(messages);
  return messages.flatMap(({ message }) =>
    toolCalls(message).flatMap((call) => {
      const result = runs.resultOf(call);
      if (!isRecorded(call) || result === undefined || !wentWell(result) || !didSomething(call)) return [];
      return argumentLines(call.arguments).flatMap((line) =>
        RECORDS.test(line) ? [line.replace(NO_COMMAND, '$1 …')] : [],
      );
    }),
  );
}

interface Surroundings {
  readonly runs: Runs;
  /** Could the model have read foreign text before it wrote this? */
  readonly readForeign: boolean;
  /** Does this line of a call repeat what had been read? A fact does not rest on such a record. */
  readonly isTaken: (line: string) => boolean;
  readonly options: MessageEvidenceOptions;
}

function textsOf(message: Message, surroundings: Surroundings): readonly EvidenceText[] {
  switch (message.role) {
    case 'user':
      // Its originals stand here themselves.
      return message.parts
        .filter(isText)
        .map(({ text, origin, label }) => ({ text, origin: label === 'summary' ? 'model' : origin }));
    case 'assistant':
      return assistantTexts(message, surroundings);
    case 'tool': {
      const [result] = message.parts;
      const { text, origin } = result;
      return [{ text, origin }, ...recordOf(surroundings.runs.callOf(result), result, surroundings)];
    }
  }
}

function assistantTexts(message: AssistantMessage, surroundings: Surroundings): readonly EvidenceText[] {
  const { runs, readForeign } = surroundings;
  const origin = readForeign ? 'foreign' : 'model';
  const spoken = message.parts.flatMap((part) => (part.type === 'text' ? [{ text: part.text, origin } as const] : []));
  const called = toolCalls(message).flatMap((call) => recordOf(call, runs.resultOf(call), surroundings));
  return [...spoken, ...called];
}

/** What was run, in words: the record of a call that went well is observed, of any other one only told by the model. */
function recordOf(
  call: ToolCallPart | undefined,
  result: ToolResultPart | undefined,
  { options: { observedArguments }, isTaken }: Surroundings,
): readonly EvidenceText[] {
  if (call === undefined || !isRecorded(call)) return [];
  const lines = argumentLines(call.arguments);
  const went = result !== undefined && wentWell(result) && didSomething(call);
  const isSaid = (line: string) => !RECORDS.test(line) && isTaken(line);
  const record = (line: string) => (went && !isSaid(line) ? recordLine(line, observedArguments) : undefined);
  const observed = lines.flatMap((line) => record(line) ?? []);
  const told = lines.filter((line) => record(line) !== line);
  const origin = observedArguments === 'short' && observed.some(isTaken) ? 'foreign' : 'observed';
  return [
    ...(went
      ? [{ text: [`Ran ${call.name}.`, ...observed, statusLine(result)].join('\n'), origin, isRecord: true } as const]
      : []),
    ...(told.length > 0 ? [{ text: [`Asked for ${call.name}.`, ...told].join('\n'), origin: 'model' } as const] : []),
  ];
}

function isRecorded({ malformed, origin }: ToolCallPart): boolean {
  return malformed === undefined && origin === 'model';
}

function wentWell({ isError, observed }: ToolResultPart): boolean {
  return !isError && observed.refused === undefined && (observed.exitCode ?? 0) === 0;
}

/** They print, wait or set what is gone with the shell: that they ended well says nothing of the world. */
const IDLE: ReadonlySet<string> = new Set(
  'echo printf true false : test [ [[ exit return break continue set unset export declare local shift alias umask wait sleep yes seq'.split(
    ' ',
  ),
);
const QUOTED = /'[^']*'|"(?:\\.|[^"\\])*"/g;
/** Behind these the end of the line is not the end of what stands before: `deploy || true`, `make; echo done`. */
const MASKED = /\|\||[;\n]\s*(?:true|:|echo|printf|exit\s+0)(?=[\s;]|$)[^;\n|&]*;?\s*$/;

/** Is the end of this call an effect that we saw? Not of a command that does nothing, shows its help, or whose end is another's. */
function didSomething({ name, arguments: { command } }: ToolCallPart): boolean {
  if (STORES.test(name)) return false;
  if (typeof command !== 'string') return true;
  if (MASKED.test(command.replace(QUOTED, "''"))) return false;
  return lexScript(command).commands.some((one) => {
    if (one.background) return false;
    const [program, ...rest] = unwrapCommand(one.words).words.map(({ text }) => text);
    if (program === undefined || IDLE.has(programName(program)) || rest.includes('--help')) return false;
    // What it repeats was handed to it: `cat <<EOF`.
    return !(/^(?:cat|tee)$/.test(programName(program)) && one.input !== undefined);
  });
}

function statusLine({ observed }: ToolResultPart): string {
  return observed.exitCode === undefined ? 'It was done.' : `Exit status ${observed.exitCode}.`;
}

/** Longer arguments are content that the model wrote. */
const SHORT = 200;
/** Arguments that say what was run and on what; every other one may hold whatever the model wanted to say. */
const RECORDS = /^(?:command|cmd|path|file_path|file|folder|directory|dir|cwd|url|host|port): /;
const STORES = /^(?:memory|skill_manage|skill_view|skills_list|session_search|todo|clarify)$/;
const PRINTS = /\b(?:echo|printf|print|tee|say)\b|<<|console\.log/i;
/** What is written, not run. */
const CONTENT =
  /^(?:content|file_content|new_string|old_string|new_text|old_text|text|body|message|prompt|query|question|choices|description|operations|evidence|comment|note): /;
/** Three words in quotation marks, or after `echo`, are prose that the model wrote, e.g. a commit message: they were not run. */
const QUOTED_PROSE = /(["'])(?:(?!\1)\S){1,80}\s(?:(?!\1)\S){1,80}\s(?:(?!\1)[^\n]){1,400}\1/g;
const ECHOED_PROSE = /\b(echo|printf|say)[ \t]+(?:[\p{L}'’-]+[ \t]+){2,60}[\p{L}'’.!-]+/gu;

const HERE_DOCUMENT = /<<-?\s{0,4}["']?(\w{1,40})["']?[^\n]{0,400}\n[\s\S]{0,4000}?\n\s{0,40}\1\b/g;

/** A longer line is content. */
const LONGEST = 20_000;
const COMMENT = /(?<=\s)#\s[^\n]*/g;
/** What follows these does nothing. */
const NO_COMMAND = /(^(?:command|cmd): |[;&|]\s*)(?:true|false|:|test|\[|echo|printf)[ \t]+[^;&|\n]*/g;

/** What of an argument's line was run, or undefined. */
function recordLine(line: string, which: MessageEvidenceOptions['observedArguments']): string | undefined {
  if (CONTENT.test(line) || line.length > LONGEST) return undefined;
  const run = line
    .replace(HERE_DOCUMENT, '<< …')
    .replace(QUOTED_PROSE, '$1…$1')
    .replace(ECHOED_PROSE, '$1 …')
    .replace(COMMENT, '')
    .replace(NO_COMMAND, '$1 …');
  return which === 'all' || isPlainRecord(run) ? run : undefined;
}

function isPlainRecord(line: string): boolean {
  if (line.length > SHORT || line.includes('\n')) return false;
  return RECORDS.test(line) && !PRINTS.test(line);
}

/** `key: value`, values as they are: escapes of JSON would hide words. */
function argumentLines(given: JsonObject): readonly string[] {
  return Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${valueText(value)}`]));
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => valueText(item)).join(' ');
  return argumentLines(value as JsonObject).join(' ');
}

/** Which result belongs to which call: the next one with its id, since ids may come again in later turns. */
class Runs {
  readonly #calls = new Map<ToolResultPart, ToolCallPart>();
  readonly #results = new Map<ToolCallPart, ToolResultPart>();

  constructor(messages: readonly StoredMessage[]) {
    const waiting = new Map<string, ToolCallPart>();
    for (const { message } of messages) {
      for (const call of toolCalls(message)) waiting.set(call.callId, call);
      if (message.role === 'tool') this.#join(waiting.get(message.parts[0].callId), message.parts[0]);
    }
  }

  callOf(result: ToolResultPart): ToolCallPart | undefined {
    return this.#calls.get(result);
  }

  resultOf(call: ToolCallPart): ToolResultPart | undefined {
    return this.#results.get(call);
  }

  #join(call: ToolCallPart | undefined, result: ToolResultPart): void {
    if (call === undefined || this.#results.has(call)) return;
    this.#calls.set(result, call);
    this.#results.set(call, result);
  }
}
