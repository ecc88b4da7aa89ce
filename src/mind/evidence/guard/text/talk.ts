// Owns the telling apart of a deed from talk about it: warnings, quotations, lists of what to look for, bad examples. By a few words and by
// form. Knows no rule. Invariant: it only lowers a finding by a step; each pattern looks at one line.

const TALK =
  /\b(?:(?:threat|attack)(?:s|ers?|ing)?(?![- ]lin)|malicious|malware|red[- ]?flags?|anti-?patterns?|vulnerab\w{1,8}|unsafe|insecure|forbidden|prohibited|never|block(?:ed|list)|deny ?list|injection|exploit\w{0,6}|suspicious|dangerous|harmful|exfiltration|bad (?:examples?|practices?)|jailbreaks?|red[- ]?team\w{0,4}|pentest\w{0,4}|detect(?:ion|s|ed|ing)?|avoid|don'?ts?|refuses?|incorrect|wrong)\b|❌|🚫|✗|✘|⛔|检测|攻击|恶意|危险|禁止|避免|漏洞|攻撃|検出|опасн|запрещ|вредоносн/u;
const NEGATION =
  /(?:(?<![./@-])\b(?:never|(?:do|does|must|should|is|are|may|can) not|(?:do|does|must|should|is|are)n'?t|refuses?|(?<!to )avoid\w{0,3}|rejects?|prevents?|blocks?|detect\w{0,3}|flags?|forbids?|beware|watch for|looks? for|scans? for|checks? for|such as|e\.g\.?|example|instead of|rather than|attack\w{0,4}|malicious|malware|suspicious|red flags?|vulnerab\w{1,8}|exploits?|injection|dangerous|unsafe|insecure|risk\w{0,2}|if (?:you (?:see|find|spot)|a skill|an?y? (?:e-?mail|page|document|file|message|issue|user|text)))\b|[❌🚫✗✘⛔]|不要|禁止|避免|切勿|検出|しないで|не\s|нельзя|nie(?:mals)?\s|kein)[^.!?。]{0,120}$/u;
const URGING =
  /\b(?:never|not|n'?t|cannot)(?: \w+){0,2} (?:skip|forget|fail|omit|miss|hesitate|worry|ignore|wait|proceed|continue|tell|mention|inform|ask|work|function|stop|panic|close|shown?|need|reveal|let)\b/u;
const REPORTED =
  /\b(?:asks|asking|says?|saying|tells|contains?|containing|reads|like|phrases?|texts?|claims?)\b[^"\n]{0,80}["\x60“][^"\n]{0,60}$/u;

/** A heading or a line that leads over to a list or a fence. */
export function leadsToExamples(folded: string): boolean {
  return TALK.test(folded);
}

/** A comment that calls the code below it bad. */
export function isBadExample(folded: string): boolean {
  return /^\s*(?:#|\/\/|--|;|\/\*|\*|rem\b).{0,40}(?:\b(?:bad|wrong|vulnerable|unsafe|insecure|malicious|attack|anti-?pattern|never|don'?t|dangerous|incorrect)\b|❌|✗|✘|🚫)/u.test(
    folded,
  );
}

/** A line of a scanner: it holds a pattern to look for, not the thing. */
export function isPatternLine(line: string): boolean {
  return /\b(?:re\.(?:compile|search|match|findall)|regexp?|patterns?|signature|blocked|deny|blocklist)\b.{0,200}(?:\\[sbwd.]|\.\*|\.\+|\[\^|\(\?:|["'\x60])|^\s*[([{,]{0,2}\s*\(?r?["'\x60/].{0,120}(?:\\[sbwd]|\.\*|\(\?:)/.test(
    line,
  );
}

/** Whether the words before a match, in its sentence, speak of it as of a danger, or as of something that others say. */
export function isTalkedOf(before: string): boolean {
  if (REPORTED.test(before)) return true;
  const start = before.search(/[^.!?;。\n]*$/);
  // What stands close behind a dot is the rest of a name: a host may be called `no.example`.
  const sentence = before[start - 1] === '.' ? before.slice(start).replace(/^\S+/, '') : before.slice(start);
  return NEGATION.test(sentence) && !URGING.test(sentence);
}

const SECURITY_TRADE =
  /\b(?:security|secure|secops|infosec|appsec|devsecops|pen-?test\w{0,6}|penetration|red[- ]?team\w{0,4}|ctf|capture the flag|forensics?|malware|threat|vulnerabilit\w{1,4}|exploit\w{0,6}|hack\w{0,5}|bug bounty|osint|reverse engineer\w{0,4}|incident response|audit\w{0,4}|guardrails?|scanner|vett(?:ing|er)|sandbox|hardening|injection|jailbreak|siem|yara|privilege escalation|payloads?|honeypots?|untrusted|zip slip|traversal|leaked)\b|安全|渗透|漏洞/;

/** Whether the skill's own words say that security is its trade; `header` is its name and description. */
export function isSecurityTrade(header: string): boolean {
  return SECURITY_TRADE.test(header);
}
