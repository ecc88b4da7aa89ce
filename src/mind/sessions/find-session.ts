// Owns how a person names a session: its id, the beginning of its id, `last`, or a part of its title. Knows no command.
import { ok, type Result, refuse } from '#base/result.ts';
import type { SessionRecord, SessionStore } from '#core/agent/session-store.ts';

const LOOKED_AT = 1000;

export async function findSession(
  store: SessionStore,
  name: string,
): Promise<Result<SessionRecord, 'no-such-session' | 'ambiguous-session'>> {
  const exact = await store.get(name);
  if (exact) return ok(exact);
  const recent = await store.list({ limit: LOOKED_AT });
  if (name === 'last') {
    // A chat that was opened and left again says nothing.
    const last = recent.find(({ messageCount }) => messageCount > 0) ?? recent[0];
    return last ? ok(last) : refuse('no-such-session', 'There is no session yet.');
  }
  const wanted = name.toLowerCase();
  const byId = recent.filter((session) => session.id.startsWith(name));
  const found = byId.length > 0 ? byId : recent.filter((session) => session.title?.toLowerCase().includes(wanted));
  if (found.length > 1) {
    const names = found.slice(0, 5).map((session) => `${session.id}${session.title ? ` (${session.title})` : ''}`);
    return refuse('ambiguous-session', `${name} could be ${names.join(', ')}${found.length > 5 ? ', …' : ''}.`);
  }
  return found[0]
    ? ok(found[0])
    : refuse('no-such-session', `There is no session ${name}. \`talaria sessions list\` shows them.`);
}
