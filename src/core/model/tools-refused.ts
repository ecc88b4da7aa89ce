// Owns recognising that an endpoint takes no `tools` parameter for a model. Pure.

const TOOLS_REFUSED =
  /(?:does not|doesn't|do not|not) support (?:tools?|function)|tools? (?:is|are|use is) not (?:supported|enabled)|tool.{0,20}(?:unsupported|not supported)|no endpoints found that support tool|enable-auto-tool-choice/i;

/** @param said the endpoint's own words */
export function saysToolsRefused(said: string): boolean {
  return TOOLS_REFUSED.test(said);
}
