/**
 * An engine folder whose module has the shapes that we use of transformers.js, without a model: a token's vector is made from its
 * letters, a pair's logit counts shared words. It keeps what it was asked, and refuses what the real one would.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface FakeCalls {
  readonly loaded: { readonly head: string; readonly folder: string; readonly options: Record<string, unknown> }[];
  readonly runs: { readonly texts: readonly string[]; readonly maxLength: number }[];
  disposed: number;
}

export interface FakeEngineModule {
  readonly calls: FakeCalls;
  readonly env: Readonly<Record<string, unknown>>;
}

const entryOf = (folder: string) =>
  join(folder, 'node_modules', '@huggingface', 'transformers', 'dist', 'transformers.node.mjs');

export function writeFakeEngine(folder: string, source: string = SOURCE): void {
  mkdirSync(dirname(entryOf(folder)), { recursive: true });
  writeFileSync(entryOf(folder), source);
}

export async function fakeEngineModule(folder: string): Promise<FakeEngineModule> {
  return (await import(pathToFileURL(entryOf(folder)).href)) as FakeEngineModule;
}

/** A model folder that the fake engine takes; `text` of the ONNX file `broken` makes it refuse. */
export function writeFakeModel(folder: string, { file = 'onnx/model_quantized.onnx', text = 'weights' } = {}): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  for (const name of ['config.json', 'tokenizer.json', 'tokenizer_config.json'])
    writeFileSync(join(folder, name), '{}');
  writeFileSync(join(folder, file), text);
}

const SOURCE = `
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const calls = { loaded: [], runs: [], disposed: 0 };
export const env = { allowRemoteModels: true, allowLocalModels: true, useFSCache: true, useBrowserCache: true, logLevel: 30 };
export const LogLevel = { NONE: 50 };

const wordsOf = (text) => text.toLowerCase().match(/[\\p{L}\\p{N}]+/gu) ?? ['?'];

export const AutoTokenizer = {
  async from_pretrained(folder) {
    if (!existsSync(join(folder, 'tokenizer.json'))) throw new Error('no tokenizer');
    return (text, options) => {
      const texts = [text, ...(options.text_pair === undefined ? [] : [options.text_pair])];
      calls.runs.push({ texts, maxLength: options.max_length });
      const words = texts.map((one) => wordsOf(one).slice(0, options.max_length));
      const size = words.flat().length;
      return { words, attention_mask: { data: new Array(size).fill(1n), dims: [1, size] } };
    };
  },
};

const vectorOf = (word) => {
  const vector = new Array(32).fill(0);
  let state = 7;
  for (const letter of word) state = (Math.imul(state, 31) + letter.codePointAt(0)) >>> 0;
  for (let at = 0; at < vector.length; at += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    vector[at] = (state >>> 8) / 2 ** 23 - 1;
  }
  return vector;
};

function open(head, run) {
  return {
    async from_pretrained(folder, options) {
      const file = join(folder, options.subfolder, options.model_file_name + '.onnx');
      if (readFileSync(file, 'utf8') === 'broken') throw new Error('not an ONNX file');
      calls.loaded.push({ head, folder, options });
      const runner = async (inputs) => run(inputs.words);
      runner.dispose = async () => { calls.disposed += 1; };
      return runner;
    },
  };
}

export const AutoModel = open('AutoModel', ([words]) => {
  if (words.includes('explode')) throw new Error('out of memory');
  return { last_hidden_state: { data: words.flatMap(vectorOf), dims: [1, words.length, 32] } };
});
export const AutoModelForSequenceClassification = open('AutoModelForSequenceClassification', ([query, text]) => {
  const shared = query.filter((word) => text.includes(word)).length;
  return { logits: { data: [shared * 2 - 3], dims: [1, 1] } };
});
`;
