// Owns the unique key of an event: what the live hooks and a later filling-in from stored sessions both can tell. Pure.

/** `occurrence`: how many calls of the turn had this id before; some providers count anew in each step. */
export function toolEventKey(call: {
  readonly sessionId: string;
  readonly turn: number;
  readonly callId: string;
  readonly occurrence: number;
}): string {
  return JSON.stringify(['tool', call.sessionId, call.turn, call.callId, call.occurrence]);
}

export function turnEventKey(sessionId: string, turn: number): string {
  return JSON.stringify(['turn', sessionId, turn]);
}

export function sessionEventKey(sessionId: string): string {
  return JSON.stringify(['session', sessionId]);
}
