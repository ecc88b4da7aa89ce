// Owns what is known of Hermes 4.3 on one's own machine (seed 000 §local Hermes): sizes of its quantisations, what a machine holds, which of them
// fits, whether local or remote is the better choice, and what a day costs. Knows no server and no configuration. Invariant: advice is arithmetic
// on what was read of the machine; what could not be read is never assumed to be there.
import { statfsSync } from 'node:fs';
import { cpus } from 'node:os';
import { known } from '#base/errors.ts';
import { SYSTEM_PATH } from '#base/paths/typed-path.ts';
import { runProcess } from '#base/process.ts';
import { type Hardware, readHardware } from '../first-screen.ts';

const GB = 1e9;
const GIB = 1024 ** 3;

/** `kvBytesPerToken`: layers, heads, their values, keys and values, two bytes each. `reference`: tokens a second on the machine of the seed. */
export const HERMES = {
  model: 'NousResearch/Hermes-4.3-36B',
  repository: 'hf.co/NousResearch/Hermes-4.3-36B-GGUF',
  endpoint: 'http://localhost:11434/v1',
  parameters: 36e9,
  contextTokens: 131_072,
  kvBytesPerToken: 64 * 8 * 128 * 2 * 2,
  bytes: { Q8_0: 39 * GB, Q6_K: 32 * GB, Q4_K_M: 22 * GB },
  reference: { machine: 'Mac Mini M4 Pro, Q6_K', T1: [15, 25], T2: [8, 15] },
} as const;

/** For small work beside it. */
export const SECOND = { model: 'qwen2.5:7b-q8_0', bytes: 8 * GB, kvBytesPerToken: 28 * 4 * 128 * 2 * 2 } as const;

/** Tokens that calls usually hold; a dream comes near the whole window. */
export const USUAL_CONTEXT = {
  T0: [0, 0],
  T1: [4_000, 12_000],
  T2: [20_000, 50_000],
  dream: [96_000, 131_072],
} as const;

export interface Machine extends Hardware {
  readonly cpu: string;
  /** Null: it cannot be read. */
  readonly diskFreeBytes: number | null;
  /** Null: none was found. One that shares the machine's memory has all of it. */
  readonly gpu: { readonly name: string; readonly memoryBytes: number } | null;
}

/** `folder`: on the disk that is to hold models. Asks the driver of the graphics card, for three seconds at most. */
export async function readMachine(folder: string, signal: AbortSignal): Promise<Machine> {
  const hardware = readHardware();
  const disk = known(() => statfsSync(folder));
  const diskFreeBytes = disk ? disk.bavail * disk.bsize : null;
  const cpu = cpus()[0]?.model.trim() || 'unknown processor';
  return { ...hardware, cpu, diskFreeBytes, gpu: await readGpu(hardware, signal) };
}

async function readGpu({ platform, arch, memoryBytes }: Hardware, signal: AbortSignal): Promise<Machine['gpu']> {
  if (platform === 'darwin') return arch === 'arm64' ? { name: 'Apple, shared memory', memoryBytes } : null;
  let text = '';
  const onOutput = (piece: string) => {
    text += piece;
  };
  const argv = ['nvidia-smi', '--query-gpu=name,memory.total', '--format=csv,noheader,nounits'];
  const limits = { timeoutMs: 3_000 };
  const done = await runProcess({ argv, cwd: '/', env: { PATH: SYSTEM_PATH }, limits, onOutput }, signal);
  return done.exitCode === 0 ? largestCard(text) : null;
}

/** Of `name, MiB` lines. */
export function largestCard(text: string): Machine['gpu'] {
  const lines = text.split('\n').flatMap((line) => [...line.matchAll(/^(.+),\s*(\d+)\s*$/g)]);
  const cards = lines.map(([, name = '', size]) => ({ name: name.trim(), memoryBytes: Number(size) * 1024 ** 2 }));
  return cards.sort((a, b) => b.memoryBytes - a.memoryBytes)[0] ?? null;
}

/** A machine that is sold with so much shows a little less. */
const SOLD = 0.93;

/** Null: too little memory for any of them. */
export function recommended({ memoryBytes }: Pick<Machine, 'memoryBytes'>): keyof typeof HERMES.bytes | null {
  if (memoryBytes >= 64 * GIB * SOLD) return 'Q6_K';
  return memoryBytes >= 32 * GIB * SOLD ? 'Q4_K_M' : null;
}

type Weight = Readonly<Record<'bytes' | 'kvBytesPerToken' | 'contextTokens', number>>;

/** The rest is left to everything else. */
const OF_MEMORY = 0.9;

/** Do they stand in memory at once, each with its context? */
export function fitTogether(models: readonly Weight[], memoryBytes: number) {
  const size = ({ bytes, kvBytesPerToken, contextTokens }: Weight) => bytes + kvBytesPerToken * contextTokens;
  const needed = models.reduce((sum, model) => sum + size(model), 0);
  return { needed, fits: needed <= memoryBytes * OF_MEMORY };
}

/** What `setup` says of Hermes here. `second`: beside it for T1, where both fit. */
export function localAdvice(machine: Machine) {
  const { memoryBytes, gpu, diskFreeBytes } = machine;
  const quantisation = recommended(machine);
  const { place, because } = placeFor({ memoryBytes, hasGpu: gpu !== null });
  const choice = `${place} is the better choice: ${because}`;
  if (!quantisation) {
    const warning = 'Hermes 4.3 36B is too large here, or slow: take a cloud provider (talaria setup --provider NAME)';
    return { quantisation, second: null, lines: [warning, choice] };
  }
  const bytes = HERMES.bytes[quantisation];
  const room = Math.floor((memoryBytes * OF_MEMORY - bytes) / HERMES.kvBytesPerToken);
  const window = Math.min(HERMES.contextTokens, room);
  const weight = { ...HERMES, bytes, contextTokens: Math.min(window, USUAL_CONTEXT.T2[1]) };
  const both = fitTogether([weight, { ...SECOND, contextTokens: USUAL_CONTEXT.T1[1] }], memoryBytes);
  const pull = `Hermes 4.3 36B: talaria models pull ${quantisation} (${shownGb(bytes)}; a window of up to ${Math.floor(window / 1024)}K)`;
  const beside = `beside it for T1: talaria models pull ${SECOND.model} (together ${shownGb(both.needed)})`;
  const isFull = diskFreeBytes !== null && diskFreeBytes < bytes * 1.1;
  const disk = isFull ? [`the disk has ${shownGb(diskFreeBytes)} free: make room first`] : [];
  const second = both.fits ? SECOND.model : null;
  return { quantisation, second, lines: [pull, ...(second ? [beside] : []), ...disk, choice] };
}

export function machineLine({ cpu, gpu, diskFreeBytes }: Machine): string {
  const card = gpu ? `${gpu.name} (${shownGb(gpu.memoryBytes)})` : 'no graphics card found';
  return `${cpu}, ${card}, ${diskFreeBytes === null ? 'disk unknown' : `${shownGb(diskFreeBytes)} of disk free`}`;
}

export function shownGb(bytes: number): string {
  return `${(bytes / GB).toFixed(1)} GB`;
}

/** `isPrivate`: nothing may leave the machine. `t2Seconds`: that a T2 answer may take. `atOnce`: golems that think at the same time. */
type Situation = Readonly<
  { memoryBytes: number; hasGpu: boolean } & { isPrivate?: boolean; t2Seconds?: number; atOnce?: number }
>;
type Place = readonly [place: 'local' | 'remote', because: string, when: (of: Situation) => boolean];

/** A local T1 call takes 2 to 5 seconds, a T2 call 10 to 30, one after the other. The first row that fits decides. */
const PLACES: readonly Place[] = [
  ['remote', 'a micro machine holds no model', ({ memoryBytes, hasGpu }) => memoryBytes < 2 * GIB && !hasGpu],
  [
    'local',
    'nothing may leave this machine; take a smaller model where this is slow',
    ({ isPrivate = false }) => isPrivate,
  ],
  ['remote', 'the memory holds no 36B model', (of) => recommended(of) === null],
  ['remote', 'T2 must answer faster than in 10 to 30 seconds', ({ t2Seconds = 30 }) => t2Seconds < 10],
  ['remote', 'many golems at once would wait for each other', ({ atOnce = 1 }) => atOnce > 4],
  ['local', 'the memory is there, calls cost nothing and stay on this machine (T1 2–5 s, T2 10–30 s)', () => true],
];

export function placeFor(situation: Situation) {
  const [place, because] = PLACES.find(([, , when]) => when(situation)) ?? (['remote', ''] as const);
  return { place, because };
}

/**
 * US dollars a day, least and most, as cloud calls would cost; `marginal`: what is really paid. `hosted`: golems on small virtual machines without
 * a model beside them. L2, the market, infers nothing.
 */
export function dailyBudget(golems: number, place: 'local' | 'hosted') {
  const [each, l1] =
    place === 'local'
      ? ([
          [0.1, 0.5],
          [0, 0.2],
        ] as const)
      : ([
          [1, 5],
          [0.05, 0.2],
        ] as const);
  const total = [each[0] * golems + l1[0], each[1] * golems + l1[1]] as const;
  return { each, l1, l2: [0, 0] as const, total, marginal: place === 'local' ? ([0, 0] as const) : total };
}
