// Owns what the owner is told about the peer network: each sentence once, and a failure again only after it worked in between.
// Knows no turn. Invariant: the owner's texts (server, variable, what mends it) go here and never to the model.
import { errorText, TalariaError } from '#base/errors.ts';

export interface Notices {
  say(sentences: readonly string[]): void;
  fails(error: unknown): void;
  works(): void;
}

const MOST = 500;

export function createNotices(warn: (problem: string) => void): Notices {
  const said = new Set<string>();
  let failure = '';
  return {
    say: (sentences) => {
      for (const sentence of sentences) {
        if (said.has(sentence)) continue;
        if (said.size >= MOST) said.clear();
        said.add(sentence);
        warn(sentence);
      }
    },
    fails: (error) => {
      const text = ownerText(error);
      if (text !== failure) warn(text);
      failure = text;
    },
    works: () => {
      failure = '';
    },
  };
}

function ownerText(error: unknown): string {
  const fix = error instanceof TalariaError && error.fix !== undefined ? ` ${error.fix}` : '';
  return `peers: ${errorText(error)}.${fix}`.replace(/\.\.(?= |$)/, '.');
}
