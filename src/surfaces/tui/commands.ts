// Owns the words that open a screen, `run`, `attach` and `clade`, and what they say where there is no terminal: one line of JSON for each event, with the windows
// that it changed. Knows no key. Invariants: the golem of `run` is lived through the command of its room; what another process lives is shown and not lived twice.
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { lazy } from '#base/lazy.ts';
import {
  type AnyCommand,
  type CommandContext,
  type CommandOutput,
  defineCommand,
  type Failure,
  refused,
} from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { readEnvironment } from '#surfaces/app/environment.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import type { openOwnSide } from '#surfaces/app/models/own-models.ts';
import { loadRoom } from '#surfaces/app/rooms.ts';
import type { Board, ScreenEvent } from './board.ts';
import { EVENTS } from './event-table.ts';
import { Watch } from './feed.ts';
import { type InfraSource, runScreen } from './screen.ts';
import { followed, type View, windowNames, windowOf } from './windows.ts';

const name = z.string().trim().min(1);
const ticks = z.coerce.number().int().positive().optional().describe('Heartbeats, then it rests');

const settings = z.object({ sounds: z.enum(['off', 'bell']).default('off') });

/** `isScreen`: a person sits at a terminal, and asked for no JSON. Without one `clade` is Meta's own command. */
export function screenCommands({
  ground,
  isScreen,
}: {
  readonly ground: Ground;
  readonly isScreen: boolean;
}): readonly AnyCommand[] {
  const clade = defineCommand({
    ...{ name: 'clade', summary: 'All golems on one screen', surfaces: ['cli'], input: z.object({}) },
    run: (_: unknown, context) => show(ground, { isScreen }, context),
  });
  return [
    defineCommand({
      ...{ name: 'run', summary: 'Live a golem here and watch it, with Meta beside it', surfaces: ['cli'] },
      input: z.object({ name, ticks }),
      positional: ['name'],
      examples: ['talaria run ledger', 'talaria run ledger --ticks 20 --json'],
      run: (asked, context) => show(ground, { isScreen, lives: asked, focus: asked.name }, context),
    }),
    defineCommand({
      ...{ name: 'attach', summary: 'Watch a golem that lives elsewhere, or all of them', surfaces: ['cli'] },
      input: z.object({ name: name.optional() }),
      positional: ['name'],
      examples: ['talaria attach ledger', 'talaria attach --json'],
      run: (asked, context) =>
        show(ground, { isScreen, ...(asked.name === undefined ? {} : { focus: asked.name }) }, context),
    }),
    ...(isScreen ? [clade] : []),
  ];
}

/** How long the machine is looked at for what it has, ms. */
const SLOW_MS = 5_000;

interface Shown {
  readonly isScreen: boolean;
  readonly focus?: string;
  /** What `golem run` is asked. */
  readonly lives?: { readonly name: string; readonly ticks?: number | undefined };
}

/** What `golem run` says here; absent: another process lives it. */
interface Begun {
  readonly outputs?: AsyncIterator<CommandOutput>;
}

async function* show(ground: Ground, shown: Shown, context: CommandContext): AsyncGenerator<CommandOutput, void> {
  const leaving = new AbortController();
  const here = { ...context, signal: AbortSignal.any([context.signal, leaving.signal]) };
  const begun = shown.lives && (await begin(ground, shown.lives, here));
  if (begun && 'type' in begun) return yield begun;
  const watch = new Watch(ground);
  const life = begun && tellLife(begun, watch);
  try {
    await watch.open();
    const focus = calledBy(watch.board, shown) ?? (begun && { focus: shown.lives?.name ?? '' });
    if (!focus) return yield notKnown(shown.focus, watch.board);
    const still = begun ? undefined : stillOf(watch.board, focus.focus);
    if (!shown.isScreen) return yield* lines(watch, { signal: here.signal, ...focus, ...life, ...still });
    if (still) watch.say(still.says);
    await runScreen(watch, { ...(await styleOf(ground)), ...focus, ...placeOf(ground, here) }, here.signal);
  } finally {
    leaving.abort();
    await life?.ended;
    await watch.close();
  }
}

function placeOf({ clock }: Ground, { cwd }: CommandContext) {
  const environment = readEnvironment();
  return { cwd, infra: infraSource({ environment, home: findHome(environment), clock }) };
}

/** The models of this machine, asked as `talaria models` asks them. */
function infraSource(place: Parameters<typeof openOwnSide>[0]): InfraSource {
  const own = lazy(() => import('#surfaces/app/models/own-models.ts'));
  const machine = lazy(async () =>
    (await import('#surfaces/app/models/local-advice.ts')).readMachine(place.home.models, AbortSignal.timeout(SLOW_MS)),
  );
  return {
    look: async (signal) => {
      const { openOwnSide, lookAtModels, infraFigures } = await own();
      return infraFigures(await lookAtModels(await openOwnSide(place), await machine(), signal));
    },
    switchTo: async (model, tell, signal) => {
      const { openOwnSide, switchModel } = await own();
      const steps = switchModel(await openOwnSide(place), { model }, signal);
      for (;;) {
        const { done, value } = await steps.next();
        if (!done) tell({ reloading: value });
        else return value.ok ? `${value.value.id} answers now.` : value.detail;
      }
    },
  };
}

async function styleOf(ground: Ground) {
  const { NO_COLOR = '' } = ground.variables;
  const { sounds } = (await ground.settings()).section('tui', settings);
  return { hasColour: NO_COLOR === '', hasSound: sounds === 'bell' };
}

/** Its first output says whether it lives. */
async function begin(
  ground: Ground,
  asked: NonNullable<Shown['lives']>,
  context: CommandContext,
): Promise<Begun | Failure> {
  const room = await loadRoom('golem');
  const command = (await room?.commands?.(ground))?.find((one) => one.name === 'golem run');
  if (!command) return refused('no-door', 'The room of the golems is not there: nothing can be lived here.');
  const outputs = command.run(command.input.parse(asked), context)[Symbol.asyncIterator]();
  const { done, value } = await outputs.next();
  if (done || value.type !== 'failure') return { outputs };
  return value.code === 'runs-already' ? {} : value;
}

/** Ticks and events come by the log: told is only how it ends. Never rejects; absent: another process lives it. */
function tellLife({ outputs }: Begun, watch: Watch): { readonly ended: Promise<void> } | undefined {
  if (outputs) return { ended: toEnd(outputs).then((last) => watch.end(last)) };
  watch.say('Another process lives it; it is shown from its rows.');
  return undefined;
}

/** Its last line. */
async function toEnd(outputs: AsyncIterator<CommandOutput>): Promise<string> {
  let last = 'It rests.';
  try {
    for (let next = await outputs.next(); !next.done; next = await outputs.next())
      if (next.value.type === 'failure') last = `${next.value.message} ${next.value.fix}`.trim();
      else if (next.value.type === 'line') last = next.value.text;
  } catch (error) {
    last = errorText(error);
  }
  return last;
}

/** As it is called here; its name alone does when no other golem has it, or only elsewhere and it is lived here. */
function calledBy({ golems }: Board, { focus: typed, lives }: Shown): { readonly focus?: string } | undefined {
  if (typed === undefined) return {};
  const all = golems.map(({ seen }) => seen).filter(({ where }) => !lives || where === 'here');
  const named = all.filter((one) => one.name === typed || one.golem === typed);
  const called = all.find((one) => one.called === typed) ?? (named.length === 1 ? named[0] : undefined);
  return called && { focus: called.called };
}

function notKnown(typed = '', { golems }: Board): Failure {
  const known = golems.map(({ seen }) => seen.called);
  const fix = known.length === 0 ? 'There is none yet: talaria golem create NAME.' : `There are: ${known.join(', ')}.`;
  return refused('no-such-golem', `No golem here is called ${typed}.`, fix);
}

/** Why nothing may come for long, or ever. */
function stillOf({ golems }: Board, focus?: string): (Pick<Told, 'ended'> & { readonly says: string }) | undefined {
  const { seen } = golems.find((one) => one.seen.called === focus) ?? {};
  if (seen?.status === 'dead')
    return { says: `${seen.called} is dead: nothing more comes of it.`, ended: Promise.resolve() };
  if (golems.some((one) => one.seen.status === 'lives' && (!seen || one.seen === seen))) return undefined;
  const who = seen?.called ?? 'NAME';
  if (golems.length === 0) return { says: 'There is no golem yet. This waits for one: talaria golem create NAME' };
  return { says: `${seen ? `${who} does not live` : 'None lives'} now. This waits: talaria golem run ${who}` };
}

interface Told {
  readonly signal: AbortSignal;
  readonly focus?: string;
  /** Said first. */
  readonly says?: string;
  /** After it there is nothing more to tell; never rejects. */
  readonly ended?: Promise<void>;
}

/** First how everything stands, then one line for each event. */
async function* lines(watch: Watch, { signal, focus, ended, says }: Told): AsyncGenerator<CommandOutput, void> {
  const queue = createAsyncQueue<CommandOutput>();
  const push = (said: JsonObject) => queue.push({ type: 'line', text: JSON.stringify(said) });
  const { clock } = watch;
  const view = { chosen: -1, now: clock.now(), ...(focus === undefined ? {} : { focus }) };
  push({ type: 'opened', at: view.now, windows: windowsOf(watch.board, view) });
  let kept = focus === undefined ? undefined : followed(watch.board, { called: focus });
  watch.listener = (event, before) => {
    kept &&= followed(watch.board, kept);
    const isMeant = !('golem' in event) || event.golem === '' || !kept || event.golem === kept.called;
    if (isMeant) push(lineOf(event, before, watch));
  };
  if (says !== undefined) watch.say(says);
  signal.addEventListener('abort', queue.close, { once: true });
  if (signal.aborted) queue.close();
  const over = ended?.then(queue.close);
  const done = new AbortController();
  const awake = stayAwake(clock, done.signal);
  try {
    yield* queue;
    await over;
  } finally {
    done.abort();
    await awake;
  }
}

const DAY_MS = 86_400_000;

/** Following a log keeps no process alive. */
async function stayAwake(clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await clock.sleep(DAY_MS, signal).catch(() => undefined);
}

/** The event, and of the windows those that it changed. */
function lineOf(event: ScreenEvent, before: Board, { board, clock }: Watch): JsonObject {
  const golem = 'golem' in event && event.golem !== '' ? { golem: event.golem } : {};
  const view = { chosen: -1, now: clock.now(), ...(golem.golem === undefined ? {} : { focus: golem.golem }) };
  const [old, now] = [windowsOf(before, view), windowsOf(board, view)];
  const changed = windowNames(board).filter((window) => JSON.stringify(old[window]) !== JSON.stringify(now[window]));
  const windows = Object.fromEntries(changed.map((window) => [window, now[window] ?? null]));
  const at = 'at' in event ? event.at : view.now;
  return { type: event.type, ...golem, at, ...saidOf(event), windows };
}

function saidOf(event: ScreenEvent): JsonObject {
  if (event.type === 'line') return { text: event.text };
  if (event.type === 'tick') return { tick: event.tick.tick, text: event.tick.text };
  if (event.type !== 'mind') return {};
  const { window, says } = EVENTS[event.event.type];
  return { event: event.event.type, window, text: says(event.event) };
}

function windowsOf(board: Board, view: View): JsonObject {
  const models = windowNames(board).map(
    (name) => [name, windowOf(name, board, view).blocks as unknown as JsonValue] as const,
  );
  return Object.fromEntries(models);
}
