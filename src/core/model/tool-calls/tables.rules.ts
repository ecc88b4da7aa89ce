// Owns which tag, token and key names mean what over all model families, and the phrases that announce an example, as data. Names are
// normalised by `readTag`: lower case, no pipes or slashes, `▁` as `_`. Does not know how a tag is spelled or where it stands.

export type TagRole = 'call-open' | 'call-close' | 'separator' | 'reasoning' | 'result' | 'turn' | 'noise' | 'none';

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
const nameSet = (text: string): ReadonlySet<string> => new Set(words(text));

/** Containers whose body holds calls; `</…>`, `…|>` and `<|/…|>` of the same name close them. */
const CALL_OPEN = words(`
  tool_call tool_calls toolcall toolcalls tool-call tool-calls function_call function_calls functioncall functioncalls
  function-call tool_use tool_uses tooluse use_tool use_mcp_tool tools tool_code toolcode functions tool_call_start tool_calls_start
  tool_calls_begin tool_call_begin tool_calls_section_begin start_function_call start_action action_start
  function_call_start function_call_begin function_calls_begin longcat_tool_call
  tools_prefix tool_prefix tool_request tool_requests python_tag python_start plugin interpreter invoke_tool tool_invocation
  action_call actions execute_tool call_tool call tool_list_call step_tools begin_tool_call mcp_call m1_tool_calls
  start_tool_call tool_call_request  tool_call_section_begin
`);

const CALL_CLOSE = words(`
  tool_call_end tool_calls_end tool_calls_section_end tool_call_section_end end_function_call end_action action_end
  function_call_end function_calls_end tools_suffix tool_suffix end_tool_request python_end end_tool_call end_tool_calls
`);

/** Tokens that may stand between the parts of one call. */
const SEPARATOR = words(
  'tool_sep tool_call_argument_begin tool_call_argument_end args arguments call_id constrain message role_sep',
);

const REASONING = words(`
  think thinking thought thoughts reasoning reason reflection scratchpad inner_monologue start_thinking
  think_fast think_faster
`);

const RESULT = words(`
  tool_response tool_responses tool_result tool_results tool_output tool_outputs function_response function_responses
  function_result function_results function_output function_outputs observation observations tool_outputs_begin
  tool_output_begin start_function_response start_tool_result tool_call_result tool_call_response result results
  start_tool_response response output code_output execution_result
`);

/** Tokens that begin a turn; the role is inside the token or follows it. */
const TURN = words('im_start start_header_id start_of_turn start_of_role turn start_turn');

const NOISE = words(`
  im_end im_sep eot_id eom_id eot end_of_text endoftext end_of_turn begin_of_text startoftext endofprompt
  end_of_sentence begin_of_sentence eod eos bos pad s end_header_id end_of_role fim_end return end_of_turn_token
  start_of_turn_token chatbot_token start_response end_response start_text end_text gmask sop end_of_document
  end_of_message im_middle begin_of_box end_of_box start_of_message end_of_assistant fin
  end_of_utterance tool_calls_prefix unk inst start_of_image stop
`);

export type Speaker = 'assistant' | 'tool' | 'foreign';

const SPEAKERS: Readonly<Record<Speaker, string>> = {
  assistant: 'assistant model bot',
  foreign: 'user human system developer user_token system_token inst',
  tool: 'tool ipython environment function observation tool_role tool_response',
};

/** Whole tokens (`<|user|>`) that begin somebody's turn. */
export function speakerOf(token: string): Speaker | undefined {
  return (Object.keys(SPEAKERS) as Speaker[]).find((speaker) => words(SPEAKERS[speaker]).includes(token));
}

const ROLES = new Map<string, TagRole>();
const GROUPS = { noise: NOISE, turn: TURN, result: RESULT, reasoning: REASONING, separator: SEPARATOR } as const;
for (const [role, names] of Object.entries({ ...GROUPS, 'call-close': CALL_CLOSE, 'call-open': CALL_OPEN }))
  for (const name of names) ROLES.set(name, role as TagRole);

export function tagRole(name: string): TagRole {
  return ROLES.get(name) ?? 'none';
}

/** Container names that are also everyday markup: a body that is no call is text, not a malformed attempt. */
export const SOFT_CONTAINERS = nameSet(
  'tools functions actions call plugin interpreter tool_code toolcode tools_prefix action_call',
);

// The key words of a call written as an object: where its name stands, where its arguments, what is only bookkeeping, and which lists wrap calls.

/** First match wins. */
export const NAME_KEYS = words(`
  name tool_name function_name tool function func action recipient_name toolName functionName function_call
  tool_call method command_name api_name api call
`);

/** First match wins. */
export const ARGUMENT_KEYS = [
  ...words('arguments parameters args input params kwargs action_input tool_input tool_args function_args'),
  ...words('function_arguments tool_arguments tool_parameters argument parameter inputs actionInput toolInput'),
  ...words('keyword_arguments arguments_json properties'),
];

export const META_KEYS = nameSet(
  'type id index tool_call_id call_id toolCallId strict server_name thought thoughts reasoning',
);

export const LIST_KEYS = words('tool_calls function_calls toolCalls calls tool_uses actions tool_call function_call');

/** Lists that hold calls inside a container, but definitions of tools elsewhere. */
export const LOOSE_LIST_KEYS = words('functions tools');

/** Any key that a bare JSON call may begin with. */
export const FIRST_KEYS = new Set([...NAME_KEYS, ...ARGUMENT_KEYS, ...META_KEYS, ...LIST_KEYS]);

// The names of the elements that calls are written in: the call, its name, its arguments, and wrappers around them.

export const CALL_ELEMENTS = nameSet(
  'function invoke tool call tool_call function_call action use_tool tool_use execute',
);

export const NAME_ELEMENTS = nameSet('name tool_name function_name function tool invoke');

export const PARAMETER_ELEMENTS = nameSet('parameter param arg argument parameters property field');

export const WRAPPER_ELEMENTS = nameSet('parameters arguments args input inputs params tool_input tool_args tool_sep');

/** Attributes of a call element that hold the tool's name. */
export const NAME_ATTRIBUTES = words('name tool_name tool function');

/** Attributes of a parameter element that hold its key. */
export const KEY_ATTRIBUTES = words('name key id');

/** GLM's elements of one argument. */
export const VALUE_ELEMENTS = nameSet('arg_key arg_value');

// The phrases that announce an example, a format or a quotation of a call instead of a call.

export const HARD_CUES: readonly RegExp[] = [
  /\b(?:for (?:example|instance)|e\.g|an? example|examples?:|example (?:call|usage|of|output|response|request|json)|example)\b/i,
  /\blooks? (?:something |roughly |a bit )?like(?: this| so| the following)?\s*:?\s*$/i,
  /\b(?:would|might|could|should|will|may) look (?:something |roughly )?like\b/i,
  /\bsomething like(?: this)?\s*:?\s*$/i,
  /\bsample (?:call|request|output|response|payload|json)\b/i,
  /\b(?:hypothetical|hypothetically|placeholder|pseudo-?code|illustrat\w+)\b/i,
  /\b(?:suppose|imagine|pretend) (?:that|you|the|a|we|i)\b/i,
  /\b(?:never|do not|don't|must not|should not|shouldn't|avoid) (?:write|emit|use|send|output|call|copy|run|do|paste|writing|sending|using|calling)\b/i,
  /\b(?:the|this|following|its|call|json) (?:\w+ )?(?:format|syntax|structure|shape) (?:is|looks|would|for|of)\b/i,
  /\bsyntax\b/i,
  /\b(?:documentation|the docs|readme|specification|tutorial)\b/i,
  /\byou (?:could|would|might) (?:use|call|write|send|emit|invoke|pass|make|do|say)\b/i,
  /\b(?:users?|clients?|developers?|someone|one|people|an? (?:model|agent|assistant|llm)|the (?:model|agent|client|assistant|llm|user)) (?:can|could|would|might|should|must|may|will|emits?|sends?|writes?|outputs?|returns?|produces?)\b/i,
  /\b(?:earlier|previously|last time|yesterday|before that),? (?:i|we|you|it|he|she|they)? ?(?:\w+ )?(?:sent|called|ran|used|emitted|wrote|produced)\b/i,
  /\b(?:log|logs|transcript|trace|history|dump) (?:shows?|contains?|says?|reads?|has|entry|line)\b/i,
  /\b(?:user|you|he|she|they) (?:wrote|said|asked|sent|pasted|typed|quoted)\s*:?\s*$/i,
  /\b(?:response|reply|answer|output|result|server|it|api) (?:returns?|was|is|came back|replied|answers?)(?: with)?\s*:\s*$/i,
  /\b(?:wrong|incorrect|invalid|bad|broken|good|correct|valid)\s*:\s*$/i,
  /\bwould be\s*:\s*$/i,
  /\bhow (?:to|you (?:can|could|would)|one (?:can|would)) (?:call|use|invoke|write|send|make|request)\b/i,
  /^to (?:call|use|invoke|run)\b(?!.*\bI(?:'ll)?\b).*\b(?:respond|write|send|output|emit|reply|type)\b/i,
];

export const SOFT_CUES: readonly RegExp[] = [
  /\byou (?:can|should|may|must|need to|have to|will)\b/i,
  /\b(?:by|when|if|without|instead of|rather than|such as|like) (?:writing|sending|emitting|calling|using|you|a|the|an)\b/i,
  /\b(?:means|equals|equivalent|returns?|contains?|called|named|known as|instead of|such as|like|versus|vs|string|literal|text|key|field|object|config|entry|row|record|schema|template)\s*:?\s*$/i,
];
