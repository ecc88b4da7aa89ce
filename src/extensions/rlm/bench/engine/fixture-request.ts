// Owns making a run request of a fixture's lines: chunks by the planner of every run, nothing read from disk.
// Invariant: what is selected is what the fixture declares, or it is refused.
import { ok, type Result, refuse } from '#base/result.ts';
import { planChunks } from '../../chunk/plan-chunks.ts';
import { readChunk } from '../../chunk/read-chunk.ts';
import { selectChunks } from '../../chunk/select-chunks.ts';
import { type AskedRun, type BenchRequestOptions, benchRequest } from './bench-request.ts';

export interface FixtureLines {
  readonly path: string;
  readonly lines: readonly string[];
  readonly chunk_line_limit: number;
  readonly max_atomic_chunks: number;
  /** Chunk ids that must come out of it, in order. */
  readonly selected: readonly string[];
}

export interface FixtureAsk {
  readonly fixture: FixtureLines;
  readonly question: string;
  readonly options: BenchRequestOptions;
}

export function fixtureRequest({ fixture, question, options }: FixtureAsk): Result<AskedRun, 'fixture-chunks-differ'> {
  const bytes = fixtureBytes(fixture.lines);
  const plan = planChunks({ path: fixture.path, bytes }, { line_limit: fixture.chunk_line_limit });
  if (!plan.ok) return refuse('fixture-chunks-differ', plan.detail);
  const chosen = selectChunks([plan.value], { max_chunks: fixture.max_atomic_chunks });
  if (!chosen.ok) return refuse('fixture-chunks-differ', chosen.detail);
  const { selected, dropped, boundaries } = chosen.value;
  const ids = selected.map((span) => span.chunk_id);
  if (ids.join('\n') !== fixture.selected.join('\n'))
    return refuse('fixture-chunks-differ', `the lines of the fixture give other chunks: ${ids.join(', ')}`);
  return ok(
    benchRequest({
      question,
      target: fixture.path,
      omitted: dropped.map(({ chunk_id, reason }) => ({ chunk_id, reason })),
      boundaries,
      selected: selected.map((span) => ({ span, chunk: readChunk(bytes, span) })),
      options,
    }),
  );
}

export function fixtureBytes(lines: readonly string[]): Uint8Array {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
}
