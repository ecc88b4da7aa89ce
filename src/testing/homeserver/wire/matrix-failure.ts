// Owns the one way in which an endpoint of the fake homeserver refuses: a status with the error object of the Matrix API.
import type { JsonObject } from '#base/json.ts';

export class MatrixFailure extends Error {
  override readonly name = 'MatrixFailure';
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, more: JsonObject = {}) {
    super(message);
    this.status = status;
    this.body = { errcode: code, error: message, ...more };
    const wait = more.retry_after_ms;
    this.headers = typeof wait === 'number' ? { 'retry-after': String(Math.ceil(wait / 1000)) } : {};
  }
}

export function forbidden(message: string): MatrixFailure {
  return new MatrixFailure(403, 'M_FORBIDDEN', message);
}

export function badRequest(code: string, message: string): MatrixFailure {
  return new MatrixFailure(400, code, message);
}

export function notFound(message: string): MatrixFailure {
  return new MatrixFailure(404, 'M_NOT_FOUND', message);
}
