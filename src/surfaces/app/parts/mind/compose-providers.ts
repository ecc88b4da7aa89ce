// Owns the external memory provider of one app, when `memory.provider` names one: beside the files, never instead of them.
// Knows no provider. Invariant: a provider that cannot be used is a notice, and the files alone are used.
import type { Clock } from '#base/clock.ts';
import type { ForegroundGate } from '#mind/evidence/gate/foreground-gate.ts';
import { chooseProvider, composeProviders, type MemoryProviders } from '#mind/learning/provider/compose-providers.ts';
import { createFilesProvider } from '#mind/memory/files-provider.ts';
import type { MemoryProvider } from '#mind/memory/memory-provider.ts';
import { EXTENSIONS } from '../../extensions.ts';
import type { ExtensionGround } from '../../host/extension-ground.ts';
import type { ComposedMind } from './compose-mind.ts';

export interface ProviderGround {
  /** What is installed. */
  readonly known: readonly MemoryProvider[];
  /** `memory.provider` */
  readonly name: string;
  readonly mind: ComposedMind;
  readonly clock: Clock;
  readonly notice: (text: string) => void;
  readonly gate: ForegroundGate;
}

/** Of the extensions, the one that is named; no other is loaded. */
export async function providersOf(name: string, ground: ExtensionGround): Promise<readonly MemoryProvider[]> {
  const brought = EXTENSIONS.flatMap(({ provider }) => (provider?.name === name ? [provider] : []));
  return Promise.all(brought.map((provider) => provider.open(ground)));
}

/** Undefined: the files alone. */
export function openProviders({ known, name, mind, clock, notice, gate }: ProviderGround): MemoryProviders | undefined {
  const lines = EXTENSIONS.flatMap(({ provider }) => provider?.name ?? []);
  const installed = new Set([...known.map((provider) => provider.name), ...lines]);
  const chosen = chooseProvider(known, name, [...installed]);
  if (!chosen.ok) notice(chosen.detail);
  const external = chosen.ok ? chosen.value : undefined;
  if (!external) return undefined;
  // The files' own block is read anew whenever a prompt is built; here they only bring their tool.
  const files = { ...createFilesProvider(mind.memory, undefined, gate), promptBlock: () => '' };
  const messagesOf = async (sessionId: string) =>
    (await mind.store.messages(sessionId)).map((stored) => stored.message);
  return composeProviders(files, { external, clock, warn: notice, messagesOf });
}
