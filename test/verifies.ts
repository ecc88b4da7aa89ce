/**
 * A test that says which requirements it verifies. An unknown id fails when the file is loaded: a
 * citation that leads nowhere must not look like coverage.
 */
import { type TestContext, type TestOptions, test } from 'node:test';
import { requirements } from './requirements.ts';
import { slow } from './slow.ts';

const known: ReadonlyMap<string, boolean> = new Map(requirements.map((row) => [row.id, row.deferred === undefined]));

export type TestBody = (context: TestContext) => void | Promise<void>;
type Body = TestBody | { readonly options: TestOptions; readonly run: TestBody };

/**
 * @param ids one id or several, written as literals: the gate reads them from the text of the file
 * @throws Error when an id is unknown or belongs to a later milestone
 */
export function verifies(ids: string | readonly string[], name: string, body: Body): void {
  cite(ids);
  if (typeof body === 'function') test(name, body);
  else test(name, body.options, body.run);
}

/** The same of a test that is `slow`. */
verifies.slow = (ids: string | readonly string[], name: string, body: Body): void => {
  cite(ids);
  if (typeof body === 'function') slow(name, body);
  else slow(name, body.options, body.run);
};

function cite(ids: string | readonly string[]): void {
  for (const id of typeof ids === 'string' ? [ids] : ids) refuseUnknown(id);
}

/** `rows`: by id, whether it is one of now. */
export function refuseUnknown(id: string, rows: ReadonlyMap<string, boolean> = known): void {
  const current = rows.get(id);
  if (current === undefined) throw new Error(`test cites ${id}, which is no row of test/requirements`);
  if (!current) throw new Error(`test cites ${id}, which is still marked deferred`);
}
