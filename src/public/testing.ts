// Owns the entry `talaria/testing`: doubles that fail loudly, for tests of agents and of extensions.

export {
  type FakeTelegram,
  type FakeTelegramOptions,
  startFakeTelegram,
  type TelegramFault,
  type TelegramShown,
  type TelegramWriter,
} from '#testing/fake-telegram.ts';
export {
  createFaults,
  type FaultPlan,
  type FaultRun,
  type FaultScenario,
  type Faults,
  failEachOperation,
} from '#testing/faults.ts';
export type {
  EventDraft,
  FakeHomeserver,
  FakeHomeserverOptions,
  HomeserverAccount,
  HomeserverDoors,
  HomeserverWire,
  RoomDraft,
} from '#testing/homeserver/fake-homeserver.ts';
export { startFakeHomeserver } from '#testing/homeserver/fake-homeserver.ts';
export type { HomeserverFault, HomeserverRequest } from '#testing/homeserver/listener.ts';
export { createManualClock, type ManualClock, type ManualClockOptions } from '#testing/manual-clock.ts';
export { MemoryChannel, type ShownPiece } from '#testing/memory-channel.ts';
export {
  createScriptedJudge,
  createScriptedModel,
  type JudgeQuestion,
  type ScriptedCall,
  type ScriptedJudge,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
} from '#testing/scripted-model.ts';
export type { ServerAnswer, ServerCall, ServerFault, ServerRequest, ServerStep } from '#testing/scripted-server.ts';
export { type ScriptedServer, type ScriptedServerOptions, startScriptedServer } from '#testing/scripted-server.ts';
export { createTempHome, type Teardown, type TempHome } from '#testing/temp-home.ts';
