// Owns what is handed to another interpreter: shells, eval, one-liners of other languages, SQL. Finds the text that a shell will run.
// Knows no lexer: text that is shell again is handed back. Invariant: code that nobody can see needs an answer.
import type { ShellWord } from '../shell/shell-script.ts';
import {
  argumentText,
  ask,
  type Call,
  deletes,
  type Finding,
  hasFlag,
  knownInput,
  never,
  operandsOf,
  pipeSources,
} from './finding.ts';

export interface CodeVerdict {
  readonly findings: readonly Finding[];
  /** Texts that a shell will run: to be looked at like the command itself. */
  readonly scripts: readonly string[];
}

const NOTHING: CodeVerdict = { findings: [], scripts: [] };
export const SHELLS = /^(?:sh|bash|zsh|dash|ksh|ash|fish|rbash|mksh|csh|tcsh)$/;
const FETCHERS = /^(?:curl|wget|fetch|aria2c|https?|lynx|nc)$/;
export const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|perl|ruby|node|nodejs|tsx|ts-node|bun|deno|php|lua|tclsh|Rscript|osascript|awk|gawk|mawk)$/;
const EDITORS = /^(?:g?vim|nvim|vi|ex|ed|emacs|g?sed)$/;
const DATABASES = /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|duckdb|clickhouse-client|mongosh?|cqlsh|bq|snowsql)$/;
const UNKNOWN_CODE = 'runs code that is only known when it runs';

export function judgeCode(call: Call, asRoot: boolean): CodeVerdict {
  const { program } = call;
  if (SHELLS.test(program)) return judgeShell(call, asRoot);
  if (program === 'eval') return runText(call.args);
  if (program === 'source' || program === '.')
    return call.args[0]?.text.startsWith('<(') ? { findings: [ask(UNKNOWN_CODE)], scripts: [] } : NOTHING;
  if (program === 'su') return judgeOther(call);
  if (program === 'trap' || program === 'watch') return runText(operandsOf(call).slice(0, 1));
  if (program === 'alias') return { findings: [], scripts: call.args.map(({ text }) => text.replace(/^[\w.-]+=/, '')) };
  if (program === 'ssh') return { findings: [], scripts: [remoteCommand(call)] };
  const judge = LANGUAGES.find(([name]) => name.test(program))?.[1];
  return judge ? { findings: judge(call), scripts: [] } : NOTHING;
}

const LANGUAGES: readonly (readonly [name: RegExp, judge: (call: Call) => readonly Finding[]])[] = [
  [EDITORS, judgeEditor],
  [INTERPRETERS, judgeOneLiner],
  [DATABASES, judgeSql],
];

/** Everything after the host. */
function remoteCommand(call: Call): string {
  const host = operandsOf(call)[0];
  return argumentText({ args: host ? call.args.slice(call.args.indexOf(host) + 1) : [] });
}

function judgeShell(call: Call, asRoot: boolean): CodeVerdict {
  const at = call.args.findIndex(({ text }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text));
  if (at >= 0)
    return runText(
      call.args
        .slice(at + 1)
        .filter(({ text }) => !text.startsWith('-'))
        .slice(0, 1),
    );
  const file = operandsOf(call)[0];
  if (file?.text.startsWith('<(')) return { findings: [unreadCode(call, asRoot)], scripts: [] };
  if (file && !hasFlag(call, '-s')) return NOTHING;
  const text = knownInput(call.command);
  if (text !== undefined) return { findings: [], scripts: [text] };
  return call.command.pipedFrom ? { findings: [unreadCode(call, asRoot)], scripts: [] } : NOTHING;
}

function unreadCode(call: Call, asRoot: boolean): Finding {
  const isFetched = pipeSources(call.command).some((name) => FETCHERS.test(name));
  if (isFetched && asRoot) return never('runs code from the network with the rights of root');
  return ask(isFetched ? 'runs code from the network unseen' : 'runs what another command prints, unseen');
}

function runText(words: readonly ShellWord[]): CodeVerdict {
  const findings = words.every(({ certain }) => certain) ? [] : [ask(UNKNOWN_CODE)];
  return { findings, scripts: words.length === 0 ? [] : [argumentText({ args: words })] };
}

function judgeOther(call: Call): CodeVerdict {
  const at = call.args.findIndex(({ text }) => text === '-c' || text === '--command');
  const script = at < 0 ? undefined : call.args[at + 1];
  return { findings: [ask('runs with the rights of another user')], scripts: script ? [script.text] : [] };
}

/** Deletes, starts other commands, or hides what it does: in any of the languages that are given on a command line. */
const TELLING =
  /\b(?:unlink|rmSync|rmdir|rmtree|remove_tree|rm_rf?|removedirs|File\.delete|FileUtils|os\.remove|fs\.rm|move|truncate|write_text|writeFile|file_put_contents|chmod|chown)|\.rm\(|\bopen\([^)]{0,200}['"][wa]b?\+?['"]|\b(?:subprocess|[pP]open|child_process|execSync|spawn|shell_exec|os\.exec|do shell script)|\b(?:os\.|Kernel\.)?(?:system|exec|qx|eval)\s*[({"'`]|%x[{(]|b64decode|\batob\b|fromhex|unhexlify|base64_decode|decode64|marshal\.loads|fromCharCode|\bpack\s*\(/;

/** Editors can start commands: `vim -c ':!…'`, `sed '1e …'`. */
function judgeEditor(call: Call): readonly Finding[] {
  const pattern = call.program.endsWith('sed') ? /^[\d,$]*e\s/ : /!|system\(|shell-command|eval/;
  return call.args.some(({ text }) => pattern.test(text)) ? [ask('starts other commands')] : [];
}

function judgeOneLiner(call: Call): readonly Finding[] {
  if (call.args[0]?.text.startsWith('<(')) return [unreadCode(call, false)];
  const isInline =
    hasFlag(call, '-c', '-e', '-E', '-r', '--eval', '-p', '--print') || /awk$|osascript|deno|bun/.test(call.program);
  const input = knownInput(call.command);
  const readsPipe = call.command.pipedFrom && operandsOf(call).every(({ text }) => text === '-') && !isInline;
  if (readsPipe && input === undefined) return [unreadCode(call, false)];
  const code = `${isInline ? argumentText(call) : ''}\n${input ?? ''}`;
  const isOpen =
    isInline && call.args.some(({ certain, text }) => !certain && (/^[$`]\(?…/.test(text) || TELLING.test(text)));
  if (isOpen) return [ask(UNKNOWN_CODE)];
  return TELLING.test(code) ? [ask('runs code that may delete files, start commands or hide what it does')] : [];
}

const DESTRUCTIVE_SQL =
  /\b(?:drop\s+(?:table|database|schema|index|view|user|role|collection)|truncate\s+(?:table\s+)?\w|alter\s+table\s+\S+\s+drop|dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}|grant\s+all)\b/i;
const EVERY_ROW = /\b(?:delete\s+from|update\s+\S+\s+set)\b/i;

function judgeSql(call: Call): readonly Finding[] {
  const text = `${argumentText(call)}\n${knownInput(call.command) ?? ''}`;
  const isLocal = /^(?:sqlite3|duckdb)$/.test(call.program);
  const isBad =
    DESTRUCTIVE_SQL.test(text) || text.split(';').some((part) => EVERY_ROW.test(part) && !/\bwhere\b/i.test(part));
  if (!isBad) return [];
  return isLocal
    ? [deletes('drops or empties parts of a database', false)]
    : [ask('drops or empties parts of a database', 'network')];
}
