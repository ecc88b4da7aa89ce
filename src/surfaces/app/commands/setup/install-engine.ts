// Owns installing the local engine into the home: pinned, trimmed to the one platform package that runs here (design 10).
// Knows no model. Invariant: an engine folder with its mark is whole; without it the next install starts over.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, TalariaError } from '#base/errors.ts';
import { ownPath, SYSTEM_PATH } from '#base/paths/find-on-path.ts';
import { runProcess } from '#base/process.ts';
import type { Hardware } from '../../home/hardware.ts';
import { ENGINE_VERSION } from '../../models/local-models.ts';

const PLATFORMS: Readonly<Record<string, string>> = {
  'linux x64': 'linux-x64',
  'linux arm64': 'linux-arm64',
  'darwin arm64': 'mac-arm64-metal',
  'darwin x64': 'mac-x64',
};

export interface EngineInstall {
  /** Holds the engine's node_modules afterwards. */
  readonly folder: string;
  readonly hardware: Hardware;
  /** Environment for npm, without keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onOutput: (chunk: string) => void;
}

/** Does nothing when it is there already. Throws TalariaError `engine-unsupported` or `engine-install-failed`. */
export async function installEngine(install: EngineInstall, signal: AbortSignal): Promise<void> {
  const platform = PLATFORMS[`${install.hardware.platform} ${install.hardware.arch}`];
  if (!platform) {
    throw new TalariaError(`the local engine has no binary for ${install.hardware.platform} ${install.hardware.arch}`, {
      code: 'engine-unsupported',
      fix: 'Use a server such as Ollama: talaria finds it by itself.',
    });
  }
  const { folder } = install;
  const mark = join(folder, `.complete-${ENGINE_VERSION}-${platform}`);
  if (existsSync(mark)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'package.json'), packageText(platform), { mode: 0o600 });
  // Its other optional packages are graphics-card builds of several hundred MB; its install script would compile.
  const flags = [
    '--omit=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--loglevel=error',
  ];
  const done = await runProcess(
    {
      argv: ['npm', 'install', ...flags],
      cwd: folder,
      env: { ...install.env, PATH: ownPath(install.env.PATH ?? SYSTEM_PATH) },
      onOutput: install.onOutput,
      limits: { timeoutMs: 900_000 },
    },
    signal,
  );
  if (done.ended !== 'exit' || done.exitCode !== 0) {
    throw new TalariaError(
      `npm could not install the local engine: ${done.error ?? (done.ended === 'exit' ? `exit ${done.exitCode}` : done.ended)}`,
      {
        code: 'engine-install-failed',
        fix: 'Check that npm is installed and can reach its registry, then run it again.',
      },
    );
  }
  markComplete(mark);
}

function packageText(platform: string): string {
  const dependencies = { 'node-llama-cpp': ENGINE_VERSION, [`@node-llama-cpp/${platform}`]: ENGINE_VERSION };
  return `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`;
}

function markComplete(mark: string): void {
  try {
    writeFileSync(mark, '', { mode: 0o600 });
  } catch (error) {
    throw new TalariaError(`cannot write ${mark}: ${errorText(error)}`, {
      code: 'engine-install-failed',
      cause: error,
    });
  }
}
