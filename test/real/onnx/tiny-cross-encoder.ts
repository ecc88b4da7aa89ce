/**
 * A cross-encoder of two layers, written by hand: it takes what BERT takes and gives one logit. The first layer attends from each
 * word of one text to the words of the other and keeps the best match; the second one adds up how much of the query was found and
 * weighs it. Its words are a short list; others are unknown and match nothing.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OnnxNode, type OnnxWeights, onnxFile } from './onnx-file.ts';

const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const WORDS = [
  'restart',
  'gateway',
  'service',
  'log',
  'bake',
  'bread',
  'oven',
  'deploy',
  'release',
  'table',
  'csv',
  'import',
];
const VOCABULARY = [...SPECIAL, ...WORDS];

/** Writes the model's folder as the hub would have it. */
export function writeTinyCrossEncoder(folder: string): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const write = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));
  writeFileSync(join(folder, 'onnx', 'model.onnx'), crossEncoder());
  write('config.json', {
    ...{ model_type: 'bert', architectures: ['BertForSequenceClassification'], vocab_size: VOCABULARY.length },
    ...{ hidden_size: VOCABULARY.length, num_hidden_layers: 2, num_attention_heads: 1, id2label: { 0: 'LABEL_0' } },
  });
  const [pad, unknown, start, end, mask] = SPECIAL;
  write('tokenizer_config.json', {
    ...{ tokenizer_class: 'BertTokenizer', model_max_length: 512, do_lower_case: true },
    ...{ pad_token: pad, unk_token: unknown, cls_token: start, sep_token: end, mask_token: mask },
  });
  write('tokenizer.json', tokenizer());
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

function tokenizer(): object {
  const special = (content: string, id: number) => ({
    ...{ id, content, special: true, single_word: false },
    ...{ lstrip: false, rstrip: false, normalized: false },
  });
  const mark = (id: string, type: number) => ({ SpecialToken: { id, type_id: type } });
  const part = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  const ids = (content: string) => ({ id: content, ids: [SPECIAL.indexOf(content)], tokens: [content] });
  return {
    ...{ version: '1.0', truncation: null, padding: null, added_tokens: SPECIAL.map(special) },
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [mark('[CLS]', 0), part('A', 0), mark('[SEP]', 0)],
      pair: [mark('[CLS]', 0), part('A', 0), mark('[SEP]', 0), part('B', 1), mark('[SEP]', 1)],
      special_tokens: { '[CLS]': ids('[CLS]'), '[SEP]': ids('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
      vocab: Object.fromEntries(VOCABULARY.map((word, at) => [word, at])),
    },
  };
}
