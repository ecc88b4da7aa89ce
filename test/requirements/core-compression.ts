/** Rows of the core seed's compression that its notes and the peers' users add. */
import type { Requirement } from './requirement.ts';

export const coreCompressionRows: readonly Requirement[] = [
  { id: 'core:session:rewind', source: 'core 2.4', text: 'A message and all after it can be taken back: no context and no search has them any more.' },
  { id: 'core:compression:rows-kept', source: 'core 0.1', text: 'A compression stays in its session: old rows leave the context and stay searchable, and it is wholly done or not at all.' },
  { id: 'core:compression:fetch-told', source: 'core 6', text: 'The agent is told in which session and between which message ids the compressed messages are found.' },
  { id: 'core:compression:anchors', source: 'core 6', text: 'Exact identifiers, paths, ids, numbers, links, errors and open tasks are gathered mechanically and never summarised.' },
  { id: 'core:compression:evidence-found', source: 'bench', text: 'Every evidence message that is no longer in the context is found by its own three rarest words.' },
  { id: 'core:compression:small-windows', source: 'core 6', text: 'Compression works down to windows of 8K tokens, with shares scaled to them.' },
  { id: 'core:compression:useless-stops', source: 'core 1.1', text: 'Two useless compressions in a row stop the loop with a clear message.' },
  { id: 'core:compression:failed-summariser', source: 'core 3', text: 'A summariser that fails leaves the old state intact, or, when nothing more fits, the mechanical part stands alone, and the owner is told.' },
  { id: 'core:compression:context-full-retried', source: 'design 3', text: 'A request that the provider refuses as too long is compressed and tried once more.' },
  { id: 'core:compression:by-hand', source: 'core 1.1', text: 'The owner can compress a conversation at any time.' },
];
