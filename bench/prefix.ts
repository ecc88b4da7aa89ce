/** Prefix reuse: fifty turns, each in a new process; every request must start with all of an earlier one. A gate, not a target. */
import type { BenchRow } from './bench-row.ts';
import { benchHome, type RequestBody, run, startStub, talaria } from './stub.ts';

export async function benchPrefix(turns = 50): Promise<readonly BenchRow[]> {
  const stub = await startStub({ rounds: 1, bodies: true });
  const home = benchHome(stub.baseUrl);
  const bodies: RequestBody[] = [];
  try {
    for (let turn = 0; turn < turns; turn++) {
      const args = ['-p', `turn ${turn}: run echo`, ...(turn === 0 ? [] : ['--continue'])];
      const ran = await run('sh', [talaria, ...args], { env: home.env });
      if (ran.code !== 0) throw new Error(`turn ${turn} exited ${ran.code}: ${ran.err.slice(0, 400)}`);
      bodies.push(...stub.take().flatMap((arrival) => (arrival.body ? [arrival.body] : [])));
    }
  } finally {
    stub.stop();
    home.remove();
  }
  const { shared, limit } = prefixReuse(bodies.map(serialise));
  const value = shared / limit;
  const note = `${bodies.length} requests of ${turns} processes; ${shared} of ${limit} bytes shared with an earlier request`;
  return [
    {
      metric: 'prefix reuse',
      value,
      target: '= 1 (append-only limit)',
      unit: 'share of the limit',
      ok: value === 1,
      note,
    },
  ];
}

/** System, tools and messages as one text, contents in block form, cache marks removed. */
export function serialise(body: RequestBody): string {
  const messages = body.messages.map((message) => JSON.stringify(inBlocks(message)));
  return [JSON.stringify(body.tools ?? []), ...messages].join('\n');
}

function inBlocks(message: unknown): unknown {
  const { content, ...rest } = message as { content?: unknown };
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return JSON.parse(
    JSON.stringify({ ...rest, content: blocks }, (key, value) => (key === 'cache_control' ? undefined : value)),
  );
}

/** For each request after the first: the longest prefix shared with any earlier one, and the most there could be: the whole of the one before. */
export function prefixReuse(texts: readonly string[]): { readonly shared: number; readonly limit: number } {
  let shared = 0;
  let limit = 0;
  for (const [i, text] of texts.entries()) {
    const earlier = texts.slice(0, i);
    if (earlier.length === 0) continue;
    limit += Math.max(...earlier.map((other) => other.length));
    shared += Math.max(...earlier.map((other) => commonPrefix(text, other)));
  }
  return { shared, limit };
}

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let i = 0;
  while (i < most && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}
