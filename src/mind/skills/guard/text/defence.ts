// Owns the telling apart of an attack from talk about attacks: warnings, quotations, lists of what to look for, bad examples.
// Knows no rule. Invariant: it only ever lowers a finding by its caller's hand; each pattern looks at one line or one sentence.

const TALK =
  "\\b(?:(?<!(?:account|auto|automatic|browser|device|environment|format|framework|host|key|language|login|os|platform|profile|project|provider|stack|tool|type|user|version|wallet)[ -])detect\\w{0,5}|attack\\w{0,5}|threats?|malicious|malware|red[- ]flags?|anti-?patterns?|vulnerab\\w{1,8}|unsafe|insecure|forbidden|prohibited|disallowed|blocked|block list|denylist|blacklist|deny|never|injection (?:patterns?|examples?|attempts?|attacks?)|indicators? of|exploit\\w{0,6}|suspicious|dangerous|risky|harmful|social engineering|exfiltration|bad (?:examples?|practices?)|what (?:to|we) (?:look|scan|check) for|(?:examples?|signs|phrases|patterns) (?:to|you) (?:recogni[sz]e|spot|know|watch|should)|recogni[sz]e|mistakes? for|intruders?|honeypots?|phrases that don'?t|things to avoid|avoid\\b|do not (?:do|use|run|follow|write|trust|execute)|don'?ts?\\b|obfuscat\\w{0,6}|adversarial|jailbreaks?|red[- ]team\\w{0,4}|pentest\\w{0,4}|rationali[sz]ations?|incorrect)|❌|🚫|✗|✘|⛔|检测|攻击|恶意|危险|禁止|不要|避免|漏洞|攻撃|検出|禁止|опасн|запрещ|злонамерен|вредоносн";
const HEADING = new RegExp(TALK, 'u');
const BAD_EXAMPLE =
  /(?:^|[\s#/*;-])(?:bad|wrong|vulnerable|unsafe|insecure|malicious|attack|anti-?pattern|never do (?:this|that)|don'?t do (?:this|that)|do not do (?:this|that)|dangerous|incorrect|not recommended)\b|❌|✗|✘|🚫|⛔|错误|危险|悪い例/u;

/** A heading or a line that leads over to a list or a fence. */
export function leadsToExamples(folded: string): boolean {
  return HEADING.test(folded);
}

/** A comment that calls the code below it bad. */
export function marksBadExample(folded: string): boolean {
  return /^\s*(?:#|\/\/|--|;|\/\*|<!--|\*|rem\b)/.test(folded) && BAD_EXAMPLE.test(folded);
}

const NEGATION =
  /(?:\b(?:never|do not|don'?t|doesn'?t|does not|must not|mustn'?t|should not|shouldn'?t|refuse|refuses|(?<!to )avoid|avoids|avoiding|reject|rejects|prevents?|preventing|blocks?|blocked|blocking|detects?|detecting|detection of|flags?|flagged|flagging|forbids?|prohibits?|disallow|beware of|watch(?:ing)? for|look(?:s|ing)? for|scan(?:s|ning)? for|check(?:s|ing)? for|search(?:es|ing)? for|such as|e\.g\.?|for example|for instance|instead of|rather than|like|attacks?|attackers?|adversar\w{1,6}|malicious|malware|suspicious|red flags?|vulnerab\w{1,8}|exploits?|injection|payloads?|anti-?pattern|dangerous|unsafe|insecure|risky?|warn(?:ing)? (?:about|against|if|when)|protects? against|guard(?:s)? against|defen[ds]\w{1,4}|mitigat\w{1,5}|if (?:you (?:see|find|spot)|a skill|any|(?:an?|the|some) (?:e-?mail|page|document|web ?page|file|message|issue|user|text|comment) (?:says?|asks?|tells?|wants?|tries)))\b|[❌🚫✗✘⛔]|不要|禁止|避免|切勿|绝不|检测|例如|しないで|禁止|не\s|нельзя|никогда)[^.!?。！？]{0,160}$/u;
const URGING =
  /\b(?:never|do not|don'?t|must not|should not|cannot|can'?t)(?: ever)? (?:skip|forget|fail|omit|miss|hesitate|worry|ignore|wait|proceed|continue|use (?:this|the) skill|start|begin|run (?:this|the) skill|work|function|leave out|interrupt|stop|be alarmed|panic|close)\b/;

/** People who are not held up are no warning. */
const BLOCKS_NOBODY = /\b(?:nobody|no one|not|never)\b(?: \w+){0,3} blocked\b/g;

/** Whether what stands before the match, in the same sentence, takes it back or speaks of it as of a danger. */
export function takenBack(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 200), at);
  const sentence = before.slice(before.search(/[^.!?;。！？]*$/)).replace(BLOCKS_NOBODY, '');
  return NEGATION.test(sentence) && !URGING.test(sentence);
}

const ABOUT =
  /\b(?:detect\w{0,5}|attack\w{0,5}|threats?|malicious|malware|red[- ]flags?|anti-?patterns?|vulnerab\w{1,8}|unsafe|insecure|forbidden|prohibited|blocked|injection|exploit\w{0,6}|suspicious|dangerous|risky|harmful|social engineering|exfiltration|jailbreaks?|adversarial|obfuscat\w{0,6}|critical|severity|risks?|patterns?|flag(?:s|ged)?|reject|refuse|untrusted|hijack\w{0,3}|signature|evil|attempts?|refus\w{1,4}|intruders?|expectation|defen[cs]e|decline[sd]?)\b|❌|🚫|✗|检测|攻击|恶意|危险|漏洞|攻撃|検出|опасн|вредоносн/u;

/** Somebody else's words: `if a page says "…"`. */
const REPORTED =
  /\b(?:asks?|asking|says?|saying|tells?|telling|types?|phrases?|contains?|containing|reads|prompts? like|texts? like|strings? like|messages? like|claims?|something like|lines? like)\b[^"]{0,60}"[^"]{0,60}$/;

/** The same in languages that report after the quotation. */
const REPORTED_AFTER = /(?:などと|と書かれ|という(?:文|指示|記述)|之类的|等(?:字样|内容)|라는|라고 (?:적|쓰))/u;

/** Whether the match is quoted (quotes, backticks, a table cell) in a text that speaks of attacks or patterns. */
export function quotedInTalk(text: string, at: number, end: number): boolean {
  const quoted = isQuoted(text, at, end);
  if (
    quoted &&
    (REPORTED.test(text.slice(Math.max(0, at - 100), at)) || REPORTED_AFTER.test(text.slice(end, end + 80)))
  )
    return true;
  if (!quoted && !/^\s*\|/.test(text)) return false;
  return ABOUT.test(text.replace(/«\S{1,300}/g, ' '));
}

function isQuoted(text: string, at: number, end: number): boolean {
  const open = text.lastIndexOf('「', at);
  if (open >= 0 && at - open < 80 && text.indexOf('」', open) >= end) return true;
  for (const mark of ['"', '`', "'"]) {
    const open = text.lastIndexOf(mark, at);
    if (open < 0 || at - open > 80) continue;
    const close = text.indexOf(mark, Math.max(end - 1, at + 1));
    if (close >= 0 && close - end < 200 && oddMarksBefore(text, mark, at + 1)) return true;
  }
  return false;
}

function oddMarksBefore(text: string, mark: string, to: number): boolean {
  let count = 0;
  for (let at = text.indexOf(mark); at >= 0 && at < to; at = text.indexOf(mark, at + 1)) count += 1;
  return count % 2 === 1;
}

/** A line of a scanner: it holds a pattern to look for, not the thing. */
export function isPatternLine(line: string): boolean {
  const text = line.replace(BLOCKS_NOBODY, '');
  if (
    /\b(?:re\.(?:compile|search|match|findall)|regexp?|new regexp|preg_match|pattern|patterns|signature|yara|rule|rules|blocked|deny|denied|blocklist|detect)\b/.test(
      text,
    )
  )
    return (
      /\\[sbwd.]|\.\*|\.\+|\[\^|\(\?:|["'`/]\^|\\\|/.test(text) || /pattern|blocked|deny|blocklist|regexp?/.test(text)
    );
  return /^\s*[([{,]?\s*\(?r?["'`/].{0,120}(?:\\[sbwd]|\.\*|\(\?:)/.test(text);
}

const SECURITY_TRADE =
  /\b(?:security|secure|secops|infosec|appsec|devsecops|pen-?test\w{0,6}|penetration|red[- ]?team\w{0,4}|blue[- ]?team|ctf|capture the flag|forensics?|malware|threat|vulnerabilit\w{1,4}|exploit\w{0,6}|hack\w{0,5}|bug bounty|osint|reverse engineer\w{0,4}|incident response|(?:security|code|smart contract|dependency|permission|skill|access) audit\w{0,4}|guard(?:s|rails?)?\b|scanner|vett(?:ing|er)|sandbox|hardening|injection|jailbreak|siem|soc\b|yara|privilege|kerberos|active directory|payloads?|incident triage|defenders?|intru(?:ders?|sion)|honeypots?|canary tokens?|infected|detection|untrusted|zip slip|traversal|leaked|unsafe|defen[cs]es?)\b|安全|渗透|漏洞/;

/** Whether the skill's own words say that security is its trade; `header` is its name and description. */
export function isSecurityTrade(header: string): boolean {
  return SECURITY_TRADE.test(header);
}
