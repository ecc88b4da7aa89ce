// Owns what an ask is executed with, and where one stands when asks nest. Shapes only.
import type { Calls } from '../call/calls.ts';
import type { ContextSource } from '../repl/context-source.ts';
import type { ReplHost, ReplLimits, ReplSession } from '../repl/repl-session.ts';
import type { RunTrace } from '../trace/trace-store.ts';
import type { AskRequest } from './ask-request.ts';

export interface ReplOpening {
  readonly source: ContextSource;
  readonly host: ReplHost;
  readonly limits: ReplLimits;
}

/** What events are told to. */
export type AskTrace = Pick<RunTrace, 'emit'>;

export type OpenRepl = (opening: ReplOpening) => Promise<ReplSession>;

export interface AskParts {
  readonly request: AskRequest;
  /** Stays open: who opened it closes it. */
  readonly source: ContextSource;
  readonly openRepl: OpenRepl;
  readonly trace: RunTrace;
  readonly calls: Calls;
  readonly signal: AbortSignal;
  /** Aborts when the time of the run is over: code that runs then is ended. Absent: it has no end. */
  readonly late?: AbortSignal;
}

/** Where an ask stands among asks. */
export interface AskPlace {
  /** Begin of its call ids: `ask:` or `ask:rlm:003:001/`. */
  readonly prefix: string;
  /** From 1. */
  readonly level: number;
  /** Of its root calls in records; a sub-call is one deeper. */
  readonly depth: number;
  readonly parent_call_id: string | null;
  readonly parent_node_id: string | null;
  /** Event from which it follows. */
  readonly cause: string | null;
}

export const OUTERMOST: AskPlace = {
  prefix: 'ask:',
  level: 1,
  depth: 0,
  parent_call_id: null,
  parent_node_id: null,
  cause: null,
};

/** `ask:root:003`, `ask:sub:003:002`, `ask:rlm:003:001`; an id of a call, and the name of its node. */
export function callId(
  place: AskPlace,
  kind: 'root' | 'sub' | 'rlm' | 'judge',
  numbers: readonly (number | string)[],
): string {
  return `${place.prefix}${[kind, ...numbers.map((one) => (typeof one === 'string' ? one : three(one)))].join(':')}`;
}

export function nodeId(call_id: string): string {
  return `rlm_node_${call_id.replace(/[^a-z0-9]+/g, '_')}`;
}

export function acNodeId(call_id: string): string {
  return `rlm_ac_${call_id.replace(/[^a-z0-9]+/g, '_')}`;
}

function three(value: number): string {
  return String(value).padStart(3, '0');
}
