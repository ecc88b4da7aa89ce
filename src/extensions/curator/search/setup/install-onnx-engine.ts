// Owns installing the ONNX engine into the home: exact version, no scripts, only this platform's binary. Knows no model.
// Invariant: the engine's folder is whole or not there; it is made in a staging folder beside it and renamed.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { ownPath, SYSTEM_PATH } from '#base/paths/find-on-path.ts';
import { withFileLock } from '#base/platform.ts';
import { type ProcessResult, runProcess } from '#base/process.ts';
import { redactSecrets } from '#base/secrets.ts';
import { ONNX_ENGINE_VERSION, onnxEngineFolder } from '#core/model/onnx/onnx-engine.ts';

/** Relative paths and texts of the folder in which npm runs. */
export const ENGINE_FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      private: true,
      description: 'The engine for local ONNX models of Talaria. This folder can be deleted and installed again.',
      dependencies: { '@huggingface/transformers': ONNX_ENGINE_VERSION },
      // It imports an image library at the top and brings a browser build of 140 MB; ranking text needs neither.
      overrides: { sharp: 'file:./absent', 'onnxruntime-web': 'file:./absent' },
    },
    null,
    2,
  )}\n`,
  'absent/package.json': '{"name":"absent","version":"1.0.0","type":"module","main":"absent.js"}\n',
  'absent/absent.js': "export default function absent() {\n  throw new Error('left out: only text is read here');\n}\n",
};

const NPM_INSTALL = [
  'npm',
  'install',
  '--omit=optional',
  '--ignore-scripts',
  '--install-links',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
  '--loglevel=error',
] as const;

/** Of the runtime's binaries, 290 MB for all platforms, only `<platform>/<architecture>` below each of these folders is kept. */
const BINARIES = 'node_modules/onnxruntime-node/bin';

export interface EngineInstall {
  readonly engines: string;
  /** Environment of npm; keys are left out of it. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Node's names, e.g. `linux` and `x64`. */
  readonly platform: string;
  readonly architecture: string;
}

const TIMEOUT_MS = 900_000;
const STAGING = '.staging-onnx-';

/** True when it was installed now, false when it was there. Throws TalariaError `engine-install-failed` or `engine-unsupported`. */
export async function installOnnxEngine(install: EngineInstall, signal: AbortSignal): Promise<boolean> {
  const { engines } = install;
  const folder = onnxEngineFolder(engines);
  if (existsSync(folder)) return false;
  return withFileLock(
    join(engines, '.onnx-install.lock'),
    async () => {
      if (existsSync(folder)) return false;
      for (const name of readdirSync(engines)) if (name.startsWith(STAGING)) remove(join(engines, name));
      const staging = join(engines, `${STAGING}${randomHex(4)}`);
      try {
        await fill(staging, install, signal);
        renameSync(staging, folder);
        return true;
      } finally {
        remove(staging);
      }
    },
    { waitMs: TIMEOUT_MS, signal },
  );
}

async function fill(staging: string, install: EngineInstall, signal: AbortSignal): Promise<void> {
  for (const [name, text] of Object.entries(ENGINE_FILES)) {
    mkdirSync(dirname(join(staging, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(staging, name), text, { mode: 0o600 });
  }
  const PATH = ownPath(install.variables.PATH ?? SYSTEM_PATH);
  const env = { ...withoutKeys(install.variables), PATH, ONNXRUNTIME_NODE_INSTALL: 'skip' };
  const done = await runProcess({ argv: NPM_INSTALL, cwd: staging, env, limits: { timeoutMs: TIMEOUT_MS } }, signal);
  throwIfAborted(signal);
  if (done.ended !== 'exit' || done.exitCode !== 0) throw npmFailed(done);
  keepBinary(join(staging, BINARIES), install);
}

/** npm's own settings may hold the key of a private registry. */
function withoutKeys(variables: EngineInstall['variables']): EngineInstall['variables'] {
  const isKey = (name: string) =>
    name === 'NODE_COMPILE_CACHE' || (/KEY|TOKEN|SECRET|PASSWORD/i.test(name) && !/^npm_/i.test(name));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !isKey(name)));
}

function keepBinary(binaries: string, { platform, architecture }: EngineInstall): void {
  const found = readdirSync(binaries).flatMap((api) =>
    readdirSync(join(binaries, api)).flatMap((system) =>
      readdirSync(join(binaries, api, system)).map((processor) => ({ api, system, processor })),
    ),
  );
  const isOurs = (one: { system: string; processor: string }) =>
    one.system === platform && one.processor === architecture;
  if (!found.some(isOurs)) {
    throw new TalariaError(`the engine for local models has no binary for ${platform} ${architecture}`, {
      code: 'engine-unsupported',
      fix: 'Skills are ranked by words and by evidence here.',
    });
  }
  for (const one of found) if (!isOurs(one)) remove(join(binaries, one.api, one.system, one.processor));
}

function npmFailed({ ended, exitCode, error, output }: ProcessResult): TalariaError {
  const how = error ?? (ended === 'exit' ? `exit ${exitCode}` : ended);
  const said = output.text
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/i, '').trim())
    .find((line) => line !== '' && !/^(code|errno|syscall|path|command) /.test(line));
  return new TalariaError(
    `npm could not install the engine for local models (${how})${said ? `: ${redactSecrets(said)}` : ''}`,
    {
      code: 'engine-install-failed',
      retryable: true,
      fix: 'Check that npm is installed and can reach its registry, then run it again.',
    },
  );
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
