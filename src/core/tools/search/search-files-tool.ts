// Owns the search_files tool: lines by pattern, or files by name. One walker and matcher of our own instead of ripgrep where it happens to
// be: the same answer on every machine, the same rules for secrets and ignored files, and a pattern that cannot run for ever.
// Knows no other tool. Invariant: a small search is done at once; what is larger, or slower, is begun anew in a thread, which an abort ends.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { deadline, raceAbort } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { threadVariables } from '#base/process/thread-variables.ts';
import { ellipsize } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { type FileToolsOptions, fullPath, linksOf, readRisk } from '../file/file-access.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { runSearch, type SearchJob, SMALL_SEARCH } from './search-job.ts';

const input = lenientInput({
  pattern: z.string().min(1).describe('regex; for files a glob'),
  target: z.enum(['content', 'files']).optional(),
  path: z.string().min(1).optional(),
  file_glob: z.string().min(1).optional(),
  limit: z.int().min(1).optional(),
  offset: z.int().min(0).optional(),
  context: z.int().min(0).optional(),
  output_mode: z.enum(['content', 'files', 'count']).optional(),
});

type SearchInput = z.infer<typeof input>;

export function createSearchFilesTool(options: FileToolsOptions) {
  return defineTool<SearchInput>({
    name: 'search_files',
    description: 'Search file contents by regex, or find files by name.',
    input,
    toolset: 'file',
    effect: 'read',
    risk: ({ path, target }, context) =>
      path === undefined || target === 'files'
        ? { level: 'none' }
        : readRisk(path, context.cwd, { ...options, follow: linksOf(context) }),
    summary: ({ pattern, path }) => `search ${ellipsize(pattern, 80)}${path === undefined ? '' : ` in ${path}`}`,
    run: async (request, context, signal) => {
      const job = jobOf(request, context, options);
      const found = await runSearch(job, { bounds: SMALL_SEARCH, clock: context.clock }, signal);
      return found ?? searchInThread(job, signal);
    },
  });
}

function jobOf(request: SearchInput, context: ToolContext, options: FileToolsOptions): SearchJob {
  const { home, userHome = homedir(), scratch = [] } = options;
  return {
    request,
    root: linksOf(context)(fullPath(request.path ?? '.', context.cwd, options)),
    cwd: context.cwd,
    places: { userHome, scratch, ...(home === undefined ? {} : { home }) },
  };
}

/** A thread that gives no answer for so long hangs in the system or in one line: it is ended. */
const THREAD_MS = 60_000;
const MEMORY = { maxOldGenerationSizeMb: 512 };

async function searchInThread(job: SearchJob, signal: AbortSignal): Promise<ToolOutput> {
  const late = () => new TalariaError(`no end after ${THREAD_MS / 1000} s`, { code: 'search-timeout' });
  const limit = deadline(systemClock, signal, THREAD_MS, late);
  const options = { workerData: job, env: threadVariables(), execArgv: [], stdin: false, stdout: true, stderr: true };
  const worker = new Worker(workerFile(), { ...options, resourceLimits: MEMORY });
  const answer = new Promise<ToolOutput>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new TalariaError('its thread ended', { code: 'search-failed' })));
  });
  try {
    return await raceAbort(answer, limit.signal);
  } catch (error) {
    signal.throwIfAborted();
    return { text: `the search was stopped: ${errorText(error)}; narrow it with path or file_glob`, isError: true };
  } finally {
    limit.clear();
    // Not waited for: a thread that hangs in the system ends when the system lets it.
    worker.terminate().catch(() => undefined);
  }
}

/** In the source beside us; in the bundle an entry of its own, beside or above the chunk that we are in. */
function workerFile(): URL {
  const places = ['./search.worker.ts', './search.worker.js', '../search.worker.js'];
  const found = places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (found === undefined)
    throw new TalariaError('the file of the search thread is missing', {
      code: 'search-failed',
      fix: 'Install Talaria anew.',
    });
  return found;
}
