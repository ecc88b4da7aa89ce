// Owns the text by which both files stand in the system prompt (core notes 2.2, seed 001 ch 5 and 8). Built once a session; the
// caller keeps it frozen. Invariant: empty when nothing is kept; never more text than the limits allow, whatever was put into the
// files by hand; poisoned entries are shown as blocked, the files stay untouched.
import { sliceText } from '#base/text.ts';
import { countCharacters } from './entry-format.ts';
import { MEMORY_TARGETS, type MemoryFiles, type MemoryState, type MemoryTarget } from './memory-files.ts';
import { entryHandle, showEntry } from './memory-view.ts';

const RULE = '═'.repeat(46);
const JOINT = '\n§\n';
const TITLES: Readonly<Record<MemoryTarget, string>> = {
  memory: 'MEMORY (your personal notes)',
  user: 'USER PROFILE (who the user is)',
};

export interface MemoryBlock {
  /** Empty when there is nothing to show. */
  readonly text: string;
  /** What the owner should know: unreadable files, blocked entries, entries left out. One sentence each. */
  readonly problems: readonly string[];
}

export function renderMemoryBlock(files: MemoryFiles): MemoryBlock {
  const blocks = MEMORY_TARGETS.map((target) => renderTarget(files, target));
  return {
    text: blocks
      .map(({ text }) => text)
      .filter(Boolean)
      .join('\n\n'),
    problems: blocks.flatMap(({ problems }) => problems),
  };
}

function renderTarget(files: MemoryFiles, target: MemoryTarget): MemoryBlock {
  const read = files.read(target);
  if (!read.ok) return { text: '', problems: [read.detail] };
  const state = read.value;
  if (state.entries.length === 0) return { text: '', problems: [] };
  const shown = state.entries.map((entry, index) => showEntry(entry, entryHandle(target, index)));
  const kept = keepNewest(
    shown.map(({ text }) => text),
    state.limit,
  );
  return {
    text: [RULE, `${TITLES[target]} [${state.usage}]`, RULE, kept.entries.join(JOINT)].join('\n'),
    problems: problemsOf(files.path(target), shown.filter(({ blocked }) => blocked).length, kept.leftOut, state),
  };
}

/** Over the limit (edited by hand) the oldest entries stay out: what was learned last is most likely still true. */
function keepNewest(entries: readonly string[], limit: number): { entries: readonly string[]; leftOut: number } {
  const kept: string[] = [];
  let room = limit;
  for (const entry of entries.toReversed()) {
    const size = countCharacters(entry) + (kept.length > 0 ? JOINT.length : 0);
    if (size > room) break;
    kept.unshift(entry);
    room -= size;
  }
  const leftOut = entries.length - kept.length;
  if (leftOut === 0) return { entries: kept, leftOut };
  const newest = kept.length === 0 ? [`${sliceText(entries.at(-1) ?? '', limit)}…`] : kept;
  return { entries: [`[${leftOut} older entries over the limit are left out]`, ...newest], leftOut };
}

function problemsOf(path: string, blocked: number, leftOut: number, state: MemoryState): readonly string[] {
  const problems: string[] = [];
  if (blocked > 0)
    problems.push(
      `${path}: ${blocked} of ${state.entries.length} entries look like an attack or a secret and are not shown to the model.`,
    );
  if (leftOut > 0)
    problems.push(
      `${path} is over its limit (${state.usage}); its oldest ${leftOut} entries are not shown to the model.`,
    );
  return problems;
}
