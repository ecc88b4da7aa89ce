/**
 * Owns the names of the elements that calls are written in: the call, its name, its arguments, and wrappers around them.
 * Names are normalised by `readTag`. Data only.
 */

export const CALL_ELEMENTS: ReadonlySet<string> = new Set([
  'function',
  'invoke',
  'tool',
  'call',
  'tool_call',
  'function_call',
  'action',
  'use_tool',
  'tool_use',
  'execute',
]);

export const NAME_ELEMENTS: ReadonlySet<string> = new Set([
  'name',
  'tool_name',
  'function_name',
  'function',
  'tool',
  'invoke',
]);

export const PARAMETER_ELEMENTS: ReadonlySet<string> = new Set([
  'parameter',
  'param',
  'arg',
  'argument',
  'parameters',
  'property',
  'field',
]);

export const WRAPPER_ELEMENTS: ReadonlySet<string> = new Set([
  'parameters',
  'arguments',
  'args',
  'input',
  'inputs',
  'params',
  'tool_input',
  'tool_args',
  'tool_sep',
]);

/** Attributes of a call element that hold the tool's name. */
export const NAME_ATTRIBUTES: readonly string[] = ['name', 'tool_name', 'tool', 'function'];

/** Attributes of a parameter element that hold its key. */
export const KEY_ATTRIBUTES: readonly string[] = ['name', 'key', 'id'];

/** GLM's elements of one argument. */
export function isValueElement(name: string): boolean {
  return name === 'arg_key' || name === 'arg_value';
}
