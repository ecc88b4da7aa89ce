/** A release by a scripted model, and what a good review proposes about it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ModelRequest } from '#core/model/model-client.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import type { World } from './learning-world.ts';

const COMMANDS = ['npm ci', 'npm run build', 'npm test', 'npm version patch', 'git push --follow-tags'];
export const RELEASE = COMMANDS.map(
  (command): ScriptedStep => ({ calls: [{ name: 'terminal', arguments: { command } }] }),
);

export const SKILL = [
  '---',
  'name: release',
  'description: Release a new version',
  '---',
  '',
  '# release',
  '',
  '## When to use',
  '',
  'When the owner asks to release a new version.',
  '',
  '## Steps',
  '',
  ...COMMANDS.map((command, index) => `${index + 1}. Run \`${command}\``),
  '',
].join('\n');

/** Id of the newest listed message that the pattern fits. */
export function idOf(request: ModelRequest, pattern: RegExp): number {
  const list = request.messages
    .flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')))
    .join('\n');
  const lines = list.split('\n').filter((line) => /^#\d+ /.test(line) && pattern.test(line));
  return Number(/^#(\d+)/.exec(lines.at(-1) ?? '')?.[1]);
}

/** What a good review proposes: the skill, with each command cited. */
export function proposeSkill(request: ModelRequest): ScriptedStep {
  const cited = COMMANDS.map((command) => ({
    message_id: idOf(request, new RegExp(`assistant: .*${command}`)),
    quote: `Ran terminal. command: ${command}`,
  }));
  const owner = { message_id: idOf(request, /user: release/), quote: 'release a new version' };
  const args = { action: 'create', name: 'release', content: SKILL, evidence: [owner, ...cited] };
  return { calls: [{ name: 'skill_manage', arguments: args }] };
}

export function scripted(t: TestContext, steps: readonly ScriptedStep[]): ScriptedModel {
  return createScriptedModel(steps, { context: t });
}

export async function settle(world: World): Promise<void> {
  await world.background.settled();
  assert.deepEqual(world.background.failures, []);
}

export const reviewRequests = (model: ScriptedModel) => model.requests.filter(({ purpose }) => purpose === 'review');
