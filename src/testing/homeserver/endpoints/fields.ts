// Owns reading fields of a request's body, with the refusals of a real server. Pure.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { badRequest } from '../wire/matrix-failure.ts';

/** @throws MatrixFailure 400 M_BAD_JSON when it is there and no text */
export function textField(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badRequest('M_BAD_JSON', `'${field}' must be a string`);
  return value;
}

/** @throws MatrixFailure 400 M_MISSING_PARAM, M_BAD_JSON */
export function neededText(body: JsonObject, field: string): string {
  const value = textField(body, field);
  if (value === undefined) throw badRequest('M_MISSING_PARAM', `Missing params: ['${field}']`);
  return value;
}

/** `{}` when absent. */
export function objectField(body: JsonObject, field: string): JsonObject {
  const value = body[field] ?? {};
  if (!isJsonObject(value)) throw badRequest('M_BAD_JSON', `'${field}' must be an object`);
  return value;
}

export function textList(body: JsonObject, field: string): readonly string[] {
  const value = body[field] ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw badRequest('M_BAD_JSON', `'${field}' must be a list of strings`);
  }
  return value;
}

/** A whole number of the query, or undefined. */
export function numberQuery(query: Readonly<Record<string, string>>, field: string): number | undefined {
  const text = query[field];
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw badRequest('M_INVALID_PARAM', `Query parameter '${field}' must be an integer`);
  return Number(text);
}

/** @throws MatrixFailure 400 M_INVALID_PARAM for what is no `@name:server` */
export function checkUserId(userId: string): string {
  if (!isUserId(userId)) throw badRequest('M_INVALID_PARAM', `${userId} is no user id`);
  return userId;
}

export function isUserId(text: string): boolean {
  return /^@[^:]*:.+$/.test(text);
}
