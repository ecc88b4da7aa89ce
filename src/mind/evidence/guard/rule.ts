// Owns what a rule is and how a table of rows is read. Knows no file. Invariant: every gap in a pattern is bounded and no rule runs on a
// text that lacks its words, so a scan is linear in its text.
import type { Capability, Severity } from './finding.ts';

/** `any`: wherever it stands; `code`: in fences and program files; `words`: in prose, comments and headers; `comment`: in HTML comments. */
export type RulePlace = 'any' | 'code' | 'words' | 'comment';

export interface Rule {
  /** `capability/name`. */
  readonly id: string;
  readonly capability: Capability;
  readonly severity: Severity;
  readonly place: RulePlace;
  /** Of which one must be in the text; `*`: tried on every text, `*not-latin`: on every text with other letters. */
  readonly words: readonly string[];
  /** Over folded text, hosts marked. Where there are several, all must match in one sentence. */
  readonly patterns: readonly [RegExp, ...RegExp[]];
  /** A line that matches this is let go. */
  readonly unless?: RegExp;
  /** Where the skill's name or description matches, it is its trade and counts a step less. */
  readonly trade?: RegExp;
}

/** Kinds of hosts in patterns; see `markHosts`. `subject` is the skill's own site. */
export const BAD = '«(?:address|paste|shortener|tunnel|collector|odd)»';
export const FAR = '«(?:address|paste|shortener|tunnel|collector|odd|free|unknown)»';
export const FETCH =
  '(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch|aria2c|start-bitstransfer|certutil|bitsadmin|urlopen|urlretrieve|requests\\.get|httpx\\.get|axios\\.get|downloadstring|downloadfile|lwp-download)';
export const SHELL = '(?:/\\S{0,20}/)?(?:env )?(?:ba|z|da|k|fi|a)?sh\\b';
export const RUNNER = `(?:sudo (?:-\\w{1,3} )?)?(?:${SHELL}|python[23]?\\b|node\\b|perl\\b|ruby\\b|php\\b|iex\\b|invoke-expression\\b|pwsh\\b|powershell\\b|osascript\\b|source /dev/stdin)`;
/** Files and stores that hold secrets of more than the skill's own. */
export const STORE =
  '(?:\\.ssh/(?!config\\b|known_hosts|authorized_keys|[\\w-]{1,30}\\.pub)[\\w.*-]{0,30}|\\.ssh(?=[\\s"\'\x60);,\\]]|$)|\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b(?!\\.pub)|\\.aws/(?:credentials|config)|\\.aws(?=[\\s"\'\x60);,]|$)|\\.netrc|\\.pgpass|\\.git-credentials|/etc/(?:shadow|master\\.passwd)|\\.kube(?:/config|(?=["\'\x60,]))|\\.docker/config\\.json|\\.config/(?:gcloud|gh\\b|hub)|\\.gnupg|application_default_credentials|\\.npmrc|\\.pypirc|login data|logins\\.json|key4\\.db|cookies\\.(?:sqlite|binarycookies)|wallet\\.dat|\\.(?:bitcoin|ethereum|electrum|solana|exodus|monero)\\b|solana/id\\.json|exodus\\.wallet|ledger live/|metamask|keychain-db|login\\.keychain|library/keychains|\\.password-store|\\.kdbx\\b|/proc/(?:self|\\d{1,6}|\\*)/environ|chrome[/\\\\]{1,4}(?:default|user data)|firefox/profiles|tdata|(?:zsh|bash|python|psql|mysql)_history|\\.(?:openclaw|clawdbot|moltbot|talaria|hermes|claude|codex)/(?:\\.env|auth\\S{0,20}\\.json|\\.?credentials\\S{0,8}))';
/** The words of `STORE`, of which one must be there. */
export const STORE_WORDS =
  'ssh,id_rsa,id_ed25519,id_ecdsa,id_dsa,aws,netrc,pgpass,credentials,shadow,passwd,kube,docker,gcloud,gh,hub,gnupg,application_default_credentials,npmrc,pypirc,login,logins,key4,cookies,wallet,bitcoin,ethereum,electrum,solana,exodus,monero,ledger,metamask,keychain,keychains,password,kdbx,environ,chrome,firefox,tdata,zsh_history,bash_history,openclaw,clawdbot,moltbot,talaria,hermes,claude,codex,env';
/** What programs and commands send with. */
export const NET =
  '(?:urlopen|urllib|requests\\.(?:post|put|get|request)|httpx|aiohttp|http\\.client|\\bfetch\\(|axios|xmlhttprequest|sendbeacon|https?(?:["\']\\))?\\.(?:post|request|get)|net::http|\\bcurl\\b|\\bwget\\b|invoke-(?:webrequest|restmethod)|\\biwr\\b|webclient|sendto\\(|sendall\\(|websocket|smtplib|nodemailer|net\\.(?:dial|connect|createconnection)|\\bscp |\\brsync |\\bnc |\\bncat\\b|/dev/tcp|socket\\.)';

/**
 * One rule a line: `name severity place words pattern`, then ` && pattern` for what must stand in the same sentence, ` !! unless` and
 * ` ~~ trade` where a rule has them; words are separated by commas. Patterns are Unicode and see folded text, so they are written in lower case; a backtick is written \x60.
 */
export function rules(
  capability: Capability,
): (strings: TemplateStringsArray, ...parts: readonly string[]) => readonly Rule[] {
  return (strings, ...parts) =>
    String.raw(strings, ...parts)
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => readRule(capability, line.trim()));
}

const ROW = /^(\S+) +(critical|high|medium) +(any|code|words|comment) +(\S+) +(.+)$/;

function readRule(capability: Capability, line: string): Rule {
  const [, name, severity, place, words, rest] = ROW.exec(line) ?? [];
  if (name === undefined || words === undefined || rest === undefined) throw new Error(`no rule: ${line.slice(0, 60)}`);
  const [head = '', trade] = rest.split(' ~~ ');
  const [idea = '', unless] = head.split(' !! ');
  const [first = '', ...more] = idea.split(' && ').map((source) => source.trim());
  return {
    id: `${capability}/${name}`,
    capability,
    severity: severity as Severity,
    place: place as RulePlace,
    words: words.split(','),
    patterns: [new RegExp(first, 'gu'), ...more.map((source) => new RegExp(source, 'u'))],
    ...(unless === undefined ? {} : { unless: new RegExp(unless.trim(), 'u') }),
    ...(trade === undefined ? {} : { trade: new RegExp(trade.trim(), 'u') }),
  };
}
