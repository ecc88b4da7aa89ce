// Owns the questions about walls: what a command wants to reach in one line, under what a yes is remembered, what a no tells. Knows no process.
// Invariant: a key names exactly one wall, and gives exactly that wall back.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, relative } from 'node:path';
import { ellipsize, oneLine } from '#base/text.ts';
import type { Reach } from '#core/agent/approver.ts';
import type { Asked, ToolContext } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import { shownPath } from '../files/file-access.ts';
import { lexScript } from '../risk/lex-script.ts';
import { isWithin, steersLater } from '../risk/place.ts';
import { NEAR, type Opening, settingLine } from '../walls/walls.ts';
import { plantedWords } from './planted-files.ts';

export function openingKey(opening: Opening): string {
  if (opening.kind === 'network') return 'reach network';
  return `reach ${opening.kind} ${opening.kind === 'host' ? opening.host : opening.path}`;
}

/** Undefined: what is allowed there is no wall. */
export function openingOf(key: string): Opening | undefined {
  const [, kind, what] = /^reach (host|read|write) (.+)$/s.exec(key) ?? [];
  if (key === 'reach network') return { kind: 'network' };
  if (what === undefined) return undefined;
  return kind === 'host' ? { kind, host: what } : { kind: kind === 'read' ? 'read' : 'write', path: what };
}

export function openingWords(opening: Opening): string {
  if (opening.kind === 'host')
    return `reach ${opening.host}${isNear(opening) ? ', an address of this machine or its network' : ''}`;
  return opening.kind === 'network' ? "use the machine's own network" : `${opening.kind} ${shownPath(opening.path)}`;
}

/** Servers that nobody outside reaches trust who does: only the owner's own yes opens them. */
function isNear(opening: Opening): boolean {
  return opening.kind === 'host' && opening.host.includes(NEAR);
}

const ONLY_YES = 'only a yes at a terminal';

/** What the owner may set, so that it is not asked again: only what is there can be opened for good. */
function settingOf(opening: Opening): string {
  if (opening.kind === 'host') return settingLine('hosts', opening.host.split(NEAR)[0] ?? '');
  if (opening.kind === 'network') return ONLY_YES;
  const place = existsSync(opening.path) ? opening.path : dirname(opening.path);
  if (place !== opening.path && isWithin(homedir(), place)) return ONLY_YES;
  return settingLine('paths', `${shownPath(place)}${opening.kind === 'read' ? ':ro' : ''}`);
}

const isSeveral = (command: string) => lexScript(command).commands.length > 1;

/** For the model: a wall is met in the middle, and what went before was done. */
export function againNote(command: string, opening: Opening): string {
  const twice = isSeveral(command) ? '; what worked before was done twice, so look before you run anything again' : '';
  return `[it ran again from its beginning, since the owner let it ${openingWords(opening)}${twice}]`;
}

export function closedNote(opening: Opening): string {
  return `[a wall kept it from this: ${openingWords(opening)}. The owner can open it: ${settingOf(opening)}]`;
}

/** What steers later runs is opened in a tainted session by a yes to this call alone, whatever was allowed before. */
export function isAskedAnew(opening: Opening, { cwd, history }: Pick<ToolContext, 'cwd' | 'history'>): boolean {
  return (
    opening.kind === 'write' && steersLater(opening.path, { workspace: cwd }) !== undefined && isTainted(history())
  );
}

/** The proxy lets nobody to servers of this machine; its own network does, so that is the owner's own answer. */
function reachOf(opening: Opening): Reach {
  return opening.kind === 'host' && !isNear(opening) ? 'network' : 'beyond';
}

const HANDED_ON = ', and could hand it to what already runs in this folder, until that ends';
const MOST_ROUNDS = 3;

/** One question at a time, and one about each wall in a call. */
export interface WallDesk {
  /** `isShared`: another command that runs in the folder can be handed what is opened. */
  mayOpen(opening: Opening, isShared?: boolean): Promise<boolean>;
  /** May these files stay, which steer what runs later? Absolute paths; a yes is to the words that were shown. */
  mayStay(paths: readonly string[]): Promise<boolean>;
  /** Refused in this call. */
  refused(): readonly Opening[];
}

type Asking = Pick<ToolContext, 'approve' | 'cwd' | 'history' | 'redact'>;

export function createWallDesk(command: string, context: Asking): WallDesk {
  const { approve } = context;
  const answers = new Map<string, { readonly opening: Opening; readonly yes: Promise<boolean>; isNo: boolean }>();
  const short = ellipsize(oneLine(command), 60);
  let last: Promise<unknown> = Promise.resolve();
  const ask = (asked: Asked): Promise<boolean> => {
    if (!approve) return Promise.resolve(false);
    const answer = last.then(async () => (await approve(asked)) !== 'deny');
    last = answer.catch(() => undefined);
    return answer;
  };
  return {
    mayOpen(opening, isShared) {
      const key = openingKey(opening);
      const known = answers.get(key);
      if (known) return known.yes;
      // A connection waits for its host, and nothing runs again.
      const isAgain = opening.kind !== 'host' && isSeveral(command);
      const yes = ask({
        reason: `${short} wants to ${openingWords(opening)}${isShared && 'path' in opening ? HANDED_ON : ''}${isAgain ? '; yes runs the whole line again from its beginning' : ''}`,
        key: isAskedAnew(opening, context) || shownPath(key) !== key ? '' : key,
        preview: command,
        reach: reachOf(opening),
      });
      const answer = { opening, yes, isNo: false };
      answers.set(key, answer);
      return yes.then((given) => {
        answer.isNo = !given;
        return given;
      });
    },
    async mayStay(paths) {
      const names = paths.map((path) => relative(context.cwd, path)).join(', ');
      let reason = `${short} made files that steer what runs later: ${names}`;
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        const { text, mark } = plantedWords(paths, context.cwd);
        const more = context.redact(text);
        if (!(await ask({ reason, key: '', preview: short, more, reach: 'beyond' }))) return false;
        if (plantedWords(paths, context.cwd).mark === mark) return true;
        reason = `what you were asked about was changed meanwhile: ${names}`;
      }
      return false;
    },
    refused: () => [...answers.values()].filter(({ isNo }) => isNo).map(({ opening }) => opening),
  };
}
