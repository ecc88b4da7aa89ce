/** A tokenizer of a short list of words, as a model's folder holds one; other words are unknown. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
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
export const VOCABULARY = [...SPECIAL, ...WORDS];

/** `tokenizerClass`: the class that the hub's model names. */
export function writeWordTokenizer(folder: string, tokenizerClass: string): void {
  const write = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));
  const [pad, unknown, start, end, mask] = SPECIAL;
  write('tokenizer_config.json', {
    ...{ tokenizer_class: tokenizerClass, model_max_length: 512, do_lower_case: true },
    ...{ pad_token: pad, unk_token: unknown, cls_token: start, sep_token: end, mask_token: mask },
  });
  write('tokenizer.json', tokenizer());
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
