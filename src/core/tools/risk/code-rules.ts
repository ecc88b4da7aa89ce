// Owns what is handed to another interpreter: shells, eval, Python and kin one-liners, SQL. Finds the text that will be run.
// Knows no lexer: text that is shell again is handed back. Invariant: code that cannot be read needs an answer.
import type { ShellWord } from '../shell/shell-script.ts';
import {
  argumentText,
  ask,
  type Call,
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
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash', 'fish', 'rbash', 'mksh', 'csh', 'tcsh']);
const FETCHERS = new Set(['curl', 'wget', 'fetch', 'aria2c', 'http', 'https', 'lynx', 'nc']);
const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|perl|ruby|node|nodejs|bun|deno|php|lua|tclsh|Rscript|osascript|awk|gawk|mawk)$/;
const EDITORS = /^(?:g?vim|nvim|vi|ex|ed|emacs|sed|gsed)$/;
const DATABASES = new Set([
  'psql',
  'mysql',
  'mariadb',
  'sqlite3',
  'sqlcmd',
  'duckdb',
  'clickhouse-client',
  'mongosh',
  'mongo',
  'cqlsh',
  'bq',
  'snowsql',
]);

export function judgeCode(call: Call, asRoot: boolean): CodeVerdict {
  if (SHELLS.has(call.program)) return judgeShell(call, asRoot);
  if (call.program === 'eval') return judgeEval(call);
  if (call.program === 'source' || call.program === '.') return judgeSource(call);
  if (call.program === 'su') return judgeScriptFlag(call, ['-c', '--command']);
  if (call.program === 'trap' || call.program === 'watch')
    return { findings: [], scripts: call.args.slice(0, 1).map(({ text }) => text) };
  if (call.program === 'alias')
    return { findings: [], scripts: call.args.map(({ text }) => text.replace(/^[\w.-]+=/, '')) };
  if (EDITORS.test(call.program)) return { findings: judgeEditor(call), scripts: [] };
  if (call.program === 'ssh') return { findings: [], scripts: remoteCommand(call) };
  if (INTERPRETERS.test(call.program)) return { findings: judgeOneLiner(call), scripts: [] };
  if (DATABASES.has(call.program)) return { findings: judgeSql(call), scripts: [] };
  return NOTHING;
}

const NO_WORD: ShellWord = { text: '', certain: true, glob: false, quoted: false };

/** Everything after the host. */
function remoteCommand(call: Call): readonly string[] {
  const host = call.args.indexOf(operandsOf(call)[0] ?? NO_WORD);
  return [
    call.args
      .slice(host + 1)
      .map(({ text }) => text)
      .join(' '),
  ];
}

function judgeShell(call: Call, asRoot: boolean): CodeVerdict {
  const at = call.args.findIndex(({ text }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text) && !text.startsWith('--'));
  if (at >= 0)
    return runWord(
      call.args.slice(at + 1).find(({ text }) => !text.startsWith('-')),
      call,
    );
  const file = operandsOf(call)[0];
  if (file?.text.startsWith('<(')) return { findings: [unreadCode(call, asRoot)], scripts: [] };
  if (file && !hasFlag(call, '-s')) return NOTHING;
  const text = knownInput(call.command);
  if (text !== undefined) return { findings: [], scripts: [text] };
  return call.command.pipedFrom ? { findings: [unreadCode(call, asRoot)], scripts: [] } : NOTHING;
}

function unreadCode(call: Call, asRoot: boolean): Finding {
  const sources = pipeSources(call.command);
  const source = sources.find((name) => FETCHERS.has(name)) ?? sources[0] ?? 'a substitution';
  if (FETCHERS.has(source) && asRoot) return never('runs code from the network with the rights of root');
  const from = FETCHERS.has(source) ? 'runs code from the network unseen' : 'runs what another command prints, unseen';
  return ask(from, `${source} | ${call.program}`);
}

function runWord(word: ShellWord | undefined, call: Call): CodeVerdict {
  if (!word) return NOTHING;
  const findings = word.certain
    ? []
    : [ask('runs code that is only known when it runs', `${call.program} -c ${word.text}`)];
  return { findings, scripts: [word.text] };
}

function judgeEval(call: Call): CodeVerdict {
  const text = argumentText(call);
  const certain = call.args.every((word) => word.certain);
  return {
    findings: certain ? [] : [ask('runs code that is only known when it runs', `eval ${text}`)],
    scripts: [text],
  };
}

function judgeSource(call: Call): CodeVerdict {
  const file = call.args[0];
  return file?.text.startsWith('<(')
    ? { findings: [ask('runs code that is only known when it runs', 'source <(…)')], scripts: [] }
    : NOTHING;
}

function judgeScriptFlag(call: Call, flags: readonly string[]): CodeVerdict {
  const at = call.args.findIndex(({ text }) => flags.includes(text));
  const findings = [ask('runs with the rights of another user', `${call.program} ${call.args[0]?.text ?? ''}`)];
  const script = at < 0 ? undefined : call.args[at + 1];
  return { findings, scripts: script ? [script.text] : [] };
}

const DELETES_IN_CODE =
  /\b(?:unlink|unlinkSync|rmSync|rmdir|rmdirSync|rmtree|remove_tree|rm_rf|rm_r|removedirs|File\.delete|FileUtils|os\.remove|fs\.rm|shutil\.(?:rmtree|move)|send2trash|truncate|write_text|writeFile(?:Sync)?|file_put_contents|chmod|chown)\b|\.rm\(|\bopen\([^)]{0,200}['"][wa]b?\+?['"]/;
const RUNS_IN_CODE =
  /\b(?:os\.system|subprocess|popen|Popen|child_process|execSync|spawnSync|shell_exec|proc_open|pty\.spawn|os\.exec\w*|Kernel\.system|do shell script)\b|\b(?:system|exec|qx|eval)\s*[({"'`]|%x[{(]/;
const DECODES_IN_CODE =
  /\b(?:b64decode|atob|fromhex|unhexlify|pack\s*\(|base64_decode|decode64|marshal\.loads|fromCharCode)\b/;

/** Editors can start commands: `vim -c ':!…'`, `sed '1e …'`. */
function judgeEditor(call: Call): readonly Finding[] {
  const isSed = call.program.endsWith('sed');
  const runs = call.args.find(({ text }) =>
    isSed ? /^[\d,$]*e\s/.test(text) : /!|system\(|shell-command|eval/.test(text),
  );
  return runs ? [ask('starts other commands', `${call.program} ${argumentText(call)}`)] : [];
}

function judgeOneLiner(call: Call): readonly Finding[] {
  if (call.args[0]?.text.startsWith('<(')) return [unreadCode(call, false)];
  const inline =
    hasFlag(call, '-c', '-e', '-E', '-r', '--eval', '-p', '--print') || /awk$|osascript|deno|bun/.test(call.program);
  const input = knownInput(call.command);
  const readsPipe =
    call.command.pipedFrom !== undefined && operandsOf(call).every(({ text }) => text === '-') && !inline;
  if (readsPipe && input === undefined) return [unreadCode(call, false)];
  const code = `${inline ? argumentText(call) : ''}\n${input ?? ''}`;
  const key = `${call.program} ${code}`;
  if (inline && call.args.some((word) => !word.certain && DELETES_OR_RUNS(word.text)))
    return [ask('runs code that is only known when it runs', key)];
  if (DELETES_IN_CODE.test(code)) return [ask('runs code that may delete or overwrite files', key)];
  if (RUNS_IN_CODE.test(code)) return [ask('runs code that starts other commands', key)];
  return DECODES_IN_CODE.test(code) ? [ask('runs code that hides what it does', key)] : [];
}

function DELETES_OR_RUNS(text: string): boolean {
  return text === '$(…)' || text === '`…`' || DELETES_IN_CODE.test(text) || RUNS_IN_CODE.test(text);
}

const DESTRUCTIVE_SQL =
  /\b(?:drop\s+(?:table|database|schema|index|view|user|role|collection)|truncate\s+(?:table\s+)?\w|alter\s+table\s+\S+\s+drop|dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}|grant\s+all)\b/i;

function judgeSql(call: Call): readonly Finding[] {
  const text = `${argumentText(call)}\n${knownInput(call.command) ?? ''}`;
  if (DESTRUCTIVE_SQL.test(text)) return [ask('drops or empties parts of a database', `${call.program} ${text}`)];
  return text.split(';').some(changesEveryRow)
    ? [ask('changes or deletes every row of a table', `${call.program} ${text}`)]
    : [];
}

function changesEveryRow(statement: string): boolean {
  return /\b(?:delete\s+from|update\s+\S+\s+set)\b/i.test(statement) && !/\bwhere\b/i.test(statement);
}
