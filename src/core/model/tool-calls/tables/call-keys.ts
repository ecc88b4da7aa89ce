/**
 * Owns the key words of a call written as an object: where its name stands, where its arguments, what is only
 * bookkeeping, and which lists wrap calls. Data only.
 */

/** First match wins. */
export const NAME_KEYS: readonly string[] = [
  'name',
  'tool_name',
  'function_name',
  'tool',
  'function',
  'func',
  'action',
  'recipient_name',
  'toolName',
  'functionName',
  'function_call',
  'tool_call',
  'method',
  'command_name',
  'api_name',
  'api',
  'call',
];

/** First match wins. */
export const ARGUMENT_KEYS: readonly string[] = [
  'arguments',
  'parameters',
  'args',
  'input',
  'params',
  'kwargs',
  'action_input',
  'tool_input',
  'tool_args',
  'function_args',
  'function_arguments',
  'tool_arguments',
  'tool_parameters',
  'argument',
  'parameter',
  'inputs',
  'actionInput',
  'toolInput',
  'keyword_arguments',
  'arguments_json',
  'properties',
];

export const META_KEYS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'index',
  'tool_call_id',
  'call_id',
  'toolCallId',
  'strict',
  'server_name',
  'thought',
  'thoughts',
  'reasoning',
]);

export const LIST_KEYS: readonly string[] = [
  'tool_calls',
  'function_calls',
  'toolCalls',
  'calls',
  'tool_uses',
  'actions',
  'tool_call',
  'function_call',
];

/** Lists that hold calls inside a container, but definitions of tools elsewhere. */
export const LOOSE_LIST_KEYS: readonly string[] = ['functions', 'tools'];

/** Any key that a bare JSON call may begin with. */
export const FIRST_KEYS: ReadonlySet<string> = new Set([...NAME_KEYS, ...ARGUMENT_KEYS, ...META_KEYS, ...LIST_KEYS]);
