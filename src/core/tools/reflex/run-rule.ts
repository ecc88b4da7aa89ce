// Owns the intent `run`: a command that the owner spelled out goes to the terminal, letter for letter.
// Knows no shell. Invariant: what shows a change on its face is asked about with the exact command first (reflex 8).
import type { ReflexInput, ReflexMatch, ReflexQuestion, ReflexRule } from '#core/agent/reflex-rule.ts';
import { quoteCommand } from './answers.ts';
import { bareCertainty } from './command/bare-command.ts';
import { isWordyProgram } from './command/command-names.ts';
import { commandRisk } from './command/command-risk.ts';
import { readCommand, type SpokenCommand } from './command/read-command.ts';
import { forms } from './english.ts';
import { commandsRun } from './history.ts';

const GUESSES: Readonly<Record<string, readonly string[]>> = {
  test: ['run `npm test`', 'run `make test`', 'run `python3 -m pytest`'],
  build: ['run `npm run build`', 'run `make`', 'run `cargo build`'],
};

export const runRule: ReflexRule = {
  purpose: 'act',
  intent: 'run',
  effect: 'write',
  examples: ['run `npm test`', '$ git status', 'execute ls -la', 'run npm run build in the background'],

  match(input) {
    const found = [
      spoken(input.fit(forms.run), input),
      strict(input.fit(forms.runStrict), input),
      bare(input.fit(forms.runBare)),
      pointed(input.fit(forms.runPointed)),
    ];
    return found.reduce((best, match) => ((match?.score ?? 0) > (best?.score ?? 0) ? match : best));
  },

  restate({ slots }) {
    const folder = slots.workdir === undefined ? '' : ` in the folder ${slots.workdir}`;
    const timeout = slots.timeout === undefined ? '' : ` with a timeout of ${slots.timeout} seconds`;
    const background = slots.background === undefined ? '' : ' in the background';
    const command = slots.command ?? '';
    return command.includes('`') ? `$ ${command}` : `run \`${command}\`${folder}${timeout}${background}`;
  },

  missing({ slots }, input): ReflexQuestion {
    const before = commandsRun(input.history)
      .slice(0, 3)
      .map((command) => `run \`${command}\``);
    const guesses = GUESSES[slots.hint ?? ''] ?? ['run `git status`', 'run `ls -la`'];
    return {
      type: 'ask',
      question: 'Run which command?',
      choices: before.length > 0 ? before : guesses,
      fill: 'run {}',
    };
  },

  act(match, input, results) {
    const command = match.slots.command ?? '';
    const [result] = results;
    if (result !== undefined) return quoteCommand(command, result);
    const risk = commandRisk(command);
    if (risk !== undefined && !input.confirmed) {
      return {
        type: 'ask',
        question: `This ${risk}: ${command}\nRun exactly that?`,
        choices: [runRule.restate(match)],
        confirms: true,
      };
    }
    return { type: 'call', calls: [{ name: 'terminal', arguments: callArguments(match) }] };
  },
};

/** A bare command gives way to every rule that was spoken in words. */
const BARE = 0.75;

function spoken(fit: ReflexMatch | undefined, input: ReflexInput): ReflexMatch | undefined {
  if (fit === undefined || fit.missing !== undefined) return fit;
  if (fit.slots.again !== undefined) return again(fit, input);
  if (fit.slots.verbatim !== undefined)
    return /^\s*[$!]/.test(input.text) ? { score: 0.99, slots: { command: fit.slots.verbatim } } : undefined;
  const command = commandOf(fit);
  return { score: fit.score * command.certainty, slots: slotsOf(command, fit.slots.workdir) };
}

/** After weaker words than "run" only a certain command counts. */
function strict(fit: ReflexMatch | undefined, input: ReflexInput): ReflexMatch | undefined {
  if (fit === undefined || STORY.test(fit.slots.purpose ?? '')) return undefined;
  let command = commandOf(fit);
  const quoted = fit.slots['command.quoted'] !== undefined;
  const shown = fit.slots.shown !== undefined && isWordyProgram(command.command.split(' ')[0] ?? '');
  const bareWords = shown ? 0 : bareCertainty(command.command);
  const marked = quoted && input.text.includes(`\`${fit.slots.command ?? ''}`);
  if (quoted && !marked) command = readCommand(fit.slots.command ?? '');
  const certainty = quoted ? command.certainty : Math.min(command.certainty, bareWords);
  return { score: fit.score * certainty, slots: slotsOf(command, undefined) };
}

function bare(fit: ReflexMatch | undefined): ReflexMatch | undefined {
  const command = fit?.slots.command ?? '';
  return fit?.slots['command.quoted'] === undefined
    ? { score: BARE * bareCertainty(command), slots: { command } }
    : undefined;
}

/** What is done with a command by itself is told, not asked for. */
const STORY =
  /^(?:since|because|as|according|apparently|supposedly|usually|normally|often|some|people|everyone|everybody|nobody|if|when|i|we|he|she|they|it|this|that|you|there|the|my|our)\b|\b(?:remember|note|forget|told|said|says|wrote|ends|begins|starts)\b/i;
const POINTED = 0.85;

/** `see what happens with node index.js, run it`: the last words before that are a command. */
function pointed(fit: ReflexMatch | undefined): ReflexMatch | undefined {
  const words = fit?.slots.before?.split(/\s+/) ?? [];
  for (const at of words.keys()) {
    const command = words.slice(at).join(' ');
    const certainty = isWordyProgram(words[at] ?? '') ? 0 : bareCertainty(command);
    if (certainty > POINTED) return { score: POINTED, slots: { command } };
  }
  return undefined;
}

function commandOf({ slots }: ReflexMatch): SpokenCommand {
  return slots['command.quoted'] === undefined ? readCommand(slots.command ?? '') : quotedCommand(slots.command ?? '');
}

/** Back-ticks or quotes around the whole: the owner marked it as a command. */
function quotedCommand(command: string): SpokenCommand {
  return { command, certainty: 0.98 };
}

function again(fit: ReflexMatch, input: ReflexInput): ReflexMatch {
  const [command] = commandsRun(input.history);
  return command === undefined
    ? { score: fit.score, slots: {}, missing: 'command' }
    : { score: fit.score, slots: { command } };
}

function slotsOf(spoken: SpokenCommand, folder: string | undefined): Readonly<Record<string, string>> {
  const workdir = spoken.workdir ?? folder;
  return {
    command: spoken.command,
    ...(workdir === undefined || workdir === '.' ? {} : { workdir }),
    ...(spoken.timeout === undefined ? {} : { timeout: String(spoken.timeout) }),
    ...(spoken.background === undefined ? {} : { background: 'yes' }),
  };
}

function callArguments({ slots }: ReflexMatch): Readonly<Record<string, string | number | boolean>> {
  return {
    command: slots.command ?? '',
    ...(slots.workdir === undefined ? {} : { workdir: slots.workdir }),
    ...(slots.timeout === undefined ? {} : { timeout: Number(slots.timeout) }),
    ...(slots.background === undefined ? {} : { background: true }),
  };
}
