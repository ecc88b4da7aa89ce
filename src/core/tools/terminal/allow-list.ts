// Owns the approvals that the owner gave before: for this session or for always. Knows no command; a key says exactly what it allows.
// Invariant: a key is one key, whatever stands in it; nothing on the hard list has one.
import type { AllowList } from '#core/agent/turn/permit-call.ts';

export interface AllowListOptions {
  /** Keys that were allowed for always, from the configuration. */
  readonly always?: readonly string[];
  /**
   * Makes a change of the `always` keys durable, made to the list as it is kept now: another process may have changed it. A rejection
   * reaches the caller; a new key then holds for the session, one that was taken back is gone for the session.
   */
  readonly persist?: (edit: (keys: readonly string[]) => readonly string[]) => void | Promise<void>;
}

export interface GivenApproval {
  readonly key: string;
  readonly scope: 'session' | 'always';
}

export interface RememberedApprovals extends AllowList {
  /** Those that outlive the session first, each part sorted. */
  list(): readonly GivenApproval[];
  /** From now on it is asked again. False: there is no such key. */
  revoke(key: string): Promise<boolean>;
}

export function createAllowList(options: AllowListOptions = {}): RememberedApprovals {
  const always = new Set(options.always ?? []);
  const session = new Set<string>();
  const sorted = (keys: Iterable<string>, scope: GivenApproval['scope']) =>
    [...keys].sort().map((key) => ({ key, scope }));
  return {
    has: (key) => key !== '' && (always.has(key) || session.has(key)),
    async add(key, scope) {
      if (key === '') return;
      session.add(key);
      if (scope === 'session') return;
      await options.persist?.((kept) => [...new Set([...kept, key])].sort());
      always.add(key);
    },
    list: () => [...sorted(always, 'always'), ...sorted(session.difference(always), 'session')],
    async revoke(key) {
      const [wasSession, wasAlways] = [session.delete(key), always.delete(key)];
      if (wasAlways) await options.persist?.((kept) => kept.filter((other) => other !== key));
      return wasSession || wasAlways;
    },
  };
}
