/**
 * The test reporter: everything the spec reporter says, then the counts as the last lines, `# pass N`.
 * A run that ends without counts, or that ran no test at all, leaves with code 1: `process.exit(0)`
 * inside a test and a glob without matches are both green otherwise.
 * `TALARIA_NO_SKIPS=1` makes a skip a failure, unless its reason is one of `allowedSkips`.
 */

import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';
import { allowedSkips } from './allowed-skips.ts';

const counted = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** At the top, not in the reporter: a test file that leaves while it is loaded is gone before the first event. */
let finished = false;
process.once('exit', (code) => {
  if (!finished && code === 0) process.exitCode = 1;
});

export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts: string[] = [];
  const refusedSkips: string[] = [];
  const printer = new spec();
  for await (const event of source) {
    if (event.type === 'test:diagnostic' && counted.test(event.data.message)) counts.push(event.data.message);
    else {
      const skip = refusedSkip(event);
      if (skip !== undefined) refusedSkips.push(skip);
      printer.write(event);
      yield* drain(printer);
    }
  }
  printer.end();
  yield* drain(printer);
  for (const skip of refusedSkips) yield `skip without an accepted reason: ${skip}\n`;
  if (refusedSkips.length > 0 || !ranSomething(counts)) process.exitCode = 1;
  finished = ranSomething(counts);
  yield `${counts.map((line) => `# ${line}`).join('\n')}\n`;
}

function refusedSkip(event: TestEvent): string | undefined {
  if (process.env.TALARIA_NO_SKIPS !== '1') return undefined;
  if (event.type !== 'test:pass' || event.data.skip === undefined || event.data.skip === false) return undefined;
  const reason = String(event.data.skip);
  return allowedSkips.some((allowed) => allowed.test(reason)) ? undefined : `${event.data.name} (${reason})`;
}

function ranSomething(counts: readonly string[]): boolean {
  const tests = counts.find((line) => line.startsWith('tests '));
  return tests !== undefined && Number(tests.slice('tests '.length)) > 0;
}

function* drain(printer: NodeJS.ReadableStream): Generator<string> {
  for (let chunk: unknown = printer.read(); chunk !== null; chunk = printer.read()) yield String(chunk);
}
