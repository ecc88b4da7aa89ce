// Owns `backup`: one file that holds the home. Knows the archive through backup/ only.
import { resolve } from 'node:path';
import { z } from 'zod';
import { localDate } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { isEmptyHome } from '../home/home.ts';
import { type CommandDeps, line } from './command-deps.ts';

export function backupCommand(deps: CommandDeps): AnyCommand {
  return defineCommand({
    name: 'backup',
    summary: 'Write the home into one file; keys stay out unless asked for',
    surfaces: ['cli'],
    positional: ['file'],
    input: z.object({
      file: z.string().optional().describe('File to write; default talaria-<date>.tar.gz in this folder'),
      withSecrets: z.boolean().default(false).describe('Take .env along'),
    }),
    examples: ['talaria backup', 'talaria backup ~/talaria.tar.gz --with-secrets'],
    async *run({ file, withSecrets }, context): AsyncGenerator<CommandOutput> {
      if (isEmptyHome(deps.home)) {
        yield failed('home-empty', `${deps.home.root} holds nothing yet.`, 'Talk to talaria first.');
        return;
      }
      const { writeBackup } = await import('../backup/write-backup.ts');
      const target = resolve(context.cwd, file ?? defaultName(deps.clock.now()));
      const report = await writeBackup(deps.home, { file: target, withSecrets }, context.signal);
      yield line(`${report.file} (${report.files.length} files, ${report.bytes} bytes)`);
      const leftOut = [...report.leftOut, ...(await providerData(deps.home.config))];
      for (const reason of leftOut) yield line(`left out: ${reason}`);
      yield { type: 'data', value: { ...report, leftOut, withSecrets } };
    },
  });
}

/** An external provider lives in the program that brings it; its paths are not known here. A config that is broken names none. */
async function providerData(path: string): Promise<readonly string[]> {
  const { loadConfig } = await import('../home/config.ts');
  const loaded = await loadConfig(path).catch((error: unknown) => {
    if (errorCode(error)?.startsWith('config-')) return undefined;
    throw error;
  });
  const name = loaded?.config.memory.provider ?? '';
  return name === '' ? [] : [`what the memory provider ${name} keeps outside the home (back it up by its own means)`];
}

function defaultName(now: number): string {
  const at = localDate(now);
  const two = (value: number) => String(value).padStart(2, '0');
  return `talaria-${at.year}-${two(at.month)}-${two(at.day)}-${two(at.hour)}${two(at.minute)}${two(at.second)}.tar.gz`;
}
