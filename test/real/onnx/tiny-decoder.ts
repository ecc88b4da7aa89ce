/**
 * A decoder in the form of the seed's embedding model: it takes positions and the keys of a past, and each token's vector is the sum of
 * the words up to it, so that only the last one stands for the whole text. Its words are a short list; others count nothing.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OnnxInput, type OnnxNode, type OnnxWeights, onnxFile } from './onnx-file.ts';
import { SPECIAL, VOCABULARY, writeWordTokenizer } from './word-tokenizer.ts';

const HEAD = 4;
const PAST = ['key', 'value'] as const;

/** Writes the model's folder as the hub would have it. */
export function writeTinyDecoder(folder: string): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  writeFileSync(join(folder, 'onnx', 'model_quantized.onnx'), decoder());
  const config = {
    ...{ model_type: 'qwen3', architectures: ['Qwen3ForCausalLM'], vocab_size: VOCABULARY.length },
    ...{ hidden_size: VOCABULARY.length, num_hidden_layers: 1, num_attention_heads: 1, num_key_value_heads: 1 },
    head_dim: HEAD,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeWordTokenizer(folder, 'Qwen2Tokenizer');
}

function decoder(): Buffer {
  const size = VOCABULARY.length;
  const weights: readonly OnnxWeights[] = [
    {
      ...{ name: 'words', element: 'float', shape: [size, size] },
      values: Array.from({ length: size * size }, (_, at) => {
        const [row, column] = [Math.floor(at / size), at % size];
        return row === column && row >= SPECIAL.length ? 1 : 0;
      }),
    },
    { name: 'along', element: 'int64', shape: [], values: [1] },
  ];
  const nodes: readonly OnnxNode[] = [
    { operator: 'Gather', inputs: ['words', 'input_ids'], output: 'hidden' },
    { operator: 'CumSum', inputs: ['hidden', 'along'], output: 'last_hidden_state' },
    ...PAST.map((part) => ({
      ...{ operator: 'Identity', inputs: [`past_key_values.0.${part}`], output: `present.0.${part}` },
    })),
  ];
  const tokens = (name: string): OnnxInput => ({ name, element: 'int64', shape: ['batch', 'sequence'] });
  const cache = (name: string): OnnxInput => ({ name, element: 'float', shape: ['batch', 1, 'past', HEAD] });
  return onnxFile({
    inputs: [
      ...['input_ids', 'attention_mask', 'position_ids'].map(tokens),
      ...PAST.map((part) => cache(`past_key_values.0.${part}`)),
    ],
    outputs: [
      { name: 'last_hidden_state', element: 'float', shape: ['batch', 'sequence', size] },
      ...PAST.map((part) => cache(`present.0.${part}`)),
    ],
    ...{ weights, nodes },
  });
}
