// Owns `peers doctor`: every check in order, one line each, with what to do. Knows no check of the transport. Invariant: what cannot be
// opened is itself a finding; leaves with 1 when any check failed.
import { z } from 'zod';
import { type Failure, failed } from '#core/agent/command-failure.ts';
import { type AnyCommand, type CommandContext, type CommandOutput, defineCommand } from '#core/agent/command-spec.ts';
import { PROVIDER_NAME, readAccount, SIGN_IN } from '../hive-account.ts';
import type { HiveGround } from '../hive-ground.ts';
import { PeerError } from '../peers/peer-error.ts';
import type { TransportReport } from '../peers/peer-transport.ts';
import { shownLine } from './with-peers.ts';

type Check = TransportReport['checks'][number];

export function doctorCommand(ground: HiveGround): AnyCommand {
  return defineCommand({
    name: 'peers doctor',
    summary: 'Check sign-in, server and encryption of the peer network, and say what to do',
    surfaces: ['cli', 'chat'],
    input: z.object({}),
    examples: ['talaria peers doctor'],
    async *run(_input, context) {
      const checks: Check[] = [];
      for await (const check of checksOf(ground, context)) {
        checks.push(check);
        yield* printed(check);
      }
      yield { type: 'data', value: checks.map((check) => ({ ...check })) };
      const failure = failureOf(checks);
      if (failure) yield failure;
      else yield { type: 'line', text: 'Next: `talaria peers list` shows whom you know.' };
    },
  });
}

async function* checksOf(ground: HiveGround, { signal }: CommandContext): AsyncGenerator<Check> {
  const settings = await ground.settings();
  yield providerCheck(settings.provider);
  const account = readAccount(settings);
  if (!account.ok) {
    yield { ok: false, name: 'settings', detail: account.detail, fix: SIGN_IN };
    return;
  }
  const { userId, homeserver } = account.value;
  yield { ok: true, name: 'settings', detail: `${userId} at ${homeserver}` };
  yield* transportChecks(ground, signal);
}

function providerCheck(provider: string): Check {
  if (provider === PROVIDER_NAME) return { ok: true, name: 'provider', detail: `memory.provider is ${PROVIDER_NAME}` };
  const detail = provider === '' ? 'memory.provider is not set' : `memory.provider is ${provider}`;
  const fix = `The agent does not see its peers: talaria config set memory.provider ${PROVIDER_NAME}`;
  return { ok: false, name: 'provider', detail, fix };
}

async function* transportChecks(ground: HiveGround, signal: AbortSignal): AsyncGenerator<Check> {
  try {
    const { openPeers } = await import('../open-hive.ts');
    const problems: string[] = [];
    const opened = await openPeers(ground, (problem) => void problems.push(problem));
    if (!opened.ok) return;
    try {
      yield* (await opened.value.transport.examine(signal)).checks;
      for (const detail of problems) yield { ok: false, name: 'notice', detail };
    } finally {
      await opened.value.transport.close();
    }
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    yield { ok: false, name: 'connection', detail: error.message, ...(error.fix ? { fix: error.fix } : {}) };
  }
}

function printed({ ok, name, detail, fix }: Check): readonly CommandOutput[] {
  const head = {
    type: 'line',
    text: `${ok ? 'ok  ' : 'fail'}  ${shownLine(name, 60)}: ${shownLine(detail, 400)}`,
  } as const;
  return fix === undefined ? [head] : [head, { type: 'line', text: `      ${shownLine(fix, 400)}` }];
}

function failureOf(checks: readonly Check[]): Failure | undefined {
  const broken = checks.filter(({ ok }) => !ok).map(({ name }) => shownLine(name, 60));
  if (broken.length === 0) return undefined;
  return failed('peers-unhealthy', `${broken.length} of ${checks.length} checks failed: ${broken.join(', ')}.`);
}
