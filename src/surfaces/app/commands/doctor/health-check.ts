// Owns the shape of one check of `doctor`. Knows no check.
// Contract: a check changes nothing and never throws for what it is there to find; `fix` says what a person does about it.
export interface HealthLine {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly text: string;
  readonly fix?: string;
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
