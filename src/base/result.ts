// Owns Result: the channel for expected refusals. A refusal carries a reason code that the caller handles exhaustively.

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Refusal<R extends string = string> {
  readonly ok: false;
  readonly reason: R;
  /** One sentence for a person or a model: what was refused and what would mend it. */
  readonly detail: string;
}

export type Result<T, R extends string = string> = Ok<T> | Refusal<R>;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function refuse<R extends string>(reason: R, detail: string): Refusal<R> {
  return { ok: false, reason, detail };
}
