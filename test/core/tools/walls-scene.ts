/** A home with secrets in it, a project, and walls around commands that run there. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { type ProcessResult, runProcess, startProcess } from '#base/process.ts';
import { createWalls, type WallOptions } from '#core/tools/walls/create-walls.ts';
import type { Enclosed, Enclosure, Met, Walls } from '#core/tools/walls/walls.ts';

/** What nobody behind walls may ever see. */
export const SENTINEL = 'SENTINEL-d41d8cd9';

/** Of files below the home, with the sentinel in each. */
export const SECRETS = [
  ...[
    '.ssh/id_rsa',
    '.aws/credentials',
    '.netrc',
    '.npmrc',
    '.talaria/.env',
    '.talaria/state.db',
    '.config/gh/hosts.yml',
  ],
  ...['.mozilla/firefox/key4.db', '.local/share/keyrings/login.keyring', '.bash_history', '.cargo/credentials.toml'],
  ...[
    '.gnupg/private',
    '.docker/config.json',
    '.unknown-tool/token',
    'other/.env',
    'other/deep/id_ed25519',
    'secrets.yaml',
  ],
] as const;
const PLAIN = [
  'notes.txt',
  'other/readme.md',
  '.nvm/versions/node',
  '.cargo/bin/cargo-x',
  '.gitconfig',
  '.local/bin/tool',
];

export interface Ran extends ProcessResult {
  readonly text: string;
  readonly met: Met;
}

export interface WallsScene {
  readonly base: string;
  readonly home: string;
  /** The session's folder. */
  readonly folder: string;
  readonly walls: Walls;
  write(path: string, text: string): string;
  enclosure(change?: Partial<Enclosure>): Enclosure;
  enclose(command: string, change?: Partial<Enclosure> & { readonly cwd?: string }): Promise<Enclosed>;
  run(
    command: string,
    change?: Partial<Enclosure> & { readonly cwd?: string; readonly timeoutMs?: number },
  ): Promise<Ran>;
  /** Runs on until the signal; `heard` resolves when `word` was printed. */
  serve(command: string, word: string): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

/** `project`, `own`: of the session's folder and the agent's home, below the home. */
export function makeWallsScene(
  options: Partial<WallOptions> & { readonly project?: string; readonly own?: string } = {},
): WallsScene {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'talaria-walls-test-')));
  const home = join(base, 'user');
  const folder = join(home, options.project ?? 'proj');
  const write = (path: string, text: string) => {
    const full = join(home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  };
  for (const path of SECRETS) write(path, SENTINEL);
  for (const path of PLAIN) write(path, `# plain ${path}\n`);
  mkdirSync(folder, { recursive: true });
  const walls = createWalls({
    ...{
      mode: 'auto',
      env: process.env,
      userHome: home,
      dataHome: join(home, options.own ?? '.talaria'),
      paths: [],
      hosts: [],
    },
    ...{ clock: systemClock, tempRoot: join(base, 'private') },
    ...options,
  });
  const enclosure = (change: Partial<Enclosure> = {}): Enclosure => ({
    ...{ sessionId: 's1', folder, openings: [], askHost: async () => false },
    ...change,
  });
  const enclose: WallsScene['enclose'] = (command, { cwd, ...change } = {}) => {
    const argv = ['/bin/bash', '-c', `exec 2>&1\n${command}`];
    return walls.enclose(
      { argv, cwd: cwd ?? change.folder ?? folder, env: { PATH: process.env.PATH } },
      enclosure(change),
    );
  };
  return {
    base,
    home,
    folder,
    walls,
    write,
    enclosure,
    enclose,
    async run(command, { timeoutMs = 60_000, ...change } = {}) {
      const enclosed = await enclose(command, change);
      const result = await runProcess({ ...enclosed.request, limits: { timeoutMs } }, new AbortController().signal);
      const text = `${result.output.text}${result.error ?? ''}`;
      return { ...result, text, met: await enclosed.settle({ output: text, failed: result.exitCode !== 0 }) };
    },
    async serve(command, word) {
      const enclosed = await enclose(command);
      const heard = Promise.withResolvers<void>();
      const ended = new AbortController();
      let said = '';
      const onOutput = (chunk: string) => {
        said += chunk;
        if (said.includes(word)) heard.resolve();
      };
      const running = startProcess({ ...enclosed.request, onOutput }, ended.signal);
      void running.result.then(({ output }) => heard.reject(new Error(`it ended: ${output.text}`)));
      await heard.promise;
      return {
        async stop() {
          ended.abort();
          const { output } = await running.result;
          await enclosed.settle({ output: output.text, failed: false });
        },
      };
    },
    async close() {
      await walls.close();
      rmSync(base, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Undefined where walls can be built. */
export function noWalls(): string | undefined {
  const walls = createWalls({
    ...{
      mode: 'auto',
      env: process.env,
      userHome: '/',
      dataHome: '/nowhere',
      paths: [],
      hosts: [],
      clock: systemClock,
    },
  });
  return walls.state().kind === 'walls' ? undefined : 'skipped: bubblewrap is missing (apt install bubblewrap)';
}
