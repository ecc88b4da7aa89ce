// Owns the last line of the screen: model, money, how full the context is, session. Knows no turn. Invariant: one line, whatever the width.
import { type Component, truncateToWidth } from '@earendil-works/pi-tui';
import { formatCost, type Paint, plain } from '../../terminal-text.ts';

export interface FooterFacts {
  readonly model: string;
  /** US dollars since the chat was started; null when a price is unknown. */
  readonly cost: number | null;
  /** Share of the context window that the last request took, 0 to 1. */
  readonly context: number | undefined;
  readonly session: string;
}

export class Footer implements Component {
  readonly #paint: Paint;
  #text = '';

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  show({ model, cost, context, session }: FooterFacts): void {
    const parts = [
      plain(model),
      formatCost(cost),
      context === undefined ? undefined : `context ${Math.round(context * 100)} %`,
      '/help',
      session,
    ];
    this.#text = parts.filter((part) => part !== undefined && part !== '').join(' · ');
  }

  invalidate(): void {
    // Nothing is kept between two looks.
  }

  render(width: number): string[] {
    return [this.#paint('dim', truncateToWidth(this.#text, width, '…'))];
  }
}
