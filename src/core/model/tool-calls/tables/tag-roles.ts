/**
 * Owns which tag and token names mean what, over all model families, as data. Names are normalised by `readTag`: lower
 * case, no pipes or slashes, `▁` as `_`. Does not know how a tag is spelled or where it stands.
 */

export type TagRole = 'call-open' | 'call-close' | 'separator' | 'reasoning' | 'result' | 'turn' | 'noise' | 'none';

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

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
const SEPARATOR = words(`
  tool_sep tool_call_argument_begin tool_call_argument_end args arguments call_id constrain message role_sep
`);

const REASONING: readonly string[] = words(`
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

/** Whole tokens (`<|user|>`) that begin somebody's turn. */
export const ROLE_TOKENS: Readonly<Record<string, 'assistant' | 'tool' | 'foreign'>> = {
  assistant: 'assistant',
  model: 'assistant',
  bot: 'assistant',
  user: 'foreign',
  human: 'foreign',
  system: 'foreign',
  developer: 'foreign',
  user_token: 'foreign',
  system_token: 'foreign',
  inst: 'foreign',
  tool: 'tool',
  ipython: 'tool',
  environment: 'tool',
  function: 'tool',
  observation: 'tool',
  tool_role: 'tool',
  tool_response: 'tool',
};

const ROLES = new Map<string, TagRole>();
const GROUPS: readonly (readonly [TagRole, readonly string[]])[] = [
  ['noise', NOISE],
  ['turn', TURN],
  ['result', RESULT],
  ['reasoning', REASONING],
  ['separator', SEPARATOR],
  ['call-close', CALL_CLOSE],
  ['call-open', CALL_OPEN],
];
for (const [role, names] of GROUPS) for (const name of names) ROLES.set(name, role);

export function tagRole(name: string): TagRole {
  return ROLES.get(name) ?? 'none';
}

/** Container names that are also everyday markup: a body that is no call is text, not a malformed attempt. */
export const SOFT_CONTAINERS: ReadonlySet<string> = new Set(
  words('tools functions actions call plugin interpreter tool_code toolcode tools_prefix action_call'),
);
