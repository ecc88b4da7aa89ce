// Owns what has been said and done on the chat's screen: streaming answers, tool lines, notices. Knows no input.
// Invariants: the streamed text of a step is replaced by what was stored; text dropped by a retry disappears; only the text of a
// language model is Markdown.
import { type Component, Container, Markdown, Spacer, Text } from '@earendil-works/pi-tui';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Message } from '#core/model/message.ts';
import { type EventLine, eventLines, writesMarkdown } from '../../event-lines.ts';
import { outputLines } from '../../render-output.ts';
import { type Paint, plain, type Style } from '../../terminal-text.ts';
import { shownLine } from '../input-history.ts';
import { markdownTheme, paintLine } from './chat-theme.ts';
import { pastLines } from './past-lines.ts';
import { StreamingAnswer } from './streaming-answer.ts';

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
