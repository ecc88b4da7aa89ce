// Owns the marking of addresses in a folded line: every URL gets the kind of its host put before it (`«collector»https://…`),
// so that rules can speak of kinds. Looks nothing up. Invariant: a line without an address comes back unchanged.
import { type HostKind, hostKind, siteLabel } from './hosts.ts';

const URL_START = /\b((?:https?|ftps?|wss?|tcp|udp|ldaps?):\/\/)([^\s/"'`<>)\],;|\\]{1,200})/g;
const SENDING =
  /\b(?:curl|wget|iwr|irm|invoke-\w+|nc|ncat|netcat|ssh|scp|sftp|rsync|telnet|dig|nslookup|post|send|sends|sending|upload|submit|forward|report|socket|connect|webhook|endpoint|tunnel|server|host|download|visit|open)\b/;
const BARE_HOST =
  /(?<![\w@./:»${}-])((?:[a-z0-9_-]{1,63}\.){1,5}(?:com|net|org|io|dev|app|co|ai|sh|me|xyz|top|site|online|live|info|biz|ru|su|cn|de|fr|uk|eu|us|nl|pl|it|es|br|in|jp|kr|tk|ml|ga|cf|gq|cc|pw|click|icu|club|space|fun|store|shop|tech|cloud|link|ws|to|tv|gg|pro|work|world|zip|mov|example|test|onion|invalid|icu|cyou|sbs|rest|host|website|press))(?=(?::\d{2,5})?(?:\/|\s|["'`|)>,;]|$))|(?<![\w.»/-])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.-])/g;
/** Whether a site is the skill's own subject: its label is spoken of in the skill apart from addresses. */
export type IsSubject = (label: string) => boolean;

export function markHosts(folded: string, isSubject: IsSubject): string {
  const marked = folded.includes('://')
    ? folded.replace(
        URL_START,
        (_whole, scheme: string, host: string) => `«${kindFor(host, isSubject)}»${scheme}${host}`,
      )
    : folded;
  return folded.includes('.') && SENDING.test(folded)
    ? marked.replace(BARE_HOST, (host) => bare(host, isSubject))
    : marked;
}

/** `setup.sh` is a file before it is a host. */
const FILE_LIKE = /^[^.]+\.(?:sh|zip|mov|app|pl|rs|py|md)$/;

function bare(host: string, isSubject: IsSubject): string {
  if (FILE_LIKE.test(host)) return host;
  const kind = kindFor(host, isSubject);
  return kind === 'known' || kind === 'local' || kind === 'example' ? host : `«${kind}»${host}`;
}

function kindFor(host: string, isSubject: IsSubject): HostKind | 'subject' {
  const kind = hostKind(host);
  if (kind !== 'unknown') return kind;
  const label = siteLabel(host);
  return label.length > 2 && label !== 'example' && isSubject(label) ? 'subject' : kind;
}
