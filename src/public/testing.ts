// Owns the entry `talaria/testing`: doubles that fail loudly, for tests of agents and of extensions.
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
  HomeserverFault,
  HomeserverRequest,
  HomeserverWire,
  RoomDraft,
} from '#testing/homeserver/fake-homeserver.ts';
export { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
export { createManualClock, type ManualClock, type ManualClockOptions } from '#testing/manual-clock.ts';
export { createScriptedJudge, type JudgeQuestion, type ScriptedJudge } from '#testing/scripted-judge.ts';
export {
  createScriptedModel,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
} from '#testing/scripted-model.ts';
export { type ScriptedServer, type ScriptedServerOptions, startScriptedServer } from '#testing/scripted-server.ts';
export type { ServerAnswer, ServerCall, ServerFault, ServerRequest, ServerStep } from '#testing/server/server-step.ts';
export type { Teardown } from '#testing/teardown.ts';
export { createTempHome, type TempHome } from '#testing/temp-home.ts';
