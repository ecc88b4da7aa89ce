/** A home whose commands of the link are typed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { room } from '#fleet/styx/room.ts';
import { createStage, groundOf, runSpec } from '../../surfaces/app/app-fixture.ts';

export function homeOf(t: TestContext) {
  const { root, cwd, environment } = createStage(t);
  const ground = groundOf(t, { environment });
  const run = async (word: string, input: object = {}, context: object = {}) => {
    const command = (await room.commands?.(ground))?.find(({ name }) => name === `styx ${word}`);
    if (command === undefined) throw new Error(`no command ${word}`);
    return runSpec(command, input, { cwd, ...context });
  };
  return { root, run, config: () => readFileSync(join(root, 'config.yaml'), 'utf8') };
}
