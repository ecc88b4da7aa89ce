import type { TextCall, TextToolSchema } from '#public/tool-calls.ts';

/** The tools that the parser's cases declare, and the shape of a case. */

function tool(name: string, properties: Record<string, unknown>, required: string[] = []): TextToolSchema {
  return {
    type: 'function',
    function: { name, description: `${name} tool`, parameters: { type: 'object', properties, required } },
  };
}

const text = { type: 'string' };
const whole = { type: 'integer' };

export const TOOLS: readonly TextToolSchema[] = [
  tool(
    'get_weather',
    { city: text, days: whole, metric: { type: 'boolean' }, unit: { type: 'string', enum: ['c', 'f'] } },
    ['city'],
  ),
  tool('terminal', { command: text, timeout: whole, env: { type: 'object' } }, ['command']),
  tool('read_file', { path: text, offset: whole, limit: whole }, ['path']),
  tool('write_file', { path: text, content: text }, ['path', 'content']),
  tool('search_files', { pattern: text, paths: { type: 'array', items: text }, limit: { type: ['integer', 'null'] } }),
  tool('web_search', { query: text, max_results: whole }, ['query']),
  tool('get_time', {}),
  tool('math.factorial', { number: whole }, ['number']),
  tool('send-email', { to: { type: 'array' }, subject: text, body: text }),
  tool('set_light', { room: text, on: { type: 'boolean' }, level: { type: 'number' } }),
  tool('create_user', { name: text, age: whole, address: { type: 'object' }, tags: { type: 'array' } }),
  tool('todo', { input: text, items: { type: 'array' } }),
];

/** What is left out is not compared; `calls` is. */
export interface Case {
  readonly title: string;
  readonly text: string;
  readonly calls: readonly TextCall[];
  readonly content?: string;
  readonly reasoning?: string;
  readonly malformed?: readonly string[];
}

/** The cases of so many texts, by their titles, that all mean the same. */
export function giving(expected: Omit<Case, 'title' | 'text'>) {
  return (texts: Readonly<Record<string, string>>): Case[] =>
    Object.entries(texts).map(([title, text]) => ({ title, text, ...expected }));
}

export function call(name: string, args: Record<string, unknown> = {}): TextCall {
  return { name, arguments: args };
}

/** The most frequent expectation. */
export const PARIS: TextCall = call('get_weather', { city: 'Paris' });
export const LONDON: TextCall = call('get_weather', { city: 'London' });
export const LS: TextCall = call('terminal', { command: 'ls -la' });
export const TIME: TextCall = call('get_time');
export const PARIS_JSON = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
export const LONDON_JSON = '{"name": "get_weather", "arguments": {"city": "London"}}';
export const LS_JSON = '{"name": "terminal", "arguments": {"command": "ls -la"}}';
export const TIME_JSON = '{"name": "get_time", "arguments": {}}';
