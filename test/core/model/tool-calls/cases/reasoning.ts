/** Reasoning blocks: nothing inside is a call, whatever closes or does not close them. */
import { type Case, giving, PARIS, PARIS_JSON } from '../tools.ts';

const CALL = `<tool_call>\n${PARIS_JSON}\n</tool_call>`;

export const REASONING: readonly Case[] = [
  ...giving({ calls: [], content: 'Hello.', reasoning: 'Let me see.' })({
    'think, then text': '<think>\nLet me see.\n</think>\n\nHello.',
    'lone closer': 'Let me see.\n</think>\n\nHello.',
  }),
  ...giving({ calls: [PARIS], content: '', reasoning: 'Let me see.' })({
    'think, then call': `<think>\nLet me see.\n</think>\n\n${CALL}`,
  }),
  ...giving({ calls: [], content: 'Hello.', reasoning: '' })({
    'empty, ended by the turn': '<think><|im_end|>Hello.',
    empty: '<think>\n\n</think>\n\nHello.',
    'closer at the start': '</think>\n\nHello.',
  }),
  ...giving({ calls: [], content: 'No call needed.' })({
    'call inside': `<think>\nI could ${CALL}\n</think>\nNo call needed.`,
  }),
  ...giving({ calls: [PARIS], content: '' })({
    'call inside and outside': `<think>\nI will ${CALL}\n</think>\n${CALL}`,
    'fence opened in reasoning': `<think>\n\`\`\`json\n${PARIS_JSON}\n</think>\n${CALL}`,
    'backtick opened in reasoning': `<think>it\`s</think>${CALL}`,
  }),
  { title: 'unclosed', text: `<think>\nI will\n${CALL}`, calls: [], content: '', reasoning: `I will\n${CALL}` },
  { title: 'unclosed, end token', text: '<think>\nI will<|im_end|>', calls: [], content: '', reasoning: 'I will' },
  ...giving({ calls: [PARIS], content: '', reasoning: 'They want Paris.' })({
    'lone closer, then call': `They want Paris.\n</think>\n\n${CALL}`,
  }),
  ...giving({ calls: [], content: 'No.', reasoning: `I might ${CALL} and so on.` })({
    'lone closer after a call': `I might ${CALL} and so on.\n</think>\n\nNo.`,
  }),
  ...giving({ calls: [], content: 'No.' })({
    'lone closer after bare JSON': `${PARIS_JSON}\nis what I would send.\n</think>\nNo.`,
  }),
  { title: 'two closers', text: 'a\n</think>\nb\n</think>\nc', calls: [], content: 'b\n\nc', reasoning: 'a' },
  { title: 'stray closer after a block', text: '<think>a</think>b</think>', calls: [], content: 'b', reasoning: 'a' },
  ...giving({ calls: [PARIS], content: 'First.', reasoning: 'a\n\nb' })({
    'two blocks': `<think>a</think>\nFirst.\n<think>b</think>\n${CALL}`,
  }),
  ...giving({ calls: [], content: 'Hello.', reasoning: 'hm' })({
    thinking: '<thinking>hm</thinking>Hello.',
    reasoning: '<reasoning>\nhm\n</reasoning>\nHello.',
    thought: '<thought>\nhm\n</thought>\nHello.',
    'bracket THINK': '[THINK]hm[/THINK]Hello.',
    'seed:think': '<seed:think>hm</seed:think>Hello.',
    triangles: '◁think▷hm◁/think▷Hello.',
    'lone triangle closer': 'hm◁/think▷Hello.',
    cohere: '<|START_THINKING|>hm<|END_THINKING|>Hello.',
    'channel thought': '<|channel>thought\nhm\n<channel|>Hello.',
    'think after a role token': '<|im_start|>assistant\n<think>\nhm\n</think>\nHello.',
  }),
  ...giving({ calls: [], content: 'Well hello.', reasoning: 'hm' })({
    'in mid-line, closed': 'Well <think>hm</think> hello.',
  }),
  ...giving({ calls: [], content: 'The <think> thing is odd.', reasoning: '' })({
    'in mid-line, not closed': 'The <think> thing is odd.',
  }),
  ...giving({ calls: [], content: 'Models use `<think>` and `</think>` tags.', reasoning: '' })({
    'in inline code': 'Models use `<think>` and `</think>` tags.',
  }),
  ...giving({ calls: [], content: 'See:\n```xml\n<think>a</think>\n```\n', reasoning: '' })({
    'in a code block': 'See:\n```xml\n<think>a</think>\n```\n',
  }),
  ...giving({ calls: [], content: 'Done.' })({
    'python list in reasoning': '<think>\n[get_weather(city="Paris")]\n</think>\nDone.',
  }),
];
