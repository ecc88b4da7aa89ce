// Owns opening a source from its description, in the thread of the sandbox. Reads nothing before it is asked to.
import { FileBytes } from './file-bytes.ts';
import { PartedSource } from './parted-source.ts';
import type { SourceDescription } from './source-description.ts';
import { textSource } from './text-source.ts';

/** Throws TalariaError `context-changed` | `context-unreadable` at the first read of a file that is not as it was. */
export function openDescribed(description: SourceDescription): PartedSource {
  if (description.kind === 'text') return textSource(description.text, description.path);
  return new PartedSource(description.files, new FileBytes(description.files), description);
}
