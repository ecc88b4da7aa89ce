// Owns the data that a command line becomes when it is read without being run. Knows no rule about what is dangerous.
// Invariant: what is only known when the shell runs is marked as uncertain, never guessed.

export interface ShellWord {
  /** The word as the shell would pass it: quotes gone, known variables put in, unknown ones left as `$NAME`. */
  readonly text: string;
  /** False when a part is only known at run time (substitution, unknown variable). */
  readonly certain: boolean;
  /** Holds an unquoted `*`, `?` or `[`. */
  readonly glob: boolean;
  readonly quoted: boolean;
}

export interface ShellRedirect {
  /** Without its file descriptor: `>`, `>>`, `<`, `&>`, `>|`, `<>`, `>&`. */
  readonly operator: string;
  readonly target: ShellWord;
}

/** One simple command, wherever it stood: in a pipe, a subshell, a substitution, the body of a loop or function. */
export interface ShellCommand {
  readonly words: readonly ShellWord[];
  readonly assignments: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirects: readonly ShellRedirect[];
  /** Body of a here-document or here-string. */
  readonly input?: string;
  /** The command whose output it reads. */
  readonly pipedFrom?: ShellCommand;
  readonly background: boolean;
}

export interface ShellScript {
  /** In order of appearance; inner commands of a substitution come before the command that holds it. */
  readonly commands: readonly ShellCommand[];
  /** Names of functions that the script defines. */
  readonly functions: ReadonlySet<string>;
  /** Why a part could not be read; empty for an ordinary script. */
  readonly doubts: readonly string[];
}

/** What a reader of scripts keeps while it reads. Positions only go forward: reading is linear. */
export interface LexState {
  readonly text: string;
  at: number;
  readonly depth: number;
  readonly shared: LexShared;
  /** What the script as a whole reads from: the command before the pipe that leads into a subshell. */
  readonly pipe?: ShellCommand | undefined;
  /** Reads a nested script from `at` to the closing parenthesis (or the end). */
  readonly readScript: (state: LexState, closer: ')' | '') => void;
}

/** Shared by a script and everything nested in it. */
export interface LexShared {
  /** Known values; `undefined`: the name is set to something unknown. */
  variables: Map<string, string | undefined>;
  readonly commands: ShellCommand[];
  readonly functions: Set<string>;
  readonly doubts: Set<string>;
}

export const MAX_NESTING = 24;
const MAX_VARIABLES = 64;

/** A reader of `text` inside of `state`: same variables, same list of commands. */
export function nestedState(state: LexState, text: string): LexState {
  return { text, at: 0, depth: state.depth + 1, shared: state.shared, readScript: state.readScript };
}

/** A name that was set twice to different values has an unknown value: which one counts is only known at run time. */
export function setVariable(shared: LexShared, name: string, value: string | undefined): void {
  const { variables } = shared;
  if (variables.has(name) && variables.get(name) !== value) variables.set(name, undefined);
  else if (variables.size < MAX_VARIABLES) variables.set(name, value);
  else shared.doubts.add('it sets more variables than can be followed');
}

/** Reads a nested script; variables that it sets are its own. */
export function readNested(state: LexState, closer: ')' | '', pipe?: ShellCommand): void {
  const { shared } = state;
  if (state.depth >= MAX_NESTING) {
    shared.doubts.add('it is nested too deeply to be read');
    state.at = state.text.length;
    return;
  }
  const outer = new Map(shared.variables);
  const inner = { ...state, depth: state.depth + 1, pipe };
  state.readScript(inner, closer);
  state.at = inner.at;
  shared.variables = outer;
}
