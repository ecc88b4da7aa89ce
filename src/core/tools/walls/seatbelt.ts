// Owns the walls of macOS as text: a profile for sandbox-exec. Knows no session. It is written after Apple's published profiles and its
// text is tested; no machine of ours runs it. Weaker than on Linux: no process table and no network of its own, so a command can reach
// servers on this machine's loopback, and HOME is another folder instead of another view. Invariant: the last rule that fits counts, so
// what is closed for good stands last.
import { join } from 'node:path';
import { isWithin } from '../risk/place.ts';
import { SHOWN_IN_HOME } from './places.rules.ts';
import { OTHER_SYSTEMS, SECRET_IN_HOME, SECRET_IN_SYSTEM } from './secret-places.rules.ts';

export interface SeatbeltPlaces {
  readonly userHome: string;
  readonly dataHome: string;
  readonly root: string;
  /** The session's own folder: home and temporary files. */
  readonly own: string;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  /** What steers, in the folder. */
  readonly fixed: readonly string[];
  /** Single files that are hidden. */
  readonly secrets: readonly string[];
  /** Of the proxy; `open`: the machine's own network. */
  readonly network: number | 'open';
}

const DEVICES = '(regex #"^/dev/(null|zero|tty.*|fd/.*|random|urandom|ptmx|dtracehelper|stdout|stderr)$")';
/** Keys, the clipboard, other programs. */
const SERVICES = [
  'com.apple.SecurityServer',
  'com.apple.securityd.xpc',
  'com.apple.pasteboard.1',
  'com.apple.coreservices.appleevents',
];

export function seatbeltProfile(places: SeatbeltPlaces): string {
  const { userHome, own, network } = places;
  const shown = SHOWN_IN_HOME.filter(({ without }) => without === undefined).map(({ path }) => join(userHome, path));
  const secrets = [...SECRET_IN_HOME.map((name) => join(userHome, name)), ...SECRET_IN_SYSTEM, ...places.secrets];
  const named = [...places.writable, ...places.readable].filter((path) => secrets.some((one) => isWithin(path, one)));
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${DEVICES} ${below([...places.writable, own])})`,
    ...denied('file-write*', places.fixed),
    `(deny file-read* (regex #"^${escapeRegex(userHome)}/\\.") ${below([join(userHome, 'Library'), '/Library/Keychains'])})`,
    ...denied('file-read*', OTHER_SYSTEMS),
    `(allow file-read* ${below([...shown, own, ...places.writable, ...places.readable])})`,
    ...denied('file-read*', secrets),
    ...named.map((path) => `(allow file-read* ${below([path])})`),
    ...(network === 'open'
      ? []
      : [
          '(deny network*)',
          '(allow network-bind network-inbound (local ip "localhost:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
          `(allow network* ${places.writable
            .concat(own)
            .map((path) => `(subpath ${quoted(path)})`)
            .join(' ')})`,
        ]),
    `(deny mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
    '(deny appleevent-send)',
    '(deny signal (target others))',
    '(deny process-info* (target others))',
    `(deny file-read* file-write* ${below([places.dataHome])})`,
  ].join('\n');
}

function denied(what: string, paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`(deny ${what} ${below(paths)})`];
}

function below(paths: readonly string[]): string {
  return paths.map((path) => `(subpath ${quoted(path)})`).join(' ');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (one) => `\\${one}`)}"`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\"]/g, (one) => `\\${one}`);
}
