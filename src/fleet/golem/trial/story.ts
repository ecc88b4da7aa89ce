// Owns the demonstration of the fleet (`npm run demo:fleet`): a golem lives, fails, learns and dies; its testament is verified in front of you, one byte
// is changed and it is refused; an heir is born from it and another without; both are compared. Five seeds, no key, no model. Knows no surface.
import { plural } from '#base/text.ts';
import { type CommandContext, type CommandOutput, line } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import { readBundle, verifyBundle } from '#mind/skills/format/testament.ts';
import { withBirths } from '../births.ts';
import { SimWorld } from '../domains/sim-world.ts';
import { whySkill } from '../looking-commands.ts';
import { bundleOf, liveInSim, withClade } from './sim-trial.ts';
import { mean } from './statistics.ts';

const SEEDS = 5;
const PARENT_TICKS = 300;
const HEIR_TICKS = 100;

export async function* tellStory(ground: Ground, { signal, progress }: CommandContext): AsyncGenerator<CommandOutput> {
  yield line(
    'A fleet of agents, in a world that is simulated: twelve kinds of incident, eight actions, a cure of three. No key, no model,',
  );
  yield line(
    'nothing staged: every figure below is counted from the records of this run, on real files that are taken away at its end.',
  );
  const rows: (readonly string[])[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    progress?.(`seed ${seed} of ${SEEDS}`);
    const { told, row } = await withClade(ground, (clade) => oneSeed(clade, seed, signal));
    rows.push(row);
    if (seed === 1) for (const text of told) yield line(text);
  }
  progress?.('');
  yield line('');
  yield line(`4. The same with ${SEEDS} worlds: incidents cured of the first ${HEIR_TICKS}, actions for each.`);
  const arms = ['alpha, first 100', 'alpha, last 100', 'beta, heir', 'gamma, none'];
  yield { type: 'table', columns: ['world', ...arms, 'beta, actions', 'gamma, actions'], rows };
  yield line('');
  yield line(
    'What is simulated is the world. The trial with its intervals: talaria golem trial sim --seeds 30. A golem for your own machine: docs/guide/golems.md',
  );
}

type Lived = Awaited<ReturnType<typeof liveInSim>>['lived'];

/** One world: what is told of it, and its row of the table. */
async function oneSeed(clade: Ground, seed: number, signal: AbortSignal) {
  const world = SimWorld.of(seed);
  const next = { world: world.neighbour(seed + 10_000), stream: seed + 20_000, ticks: HEIR_TICKS, keeps: true };
  const first = { name: 'alpha', world, stream: seed, ticks: PARENT_TICKS, keeps: true };
  const alpha = await liveInSim(clade, first, signal);
  const beta = await liveInSim(clade, { ...next, name: 'beta', from: alpha.testament }, signal);
  const gamma = await liveInSim(clade, { ...next, name: 'gamma' }, signal);
  const cured = (lived: Lived) => `${lived.filter(({ success }) => success).length}`;
  const actions = (lived: Lived) => mean(lived.map((one) => one.actions)).toFixed(1);
  const ends = [alpha.lived.slice(0, 100), alpha.lived.slice(-100)].map(cured);
  const heirs = [beta.lived, gamma.lived];
  const told = [
    '',
    `1. alpha lives ${PARENT_TICKS} heartbeats: of its first 100 incidents it cured ${ends[0]}, of its last 100 ${ends[1]}. It ends.`,
    '',
    ...(await judged(clade, alpha.testament)),
    '',
    `3. A neighbouring world: seven cures as they were, two changed, three kinds that nobody met. beta is born from the testament, gamma without.`,
    `   Of the first ${HEIR_TICKS} incidents beta cured ${cured(beta.lived)}, gamma ${cured(gamma.lived)}. Why does beta know one of its cures?`,
  ];
  const skill = beta.lived.find(({ followed }) => followed !== undefined)?.followed;
  if (skill) {
    told.push(`   $ talaria golem why beta ${skill}`);
    for await (const output of whySkill(clade, 'beta', skill))
      if (output.type === 'line') told.push(`     ${output.text}`);
  }
  return { told, row: [String(seed), ...ends, ...heirs.map(cured), ...heirs.map(actions)] };
}

async function judged({ places, clock }: Ground, testament: string): Promise<readonly string[]> {
  const known = (signer: string, golem: string) =>
    withBirths(places.home, clock, (births) => births.standing(signer, golem));
  const bundle = bundleOf(testament);
  const verified = await verifyBundle(bundle, known);
  const at = testament.indexOf('`') + 1;
  const other = testament[at] === 'x' ? 'y' : 'x';
  const changed = readBundle(`${testament.slice(0, at)}${other}${testament.slice(at + 1)}`);
  const refused = changed.ok ? await verifyBundle(changed.value, known) : changed;
  return [
    `2. Its testament: ${testament.length.toLocaleString('en-US')} bytes, ${plural(bundle.skills.length, 'skill')}, lineage ${bundle.lineage.join(' → ')}.`,
    `   as it is: ${verified.ok ? `whole, signed by ${verified.value.signer}, ${verified.value.standing === 'own' ? 'born in this home' : 'a stranger'}` : verified.detail}`,
    `   byte ${at} changed from ${JSON.stringify(testament[at])} to ${JSON.stringify(other)}: ${refused.ok ? 'taken, which is a fault' : `refused, ${refused.reason}`}`,
  ];
}
