// Owns the names of the provider library's types that our code uses, taken from its public function.
// Invariant: types only; importing this file loads nothing.
import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';

export type SdkModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>;
export type SdkCallOptions = Parameters<SdkModel['doStream']>[0];
export type SdkPrompt = SdkCallOptions['prompt'];
export type SdkMessage = SdkPrompt[number];
export type SdkAssistantPart = Extract<SdkMessage, { role: 'assistant' }>['content'][number];
export type SdkTools = NonNullable<SdkCallOptions['tools']>;
export type SdkStream = Awaited<ReturnType<SdkModel['doStream']>>['stream'];
export type SdkStreamPart = SdkStream extends ReadableStream<infer Part> ? Part : never;
export type SdkFinish = Extract<SdkStreamPart, { type: 'finish' }>;
