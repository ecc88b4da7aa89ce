// Owns the search_files tool: lines by pattern, or files by name. One walker and matcher of our own instead of ripgrep where it happens to
// be: the same answer on every machine, the same rules for secrets and ignored files, and a pattern that cannot run for ever.
// Knows no other tool. Invariant: a small search is done at once; what is larger, or slower, is begun anew in a thread, which an abort ends.
import { homedir } from 'node:os';
import { z } from 'zod';
import { ellipsize } from '#base/text.ts';
import { defineTool, type ToolContext } from '#core/agent/tool.ts';
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
      if (found) return found;
      // A start does not load threads.
      const { searchInThread } = await import('./search-thread.ts');
      return searchInThread(job, signal);
    },
  });
}

function jobOf(request: SearchInput, context: ToolContext, options: FileToolsOptions): SearchJob {
  const { home, userHome = homedir() } = options;
  return {
    request,
    root: linksOf(context)(fullPath(request.path ?? '.', context.cwd, options)),
    cwd: context.cwd,
    places: { userHome, ...(home === undefined ? {} : { home }) },
  };
}
