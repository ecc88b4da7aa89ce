/**
 * A cross-encoder of two layers, written by hand: it takes what BERT takes and gives one logit. The first layer attends from each
 * word of one text to the words of the other and keeps the best match; the second one adds up how much of the query was found and
 * weighs it. Its words are a short list; others are unknown and match nothing.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OnnxNode, type OnnxWeights, onnxFile } from './onnx-file.ts';
import { SPECIAL, VOCABULARY, writeWordTokenizer } from './word-tokenizer.ts';

/** Writes the model's folder as the hub would have it. */
export function writeTinyCrossEncoder(folder: string): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const write = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));
  writeFileSync(join(folder, 'onnx', 'model_quantized.onnx'), crossEncoder());
  write('config.json', {
    ...{ model_type: 'bert', architectures: ['BertForSequenceClassification'], vocab_size: VOCABULARY.length },
    ...{ hidden_size: VOCABULARY.length, num_hidden_layers: 2, num_attention_heads: 1, id2label: { 0: 'LABEL_0' } },
  });
  writeWordTokenizer(folder, 'BertTokenizer');
}

function crossEncoder(): Buffer {
  const size = VOCABULARY.length;
  const isWord = (at: number) => at >= SPECIAL.length;
  const weights: readonly OnnxWeights[] = [
    // Each word has its own direction; what is no word has none.
    {
      ...{ name: 'words', element: 'float', shape: [size, size] },
      values: Array.from({ length: size * size }, (_, at) => {
        const [row, column] = [Math.floor(at / size), at % size];
        return row === column && isWord(row) ? 1 : 0;
      }),
    },
    { name: 'first', element: 'int64', shape: [1], values: [1] },
    { name: 'second', element: 'int64', shape: [1], values: [2] },
    { name: 'one', element: 'float', shape: [1], values: [1] },
    { name: 'dense', element: 'float', shape: [1, 1], values: [2.5] },
    { name: 'bias', element: 'float', shape: [1], values: [-2] },
  ];
  const nodes: readonly OnnxNode[] = [
    { operator: 'Gather', inputs: ['words', 'input_ids'], output: 'hidden' },
    { operator: 'Cast', inputs: ['token_type_ids'], output: 'segment', attributes: { to: 1 } },
    { operator: 'Cast', inputs: ['attention_mask'], output: 'read', attributes: { to: 1 } },
    // Layer 1: attention to the other segment.
    { operator: 'Transpose', inputs: ['hidden'], output: 'keys', attributes: { perm: [0, 2, 1] } },
    { operator: 'MatMul', inputs: ['hidden', 'keys'], output: 'likeness' },
    { operator: 'Unsqueeze', inputs: ['segment', 'second'], output: 'asking' },
    { operator: 'Unsqueeze', inputs: ['segment', 'first'], output: 'asked' },
    { operator: 'Sub', inputs: ['asking', 'asked'], output: 'difference' },
    { operator: 'Abs', inputs: ['difference'], output: 'other' },
    { operator: 'Mul', inputs: ['likeness', 'other'], output: 'attended' },
    { operator: 'ReduceMax', inputs: ['attended'], output: 'found', attributes: { axes: [2], keepdims: 0 } },
    // Layer 2: the query's share, weighed.
    { operator: 'Sub', inputs: ['one', 'segment'], output: 'query' },
    { operator: 'Mul', inputs: ['found', 'query'], output: 'foundInQuery' },
    { operator: 'Mul', inputs: ['foundInQuery', 'read'], output: 'counted' },
    { operator: 'ReduceSum', inputs: ['counted', 'first'], output: 'sum', attributes: { keepdims: 1 } },
    { operator: 'MatMul', inputs: ['sum', 'dense'], output: 'weighed' },
    { operator: 'Add', inputs: ['weighed', 'bias'], output: 'logits' },
  ];
  const input = (name: string) => ({ name, element: 'int64', shape: ['batch', 'sequence'] }) as const;
  return onnxFile({
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map(input),
    outputs: [{ name: 'logits', element: 'float', shape: ['batch', 1] }],
    ...{ weights, nodes },
  });
}
