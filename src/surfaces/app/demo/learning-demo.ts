// Owns the second demo, the seed's story (001 ch 11, 12) in four processes: a task becomes a skill after review and the owner's yes,
// a correction patches it, a new session uses the patched skill, `why` shows the messages behind it. Knows no rule of learning.
// Invariant: what it claims is looked up in the files: the skill, its versions, what its steps left in the folder.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { broken, type DemoOptions, type DemoStage, line, openStage } from './demo-stage.ts';

const FILES = {
  'build.sh': 'mkdir -p out && tr a-z A-Z < page.txt > out/page.txt && echo built\n',
  'check.sh': 'test -s out/page.txt && echo fine || { echo "out/page.txt is missing: build first"; exit 1; }\n',
  'page.txt': 'sandals with wings\n',
};

const TASK = [
  'run `sh check.sh`',
  'run `sh build.sh`',
  'run `sh check.sh` and run `wc -c out/page.txt`',
  'run `sh build.sh`',
  'run `sh check.sh` and run `wc -c out/page.txt`',
  'remember that I prefer pages that end with a checksum',
];
const CHECKSUM = 'cksum out/page.txt';

/** Throws TalariaError `demo-failed` when a process fails, or when a step of the story did not happen. */
export async function* runLearningDemo(options: DemoOptions, signal: AbortSignal): AsyncGenerator<CommandOutput> {
  const stage = openStage(options, FILES);
  yield line('Talaria learns: four processes, no key, no language model (reflex/1), nothing staged.');
  yield line(`home    ${stage.home.root}`);
  yield line(`folder  ${stage.folder}`);
  yield line('');
  yield line('1. A task of several steps, with a dead end, done twice. When the chat ends, it is reviewed.');
  yield* stage.chat(TASK, signal);
  const name = await waitingSkill(stage);
  yield line('');
  yield line('2. A new process offers the draft; you say yes, use it, and correct it.');
  yield* stage.chat([`/pending accept ${name}`, `do ${name}`, `no, also run \`${CHECKSUM}\``], signal);
  const path = patchedSkill(stage, name);
  yield line('');
  yield line('3. A third process uses the patched skill.');
  const replayed: string[] = [];
  for await (const output of stage.chat([`do ${name}`], signal)) {
    if (output.type === 'line') replayed.push(output.text);
    yield output;
  }
  if (!replayed.some((text) => text.includes(CHECKSUM))) throw broken('the patched step was not replayed', stage.home);
  yield line('');
  yield line('4. A fourth one says why: the messages behind each version.');
  yield* stage.run(['skills', 'why', name], signal);
  yield* stage.run(['skills', 'diff', name], signal);
  yield* stage.run(['memory', 'why'], signal);
  yield line('');
  yield line(`The skill: ${path}`);
  for (const text of readFileSync(path, 'utf8').trimEnd().split('\n')) yield line(`  ${text}`);
  yield line(`Look around: TALARIA_HOME=${stage.home.root} talaria skills list`);
  yield { type: 'data', value: { home: stage.home.root, skill: name, path } };
}

/** Name of the skill that the review drafted. */
async function waitingSkill({ home }: DemoStage): Promise<string> {
  const store = createSqliteSessionStore({ path: home.stateDatabase, readOnly: true, rooms: [evidenceSchema] });
  try {
    const [draft] = createProposalLedger({ database: store.database }).list({ status: 'pending', kind: 'skill' });
    if (!draft) throw broken('the review drafted no skill', home);
    return draft.target;
  } finally {
    await store.close();
  }
}

function patchedSkill({ home }: DemoStage, name: string): string {
  const path = join(home.skills, name, 'SKILL.md');
  if (!existsSync(path)) throw broken(`there is no skill ${name} after the yes`, home);
  if (!readFileSync(path, 'utf8').includes(CHECKSUM)) throw broken('the correction did not reach the skill', home);
  return path;
}
