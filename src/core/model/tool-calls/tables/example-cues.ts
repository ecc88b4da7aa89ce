/**
 * Owns the phrases that announce an example, a format or a quotation of a call instead of a call. `HARD` ones count
 * before any call without a container, `SOFT` ones only where the call stands inside a line of prose. Data only.
 */

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
