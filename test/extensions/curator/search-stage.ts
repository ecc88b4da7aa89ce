/** A home of temporary folders, a fake engine in it when wished, and commands of the curator run in it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { z } from 'zod';
import type { Ground, Mind } from '#core/agent/room.ts';
import { onnxEngineFolder } from '#core/model/onnx.ts';
import { curatorCommands } from '#extensions/curator/commands.ts';
import type { CommandOutput } from '#public/talaria.ts';
import { writeFakeEngine, writeFakeModel } from '../../core/model/onnx/fake-engine.ts';
import { testGround } from '../../ground.ts';

export const SKILLS = {
  'ops/gateway': 'Restart the gateway service and read its log.',
  'ops/bread': 'Bake a loaf of bread in the oven.',
  '.archive/old-gateway': 'The old gateway: restart it, then restart it again.',
};

export interface SearchStage {
  readonly root: string;
  readonly ground: Ground;
  readonly mind: Pick<Mind, 'config'>;
  /** Runs `curator <name>` with what the shell would give. */
  run(name: string, given?: Record<string, unknown>, signal?: AbortSignal): Promise<Ran>;
}

export interface Ran {
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly failure: Extract<CommandOutput, { type: 'failure' }> | undefined;
}

export interface StageOptions {
  readonly config?: Record<string, unknown>;
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

export function searchStage(t: TestContext, { config = {}, variables = {} }: StageOptions = {}): SearchStage {
  const root = mkdtempSync(join(tmpdir(), 'talaria-search-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const at = (name: string) => join(root, name);
  for (const [name, text] of Object.entries(SKILLS)) writeSkill(join(root, 'skills', name), text);
  const mind = { config: <T>(_section: string, schema: z.ZodType<T>) => schema.parse(config) };
  const places = {
    ...{ home: root, userHome: at('person'), config: at('config.yaml'), skills: at('skills'), lease: at('lease') },
    ...{ skillBackups: at('backups'), stateDatabase: at('state.db'), evidenceDatabase: at('evidence.sqlite') },
    ...{ engines: at('engines'), models: at('models') },
  };
  const ground = testGround({ places, variables, open: async () => mind });
  return { root, ground, mind, run: (name, given, signal) => runCommand(ground, { name, given, signal }) };
}

export function writeSkill(folder: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), text);
}

/** The fake engine in its place and both default models beside it. */
export function placeFakes({ places }: Ground): void {
  writeFakeEngine(onnxEngineFolder(places.engines));
  writeFakeModel(join(places.models, 'Qwen--Qwen3-Embedding-0.6B'));
  writeFakeModel(join(places.models, 'BAAI--bge-reranker-v2-m3'));
}

interface Asked {
  readonly name: string;
  readonly given?: Record<string, unknown> | undefined;
  readonly signal?: AbortSignal | undefined;
}

async function runCommand(ground: Ground, { name, given = {}, signal }: Asked): Promise<Ran> {
  const command = curatorCommands(ground).find((one) => one.name === `curator ${name}`);
  if (!command) throw new Error(`no command ${name}`);
  const context = { cwd: dirname(ground.places.skills), signal: signal ?? new AbortController().signal };
  const outputs: CommandOutput[] = [];
  const input = (command.input as z.ZodType).parse(given) as never;
  for await (const output of command.run(input, context)) outputs.push(output);
  const lines = outputs.flatMap((one) => {
    if (one.type === 'line') return [one.text];
    return one.type === 'table' ? one.rows.map((row) => row.join(' | ')) : [];
  });
  const data = (outputs.find((one) => one.type === 'data')?.value ?? {}) as Ran['data'];
  return { text: lines.join('\n'), data, failure: outputs.find((one) => one.type === 'failure') };
}
