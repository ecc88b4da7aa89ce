// Owns the entry `talaria`: what an embedding program needs to open a home, talk, listen, and bring tools, hooks and models.
export { TalariaError } from '#base/errors.ts';
export type { JsonObject, JsonValue } from '#base/json.ts';
export { ok, type Result, refuse } from '#base/result.ts';
export {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  type Asker,
  absentAsker,
  denyingApprover,
  type Question,
} from '#core/agent/approver.ts';
export { type AnyCommand, type CommandOutput, type CommandSpec, defineCommand } from '#core/agent/command-spec.ts';
export type { Hooks, SessionInfo, ToolVerdict, TurnInfo } from '#core/agent/hooks.ts';
export type {
  MemoryAudience,
  MemoryProvider,
  MemorySession,
  MemoryWriteNotice,
} from '#core/agent/memory-provider.ts';
export type { Ground, Job, OpenRoom, Room, RoomGround } from '#core/agent/room.ts';
export { type AnyTool, defineTool, type Risk, type Tool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
export type { SessionEvent, TurnError, TurnEvent, TurnOutcome } from '#core/agent/turn-event.ts';
export type { ImagePart, Message, Part, TextPart } from '#core/model/message.ts';
export type { ModelClient, ModelEvent, ModelRequest, Usage } from '#core/model/model-client.ts';
export type { SearchHit } from '#mind/sessions/search/message-search.ts';
export type { ModelInfo } from '#surfaces/app/app.ts';
export {
  openTalaria,
  type Talaria,
  type TalariaExtras,
  type TalariaOptions,
  type Talk,
  type TalkOptions,
  type TurnResult,
} from '#surfaces/app/embed.ts';
