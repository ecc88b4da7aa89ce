/** Public entry `talaria/tool-calls`: the text tool-call parser, whole and streaming. */
export { collectTextCalls, parseTextCalls, parseTextToolCalls } from '#core/model/tool-calls/parse-text-tool-calls.ts';
export type {
  MalformedCall,
  MalformedReason,
  ParsedText,
  TextCall,
  TextCallEvent,
  TextToolSchema,
} from '#core/model/tool-calls/text-call.ts';
export { createTextCallParser, type TextCallParser } from '#core/model/tool-calls/text-call-parser.ts';
