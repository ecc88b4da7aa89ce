/** Skills in any number for measuring: the sample's texts with a share of their words exchanged for other words of the sample. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MadeSkill {
  readonly name: string;
  readonly category: string;
  readonly body: string;
}

interface Sample {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

const WORD = /[A-Za-z]{3,}/g;
const CATEGORIES = 24;

/** 0 ≤ x < 1, the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes `count` skill folders below `root`. `data` is TALARIA_DATA; `exchanged` the share of words that change, 0 to 1. */
export function writeSkills(
  root: string,
  { data, count, exchanged }: { readonly data: string; readonly count: number; readonly exchanged: number },
): readonly MadeSkill[] {
  const samples = readSamples(data);
  const vocabulary = [...new Set(samples.flatMap(({ body }) => body.match(WORD) ?? []))];
  const random = seededRandom(7);
  const exchange = (text: string) =>
    text.replace(WORD, (word) =>
      random() < exchanged ? (vocabulary[Math.floor(random() * vocabulary.length)] ?? word) : word,
    );
  return Array.from({ length: count }, (_, at) => {
    const sample = samples[at % samples.length];
    if (!sample) throw new Error('the sample is empty');
    const made = { name: `${sample.name}-${at}`, category: `category-${at % CATEGORIES}`, body: exchange(sample.body) };
    const folder = join(root, made.category, made.name);
    mkdirSync(folder, { recursive: true });
    const description = JSON.stringify(exchange(sample.description));
    writeFileSync(join(folder, 'SKILL.md'), `---\nname: ${made.name}\ndescription: ${description}\n---\n${made.body}`);
    return made;
  });
}

/** A sentence of the body that says something: eight words or more. Undefined when it has none. */
export function pickSentence(body: string, random: () => number): string | undefined {
  const sentences = body.split(/(?<=[.!?])\s+|\n+/).filter((text) => (text.match(WORD)?.length ?? 0) >= 8);
  return sentences[Math.floor(random() * sentences.length)];
}

function readSamples(data: string): readonly Sample[] {
  const lines = readFileSync(join(data, 'data/skills-sample.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { text, path } = JSON.parse(line) as { text: string; path: string };
    const [, header = '', body = ''] = /^---\r?\n([\s\S]*?)\n---\r?\n([\s\S]*)$/.exec(text) ?? [];
    const description = /^description:[ \t]*(.*)$/m.exec(header)?.[1] ?? '';
    return { name: path.split('/').at(-2) ?? 'skill', description: description.replace(/^["']|["']$/g, ''), body };
  });
}
