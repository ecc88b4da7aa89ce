// Owns what the editor offers while a line is typed: commands after a slash, their next word, files. Knows no command's work.
import { type AutocompleteItem, CombinedAutocompleteProvider, type SlashCommand } from '@earendil-works/pi-tui';
import { chatAlias, chatName } from '../command-words.ts';
import type { ChatControl } from './chat-control.ts';

const SESSIONS_OFFERED = 20;

export async function createCompletions(chat: ChatControl): Promise<CombinedAutocompleteProvider> {
  const commands = await chat.commands();
  const offered = new Map(
    commands.flatMap(({ name, summary }) =>
      [chatName(name), chatAlias(name) ?? chatName(name)].map((word) => [word, summary]),
    ),
  );
  const seconds = new Map<string, AutocompleteItem[]>();
  for (const { name, summary } of commands) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) listOf(seconds, first).push({ value: second, label: second, description: summary });
  }
  const slash = [...offered].map(([name, description]): SlashCommand => {
    const next = async (typed: string) => {
      const known = seconds.get(name) ?? [];
      const words = [...known, ...(await argumentsOf(chat, name))];
      const fitting = words.filter((word) => word.value.startsWith(typed));
      return fitting.length > 0 ? fitting : null;
    };
    return { name, description, getArgumentCompletions: next };
  });
  return asTyped(new CombinedAutocompleteProvider(slash, chat.app.environment.cwd));
}

/** Who types faster than the list follows has a line that is ahead of it: then the line counts. */
function asTyped(provider: CombinedAutocompleteProvider): CombinedAutocompleteProvider {
  const apply = provider.applyCompletion.bind(provider);
  provider.applyCompletion = (...[lines, cursorLine, cursorCol, item, prefix]) => {
    const typed = (lines[cursorLine] ?? '').slice(0, cursorCol);
    const isAhead = prefix.startsWith('/') && typed.startsWith('/') && typed !== prefix;
    if (!isAhead) return apply(lines, cursorLine, cursorCol, item, prefix);
    if (!`/${item.value}`.startsWith(typed)) return { lines, cursorLine, cursorCol };
    return apply(lines, cursorLine, cursorCol, item, typed);
  };
  return provider;
}

function listOf<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

async function argumentsOf(chat: ChatControl, name: string): Promise<readonly AutocompleteItem[]> {
  if (name === 'model')
    return chat.app.models().map(({ id, reason }) => ({ value: id, label: id, description: reason }));
  if (name === 'help') return (await chat.commands()).map(({ name: value }) => ({ value, label: value }));
  if (name !== 'resume') return [];
  const { app } = chat;
  const sessions = await app.store.list({ limit: SESSIONS_OFFERED, cwd: app.environment.cwd });
  return sessions
    .filter(({ id, messageCount }) => id !== chat.conversation?.session.id && messageCount > 0)
    .map(({ id, title }) => ({ value: id, label: id, ...(title === undefined ? {} : { description: title }) }));
}
