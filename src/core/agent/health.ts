// Owns what `doctor` says: one line for each thing that was looked at. Knows no check.

export interface HealthLine {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly text: string;
  /** What a person does about it. */
  readonly fix?: string;
}

/** How a room looks at what it keeps. */
export interface HealthLook {
  /** Mend what can be made again of what is there. */
  readonly repair: boolean;
  /** state.db is there, whole, and may be written; else nobody opens it. */
  readonly mayOpenState: boolean;
}

export function good(name: string, text: string): HealthLine {
  return { name, verdict: 'ok', text };
}

export function warning(name: string, text: string, fix: string): HealthLine {
  return { name, verdict: 'warn', text, fix };
}

export function fault(name: string, text: string, fix: string): HealthLine {
  return { name, verdict: 'fail', text, fix };
}
