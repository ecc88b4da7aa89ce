/** How many files of the source a person has to read who follows a turn, or a command: those of which a function runs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../slow.ts';
import { repository } from './temp-tree.ts';

/** Both only fall. */
const MOST_OF_A_TURN = 109;
const MOST_OF_A_LIST = 60;

interface Covered {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

async function touched(context: TestContext, args: readonly string[]): Promise<readonly string[]> {
  const temp = createTempHome(context);
  const coverage = createTempHome(context).path;
  const server = await startScriptedServer(['Hello there.']);
  context.after(() => server.close());
  temp.write('config.yaml', 'version: 1\nmodel: openai/some-model\n');
  const env = {
    ...{ PATH: process.env.PATH, HOME: createTempHome(context).path, TALARIA_HOME: temp.path },
    ...{ OPENAI_BASE_URL: server.baseUrl, NODE_V8_COVERAGE: coverage },
  };
  const main = join(repository, 'src/surfaces/cli/main.ts');
  const child = spawn(process.execPath, [main, ...args], { cwd: createTempHome(context).path, env, stdio: 'pipe' });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  const scripts = readdirSync(coverage).flatMap(
    (name): readonly Covered[] => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result,
  );
  const source = `${join(repository, 'src')}/`;
  const files = scripts.flatMap(({ url, functions }) => {
    const path = url.startsWith('file:') ? decodeURIComponent(new URL(url).pathname) : '';
    return path.startsWith(source) && functions.some(isRun) ? [path.slice(source.length)] : [];
  });
  return [...new Set(files)].sort();
}

/** The module itself is no function. */
function isRun({ functionName, ranges: [whole] }: Covered['functions'][number]): boolean {
  return whole !== undefined && whole.count > 0 && !(functionName === '' && whole.startOffset === 0);
}

slow('a turn from the terminal executes functions of so many files', async (context) => {
  const files = await touched(context, ['-p', 'hello']);
  assert.ok(files.length <= MOST_OF_A_TURN, `${files.length}: ${files.join(' ')}`);
});

slow('sessions list opens the sessions and no agent', async (context) => {
  const files = await touched(context, ['sessions', 'list']);
  assert.ok(files.length <= MOST_OF_A_LIST, `${files.length}: ${files.join(' ')}`);
  for (const room of ['core/model/', 'mind/evidence/', 'mind/memory/', 'mind/skills/', 'mind/learning/'])
    assert.deepEqual(
      files.filter((path) => path.startsWith(room)),
      [],
    );
});
