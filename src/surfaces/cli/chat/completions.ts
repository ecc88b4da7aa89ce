// Owns what the editor offers while a line is typed: commands after a slash, their next word, files after `@`. Knows no command's work.
// Invariant: no program is needed for it; a file that ignore rules hide, or that holds secrets, is not offered.
import { dirname } from 'node:path';
import {
  type AutocompleteItem,
  type AutocompleteProvider,
  CombinedAutocompleteProvider,
  type SlashCommand,
} from '@earendil-works/pi-tui';
import { isAborted } from '#base/abort.ts';
import { fullPath, realPath, secretTest } from '#core/tools/files/file-access.ts';
import { walkFolder } from '#core/tools/files/walk-folder.ts';
import { chatAlias, chatName } from '../mount-command.ts';
import type { ChatControl } from './session-commands.ts';
import { type LinePlace, linePlace } from './typed-line.ts';

const SESSIONS_OFFERED = 20;

export async function createCompletions(chat: ChatControl): Promise<AutocompleteProvider> {
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
  return withFiles(asTyped(new CombinedAutocompleteProvider(slash, chat.app.environment.cwd)), linePlace(chat.app));
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

/** The path behind the last `@`, with the quote that opens it. */
const AT_WORD = /(?:^|[\s(])(@("?)((?<=")[^"]*|[^\s"]*))$/;

/** Its own search for files needs a program that is seldom there. */
function withFiles(inner: CombinedAutocompleteProvider, place: LinePlace): AutocompleteProvider {
  return {
    applyCompletion: (...given) => inner.applyCompletion(...given),
    shouldTriggerFileCompletion: (...given) => inner.shouldTriggerFileCompletion(...given),
    getSuggestions: async (lines, line, column, options) => {
      const [, prefix, , typed = ''] = AT_WORD.exec((lines[line] ?? '').slice(0, column)) ?? [];
      if (prefix === undefined) return inner.getSuggestions(lines, line, column, options);
      const paths = await filesLike(typed, place, options.signal);
      return paths.length === 0 ? null : { prefix, items: paths.map(fileItem) };
    },
  };
}

function fileItem(path: string): AutocompleteItem {
  return { value: /[\s"]/.test(path) ? `@"${path}"` : `@${path}`, label: path };
}

const FILES_OFFERED = 50;
/** Files that are looked at for one list: a huge tree must not hold up a key. */
const FILES_SEEN = 20_000;

/** Files and folders at or below the folder of what was typed, those that begin with its name first; of a bare folder what lies in it. */
async function filesLike(typed: string, place: LinePlace, signal: AbortSignal): Promise<readonly string[]> {
  const above = typed.slice(0, typed.lastIndexOf('/') + 1);
  const wanted = typed.slice(above.length).toLowerCase();
  const ranked = [...(await namesBelow(realPath(fullPath(above || '.', place.cwd, place)), place, signal))].flatMap(
    (name) => {
      const rank = rankOf(name.toLowerCase(), wanted);
      return rank === undefined ? [] : [{ name, rank }];
    },
  );
  ranked.sort((a, b) => a.rank - b.rank || depth(a.name) - depth(b.name) || (a.name < b.name ? -1 : 1));
  return ranked.slice(0, FILES_OFFERED).map(({ name }) => above + name);
}

/** With the folders on the way, which end in `/`. */
async function namesBelow(folder: string, place: LinePlace, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const isSecret = secretTest(place.cwd, place);
  const names = new Set<string>();
  let seen = 0;
  try {
    for await (const { name, path } of walkFolder(folder, {}, signal)) {
      for (let at = dirname(name); at !== '.' && !names.has(`${at}/`); at = dirname(at)) names.add(`${at}/`);
      if (!isSecret(path)) names.add(name);
      seen += 1;
      if (seen === FILES_SEEN) break;
    }
  } catch (error) {
    if (!isAborted(error)) throw error;
  }
  return names;
}

/** Lower is nearer; undefined does not fit. */
function rankOf(name: string, wanted: string): number | undefined {
  if (wanted === '') return depth(name) === 0 ? 0 : undefined;
  const own = name.slice(name.replace(/\/$/, '').lastIndexOf('/') + 1);
  if (own.startsWith(wanted)) return 0;
  if (own.includes(wanted)) return 1;
  return name.includes(wanted) ? 2 : undefined;
}

function depth(name: string): number {
  return name.replace(/\/$/, '').split('/').length - 1;
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
  const sessions = await app.doors.sessions.list({ limit: SESSIONS_OFFERED, cwd: app.environment.cwd });
  return sessions
    .filter(({ id, messageCount }) => id !== chat.conversation?.session.id && messageCount > 0)
    .map(({ id, title }) => ({ value: id, label: id, ...(title === undefined ? {} : { description: title }) }));
}
