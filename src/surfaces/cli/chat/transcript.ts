// Owns what has been said and done on the chat's screen: streaming answers, tool lines, notices. Knows no input.
// Invariant: the streamed text of a step is replaced by what was stored; text dropped by a retry disappears.
import { type Component, Container, Markdown, Spacer, Text } from '@earendil-works/pi-tui';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { eventLines } from '../event-lines.ts';
import { type Paint, plain } from '../terminal-text.ts';
import { markdownTheme, paintLine } from './chat-theme.ts';

/** Components on the screen; older ones have scrolled into the terminal's own history and are let go. */
const WINDOW = 400;

export class Transcript {
  readonly container = new Container();
  readonly #paint: Paint;
  readonly #theme: ReturnType<typeof markdownTheme>;
  #stream: Markdown | undefined;
  #streamed = '';
  #live: Text | undefined;

  constructor(paint: Paint) {
    this.#paint = paint;
    this.#theme = markdownTheme(paint);
  }

  addLine(text: string): void {
    this.#add(new Text(plain(text), 0, 0));
  }

  addDim(text: string): void {
    this.#add(new Text(this.#paint('dim', plain(text)), 0, 0));
  }

  addProblem(text: string): void {
    this.#add(new Text(this.#paint('red', plain(text)), 0, 0));
  }

  addQuestion(text: string): void {
    this.#add(new Text(this.#paint('yellow', plain(text)), 0, 0));
  }

  addOwner(text: string): void {
    this.#add(new Spacer(1));
    this.#add(
      new Text(
        this.#paint(
          'bold',
          plain(text)
            .split('\n')
            .map((line) => `› ${line}`)
            .join('\n'),
        ),
        0,
        0,
      ),
    );
  }

  addEvent(event: TurnEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#grow(event.text);
        return;
      case 'model-retry':
      case 'model-fallback':
        this.#dropStream();
        break;
      case 'tool-output':
        this.#showLive(event.chunk);
        return;
      case 'tool-end':
        this.#dropLive();
        break;
      case 'message':
        if (event.message.role !== 'assistant') return;
        this.#dropStream();
        break;
      default:
        break;
    }
    for (const line of eventLines(event)) {
      if (line.kind === 'answer') this.#add(new Markdown(line.text, 0, 0, this.#theme));
      else this.#add(new Text(paintLine(line, this.#paint), 0, 0));
    }
  }

  #grow(text: string): void {
    this.#streamed += plain(text);
    if (!this.#stream) {
      this.#stream = new Markdown('', 0, 0, this.#theme);
      this.#add(this.#stream);
    }
    this.#stream.setText(this.#streamed);
  }

  #dropStream(): void {
    if (this.#stream) this.container.removeChild(this.#stream);
    this.#stream = undefined;
    this.#streamed = '';
  }

  /** The last lines of a running command. */
  #showLive(chunk: string): void {
    const tail = plain(chunk).trimEnd().split('\n').slice(-3).join('\n');
    if (!this.#live) {
      this.#live = new Text('', 2, 0);
      this.#add(this.#live);
    }
    this.#live.setText(this.#paint('dim', tail));
  }

  #dropLive(): void {
    if (this.#live) this.container.removeChild(this.#live);
    this.#live = undefined;
  }

  #add(component: Component): void {
    this.container.addChild(component);
    const extra = this.container.children.length - WINDOW;
    if (extra > WINDOW / 4) this.container.children.splice(0, extra);
  }
}
