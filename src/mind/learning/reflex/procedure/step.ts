// Owns what one step of a recorded procedure is: the call that it makes, or words that only a person or a model can follow. Plain data.
import type { JsonObject } from '#base/json.ts';

export interface CallStep {
  readonly kind: 'call';
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface WordStep {
  readonly kind: 'words';
  readonly text: string;
}

export type Step = CallStep | WordStep;

/** `{host}` in any text of a step; `${HOME}` and what programs use in braces is none. */
const PARAMETER = /(?<![$\w'])\{([a-z][a-z0-9_-]{0,40})\}/g;

export function parametersOf(steps: readonly Step[]): readonly string[] {
  const names = steps.flatMap((step) => (step.kind === 'call' ? namesIn(step.arguments) : []));
  return [...new Set(names)];
}

export function fillStep(step: CallStep, values: Readonly<Record<string, string>>): CallStep {
  const filled = Object.entries(step.arguments).map(([key, value]) => [
    key,
    typeof value === 'string'
      ? value.replace(PARAMETER, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : whole))
      : value,
  ]);
  return { ...step, arguments: Object.fromEntries(filled) as JsonObject };
}

function namesIn(data: JsonObject): readonly string[] {
  return Object.values(data).flatMap((value) =>
    typeof value === 'string' ? [...value.matchAll(PARAMETER)].map(([, name = '']) => name) : [],
  );
}
