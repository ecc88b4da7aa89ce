// Owns the place under the transcript where a question stands until it is answered, and the line for answers that are not shown.
// Knows no tool. Invariant: of a secret answer the screen holds as many dots as it has characters, and nothing else.
import { Container, Input, Spacer, Text } from '@earendil-works/pi-tui';
import type { TerminalQuestion } from '../../questions.ts';
import { type Paint, plain } from '../../terminal-text.ts';

export class QuestionPanel {
  readonly container = new Container();
  readonly #paint: Paint;
  #keys: string | undefined;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  show(question: TerminalQuestion | undefined): void {
    this.container.clear();
    this.#keys = question?.keys;
    if (!question) return;
    this.container.addChild(new Spacer(1));
    const text = question.lines.map((line) => this.#paint('yellow', plain(line))).join('\n');
    this.container.addChild(new Text(text, 0, 0));
  }

  /** Under the question, now that an answer counts. */
  showKeys(): void {
    if (this.#keys !== undefined) this.container.addChild(new Text(this.#paint('yellow', plain(this.#keys)), 0, 0));
  }
}

export class SecretInput extends Input {
  constructor() {
    super({ prompt: '› ' });
  }

  override render(width: number): string[] {
    const value = this.getValue();
    this.setValue('•'.repeat(value.length));
    try {
      return super.render(width);
    } finally {
      this.setValue(value);
    }
  }
}
