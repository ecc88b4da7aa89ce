// Owns what has been said and done on the chat's screen, and how it looks: streaming answers, tool lines, notices. Knows no input.
// Invariants: the streamed text of a step is replaced by what was stored; text dropped by a retry disappears; only the text of a
// language model is Markdown.
import {
  type Component,
  Container,
  type EditorTheme,
  Markdown,
  type MarkdownTheme,
  Spacer,
  Text,
} from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { imageNote, isText, type Message, type TextPart } from '#core/model/message.ts';
import { outputLines } from '../render-output.ts';
import {
  type EventLine,
  eventLines,
  oneLine,
  type Paint,
  plain,
  resultLine,
  type Style,
  withoutEdges,
  writesMarkdown,
} from '../terminal-text.ts';
import { shownLine } from './typed-line.ts';

/** Of a difference, also where its lines are wrapped. */
const DIFF_INDENT = 4;
/** Lines of a running command that are shown. */
const LIVE_LINES = 3;

interface LiveOutput {
  readonly shown: Text;
  tail: string;
}

export class Transcript {
  readonly container = new Container();
  readonly #paint: Paint;
  readonly #theme: ReturnType<typeof markdownTheme>;
  readonly #live = new Map<string, LiveOutput>();
  #stream: StreamingAnswer | undefined;
  #isMarkdown = true;

  constructor(paint: Paint) {
    this.#paint = paint;
    this.#theme = markdownTheme(paint);
  }

  addLine(text: string, style?: Style): void {
    const safe = plain(text);
    this.#add(safe.trim() === '' ? new Spacer(1) : new Text(style ? this.#paint(style, safe) : safe, 0, 0));
  }

  addOwner(text: string): void {
    this.#add(new Spacer(1));
    const lines = plain(shownLine(text))
      .split('\n')
      .map((line) => `› ${line}`);
    this.addLine(lines.join('\n'), 'bold');
  }

  addTable(table: Extract<CommandOutput, { type: 'table' }>): void {
    let shown: { readonly width: number; readonly lines: string[] } | undefined;
    const render = (width: number) => {
      if (shown?.width !== width) shown = { width, lines: [...outputLines(table, width)] };
      return shown.lines;
    };
    this.#add({ render, invalidate: () => undefined });
  }

  /** What was said before this start. */
  addPast(messages: readonly Message[]): void {
    for (const line of pastLines(messages)) {
      if (line.kind === 'owner') this.addOwner(line.text);
      else this.#addEventLine(line);
    }
  }

  /** @param lines what it says beside what is streamed */
  addEvent(event: TurnEvent, lines: readonly EventLine[] = eventLines(event)): void {
    switch (event.type) {
      case 'text-delta':
        this.#grow(event.text);
        return;
      case 'step-start':
        this.#isMarkdown = writesMarkdown(event.model);
        return;
      case 'steer':
        this.addOwner(event.text);
        return;
      case 'tool-output':
        this.#showLive(event.callId, event.chunk);
        return;
      case 'model-fallback':
        this.#isMarkdown = writesMarkdown(event.to);
        this.#dropStream();
        break;
      case 'model-retry':
        this.#dropStream();
        break;
      case 'tool-end':
        this.#dropLive(event.callId);
        break;
      default:
        break;
    }
    if (event.type === 'message' && event.message.role === 'assistant' && this.#keepsStream(lines[0])) return;
    for (const line of lines) this.#addEventLine(line);
  }

  #addEventLine(line: EventLine): void {
    if (line.kind === 'answer') this.#add(new Markdown(line.text, 0, 0, this.#theme));
    else if (line.text.trim() === '') this.#add(new Spacer(1));
    else this.#add(new Text(paintLine(line, this.#paint), line.kind === 'diff' ? DIFF_INDENT : 0, 0));
  }

  #grow(text: string): void {
    if (!this.#stream) {
      this.#stream = new StreamingAnswer(this.#isMarkdown ? this.#theme : undefined);
      this.#add(this.#stream);
    }
    this.#stream.append(plain(text));
  }

  /** True when what was streamed is what was stored: it stays as it is, so that nothing moves. */
  #keepsStream(stored: EventLine | undefined): boolean {
    const stream = this.#stream;
    const isSame = stream?.text.trim() === stored?.text.trim() && (stored?.kind === 'answer') === this.#isMarkdown;
    if (!stream || !isSame) {
      this.#dropStream();
      return false;
    }
    stream.finish();
    this.#stream = undefined;
    return true;
  }

  #dropStream(): void {
    if (this.#stream) this.container.removeChild(this.#stream);
    this.#stream = undefined;
  }

  #showLive(callId: string, chunk: string): void {
    const live = this.#live.get(callId) ?? this.#startLive(callId);
    live.tail = `${live.tail}${plain(chunk)}`.slice(-2_000);
    const lines = live.tail.trimEnd().split('\n').slice(-LIVE_LINES);
    live.shown.setText(this.#paint('dim', lines.join('\n')));
  }

  #startLive(callId: string): LiveOutput {
    const live = { shown: new Text('', 2, 0), tail: '' };
    this.#live.set(callId, live);
    this.#add(live.shown);
    return live;
  }

  #dropLive(callId: string): void {
    const live = this.#live.get(callId);
    if (live) this.container.removeChild(live.shown);
    this.#live.delete(callId);
  }

  #add(component: Component): void {
    this.container.addChild(component);
  }
}

// What is shown of a session that is gone on with: its last messages, tool calls in one line each. Knows no screen.
// Invariant: a pure function; every line is safe to print.

export type PastLine = EventLine | { readonly kind: 'owner'; readonly text: string };

const SHOWN = 12;
const LONGEST = 4_000;

export function pastLines(messages: readonly Message[]): readonly PastLine[] {
  const earlier = messages.length - SHOWN;
  const lines = messages.slice(-SHOWN).flatMap(messageLines);
  if (earlier <= 0) return lines;
  return [{ kind: 'notice', text: `${earlier} earlier messages: /sessions show` }, ...lines];
}

function messageLines(message: Message): readonly PastLine[] {
  switch (message.role) {
    case 'user':
      return textLines(
        message.parts.map((part) => (isText(part) ? ownersPart(part) : imageNote(part))),
        'owner',
      );
    case 'assistant':
      return message.parts.flatMap((part): readonly PastLine[] => {
        if (part.type === 'text') return textLines([part.text], writesMarkdown(message.model) ? 'answer' : 'output');
        if (part.type !== 'tool-call') return [];
        return [{ kind: 'tool', text: oneLine(`${part.name} ${JSON.stringify(part.arguments)}`, 200) }];
      });
    case 'tool':
      return message.parts.map(resultLine);
  }
}

/** A part that nobody typed is named only: a file by its first line, which says which. */
function ownersPart({ text, label }: TextPart): string {
  if (label === undefined || label === 'steer') return text;
  return label === 'file' ? (text.split('\n', 1)[0] ?? '') : `[${label}]`;
}

function textLines(texts: readonly string[], kind: 'owner' | 'answer' | 'output'): readonly PastLine[] {
  const text = withoutEdges(plain(texts.join('\n')));
  if (text === '') return [];
  return [{ kind, text: text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}\n…` }];
}

// Showing an answer while it is written. Knows no event. Invariants: finished blocks are laid out once; laying out the rest
// takes at most a ninth of the time, however long it is and however fast it comes; `finish` shows all of it; what is no Markdown
// is shown as it is.

/** Text that is laid out anew with each frame, in characters, before finished blocks are split off. */
const OPEN_LIMIT = 4_000;
/** Rest between two layouts, in times of what the last one took. */
const REST = 8;

export class StreamingAnswer implements Component {
  readonly #theme: MarkdownTheme | undefined;
  readonly #now: () => number;
  readonly #settled: (Markdown | Text)[] = [];
  #open: Markdown | Text;
  #text = '';
  #openText = '';
  #isDirty = false;
  #nextLayoutAt = Number.NEGATIVE_INFINITY;
  #shown: { readonly width: number; readonly lines: string[] } | undefined;

  /** @param theme of Markdown; without one the text is shown as it is */
  constructor(theme: MarkdownTheme | undefined, now: () => number = systemClock.monotonic) {
    this.#theme = theme;
    this.#now = now;
    this.#open = this.#block('');
  }

  /** All that was appended. */
  get text(): string {
    return this.#text;
  }

  append(text: string): void {
    const added = this.#text === '' ? text.replace(this.#theme ? /^\s+/ : /^\n+/, '') : text;
    this.#text += added;
    this.#openText += added;
    this.#isDirty = true;
    if (this.#theme && this.#openText.length > OPEN_LIMIT) this.#settle();
  }

  finish(): void {
    this.#nextLayoutAt = Number.NEGATIVE_INFINITY;
    this.#isDirty = true;
  }

  invalidate(): void {
    for (const block of [...this.#settled, this.#open]) block.invalidate();
    this.#shown = undefined;
  }

  render(width: number): string[] {
    const isKept = this.#shown?.width === width && (!this.#isDirty || this.#now() < this.#nextLayoutAt);
    if (this.#shown && isKept) return this.#shown.lines;
    const from = this.#now();
    this.#open.setText(this.#openText);
    const lines = [...this.#settled.flatMap((block) => [...block.render(width), '']), ...this.#open.render(width)];
    const until = this.#now();
    this.#nextLayoutAt = until + REST * (until - from);
    this.#isDirty = false;
    this.#shown = { width, lines };
    return lines;
  }

  #settle(): void {
    const cut = lastBlockEnd(this.#openText);
    if (cut === undefined) return;
    this.#settled.push(this.#block(this.#openText.slice(0, cut)));
    this.#openText = this.#openText.slice(cut).replace(/^\n+/, '');
    this.#shown = undefined;
    this.#open = this.#block('');
  }

  #block(text: string): Markdown | Text {
    return this.#theme ? new Markdown(text, 0, 0, this.#theme) : new Text(text, 0, 0);
  }
}

/** Where the last block ends that nothing behind it can change: before a blank line, outside code, not within a list. */
export function lastBlockEnd(text: string): number | undefined {
  const ends = [...text.matchAll(/\n\n+(?=[A-Za-z#*\p{L}])(?![*+-] )/gu)].map((match) => match.index);
  return ends.findLast((end) => end > 0 && isPlainBefore(text.slice(0, end)));
}

function isPlainBefore(text: string): boolean {
  const fences = text.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0;
  return fences % 2 === 0;
}

export function markdownTheme(paint: Paint): MarkdownTheme {
  return {
    heading: (text) => paint('bold', text),
    link: (text) => paint('underline', text),
    linkUrl: (text) => paint('dim', text),
    code: (text) => paint('cyan', text),
    codeBlock: (text) => text,
    codeBlockBorder: (text) => paint('dim', text),
    quote: (text) => paint('italic', text),
    quoteBorder: (text) => paint('dim', text),
    hr: (text) => paint('dim', text),
    listBullet: (text) => paint('cyan', text),
    bold: (text) => paint('bold', text),
    italic: (text) => paint('italic', text),
    strikethrough: (text) => paint('strike', text),
    underline: (text) => paint('underline', text),
  };
}

export function editorTheme(paint: Paint): EditorTheme {
  const dim = (text: string) => paint('dim', text);
  return {
    borderColor: dim,
    selectList: {
      selectedPrefix: (text) => paint('cyan', text),
      selectedText: (text) => paint('cyan', text),
      description: dim,
      scrollInfo: dim,
      noMatch: dim,
    },
  };
}

const MARKS: Readonly<Record<EventLine['kind'], string>> = {
  tool: '⏺ ',
  result: '  ⎿ ',
  diff: '',
  error: '  ⎿ ',
  notice: '· ',
  answer: '',
  output: '',
  end: '',
};

const DIFF_STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan' };

function paintLine(line: EventLine, paint: Paint): string {
  const text = MARKS[line.kind] + line.text;
  switch (line.kind) {
    case 'tool':
      return paint('cyan', text);
    case 'error':
      return paint('red', text);
    case 'notice':
      return paint('yellow', text);
    case 'diff':
      return paint(DIFF_STYLES[line.text[0] ?? ''] ?? 'dim', text);
    case 'result':
    case 'end':
      return paint('dim', text);
    case 'answer':
    case 'output':
      return text;
  }
}
