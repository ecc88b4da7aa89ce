/** An engine over a trace in memory and inner calls of the test, a folder that goes with it, and a count of what was asked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { InnerCall, InnerRequest } from '#extensions/rlm/call/inner-call.ts';
import type { OpenedEngine } from '#extensions/rlm/engine.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';

export interface BenchPlace {
  readonly engine: OpenedEngine;
  readonly home: string;
  readonly requests: readonly InnerRequest[];
}

export function benchPlace(t: TestContext, calls: readonly InnerCall[]): BenchPlace {
  const home = mkdtempSync(join(tmpdir(), 'rlm-bench-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const requests: InnerRequest[] = [];
  const inner = new Map(
    calls.map((call): [string, InnerCall] => [
      call.family,
      {
        family: call.family,
        call: (request, signal) => {
          requests.push(request);
          return call.call(request, signal);
        },
      },
    ]),
  );
  const store = memoryTraceStore();
  const engine = { inner, store, clock: systemClock, notice: null, close: () => store.close() };
  return { engine, home, requests };
}

export const never = () => new AbortController().signal;
