// Owns the approvals that the owner gave before: for this session or for always. Knows no command; a key says exactly what it allows.
// Invariant: a command with several findings is allowed only when every one of them is; nothing on the hard list has a key.
import type { AllowList } from '#core/agent/turn/permit-call.ts';

export interface AllowListOptions {
  /** Keys that were allowed for always, from the configuration. */
  readonly always?: readonly string[];
  /** Makes the whole list of `always` keys durable; a rejection reaches the caller of `add`, and the key then holds for the session. */
  readonly persist?: (keys: readonly string[]) => void | Promise<void>;
}

export interface RememberedApprovals extends AllowList {
  /** Keys that outlive the session, sorted. */
  readonly always: () => readonly string[];
}

export function createAllowList(options: AllowListOptions = {}): RememberedApprovals {
  const always = new Set(options.always ?? []);
  const session = new Set<string>();
  return {
    has: (key) => splitKey(key).every((part) => always.has(part) || session.has(part)) && key !== '',
    async add(key, scope) {
      const parts = splitKey(key);
      for (const part of parts) session.add(part);
      if (scope === 'session') return;
      const next = [...new Set([...always, ...parts])].sort();
      await options.persist?.(next);
      for (const part of parts) always.add(part);
    },
    always: () => [...always].sort(),
  };
}

/** A risk joins the keys of its findings with line breaks. */
function splitKey(key: string): readonly string[] {
  return key.split('\n').filter((part) => part !== '');
}
