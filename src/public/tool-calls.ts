/** Public entry `talaria/tool-calls`: the text tool-call parser, whole and streaming. */

export type {
  MalformedCall,
  MalformedReason,
  ParsedText,
  TextCall,
  TextCallEvent,
  TextCallParser,
  TextToolSchema,
} from '#core/model/tool-calls/call-of-value.ts';
export {
  collectTextCalls,
  createTextCallParser,
  parseTextCalls,
  parseTextToolCalls,
} from '#core/model/tool-calls/text-call-parser.ts';
