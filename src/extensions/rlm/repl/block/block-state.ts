// Owns what one block has brought so far: printed text up to its limit, the answer. Knows no engine.
import type { AnswerPart } from '../repl-session.ts';

export class BlockState {
  readonly #limit: number;
  #output = '';
  #printed = 0;
  #answer: readonly AnswerPart[] | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param length of the whole text, of which `text` may be the beginning */
  print(text: string, length: number): void {
    const room = Math.max(0, this.#limit - this.#output.length);
    const line = this.#printed === 0 ? text : `\n${text}`;
    if (this.#output.length === Math.min(this.#printed, this.#limit)) this.#output += cutTo(line, room);
    this.#printed += Math.max(length, text.length) + (line.length - text.length);
  }

  finish(answer: readonly AnswerPart[]): void {
    this.#answer = answer;
  }

  get output(): string {
    return this.#output;
  }

  get cut(): number {
    return Math.max(0, this.#printed - this.#output.length);
  }

  get answer(): readonly AnswerPart[] | null {
    return this.#answer;
  }
}

/** Never half a character. */
function cutTo(text: string, room: number): string {
  if (text.length <= room) return text;
  const last = text.charCodeAt(room - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? room - 1 : room);
}
