// Owns schemas that are made at their first use: a stand-in for zod that writes down how a schema is put together and does it when somebody
// parses. The bundler puts it in zod's place, so that a start loads no zod. Knows no schema.
// Invariant: what is made late is what would have been made at once; what only looks like building (`meta()`) is asked of the schema itself.

interface Late {
  readonly real: () => object;
  readonly madeOf: () => string | undefined;
}

const lates = new WeakMap<object, Late>();

/** Their answer is a schema again, and making it has no effect. */
const BUILDING: ReadonlySet<string> = new Set(
  (
    'int array optional nullable nullish default prefault catch describe meta min max length nonempty positive nonnegative negative ' +
    'gt gte lt lte multipleOf finite regex startsWith endsWith includes trim toLowerCase toUpperCase url email uuid datetime refine ' +
    'superRefine transform pipe check overwrite strict loose passthrough strip extend safeExtend pick omit partial required readonly ' +
    'brand or and'
  ).split(' '),
);
/** These on the namespace alone: on a schema some of them are data (`enum`). */
const BEGINNING: ReadonlySet<string> = new Set(
  (
    'string number boolean bigint date any unknown never null undefined literal enum tuple object strictObject looseObject record ' +
    'union discriminatedUnion intersection custom preprocess lazy stringbool'
  ).split(' '),
);
const NAMESPACES: ReadonlySet<string> = new Set(['coerce', 'iso']);

/** Stands for `load()`, which is called when something else than building is asked for. */
export function lateSchemas<T extends object>(load: () => T): T {
  return late(load, () => 'z', true) as T;
}

/**
 * How a schema was put together, as a text that is the same for the same schema; undefined for one that was made at once, or of something
 * that no text tells apart. A function counts as its code: that holds within one build of the program, so keep the text with its build,
 * and only for schemas whose functions use constants of their modules or what also stands in the schema (`lenientInput`).
 */
export function madeOf(schema: object): string | undefined {
  return lates.get(schema)?.madeOf();
}

function late(load: () => object, madeFrom: () => string | undefined, isNamespace = false): object {
  let made: object | undefined;
  const real = (): object => {
    made ??= load();
    return made;
  };
  const part = (key: string | symbol): unknown => Reflect.get(real(), key);
  const get = (_: object, key: string | symbol): unknown => {
    if (builds(key, isNamespace)) return (...given: unknown[]) => build(key, given);
    if (isNamespace && NAMESPACES.has(String(key)))
      return late(
        () => part(key) as object,
        () => `${madeFrom()}.${String(key)}`,
        true,
      );
    const value = part(key);
    const isMethod = typeof value === 'function' && !/^[A-Z]/.test(String(key));
    return isMethod ? (...given: unknown[]) => value.apply(real(), given.map(itself)) : value;
  };
  const build = (key: string, given: readonly unknown[]): unknown => {
    const call = (): object => (part(key) as (...given: unknown[]) => object).apply(real(), given.map(realOf));
    if (key === 'meta' && given.length === 0) return call();
    return late(call, () => {
      const [from, texts] = [madeFrom(), listed(given)];
      return from && texts && `${from}.${key}${texts}`;
    });
  };
  const proxy = new Proxy(
    {},
    {
      get,
      has: (_, key) => Reflect.has(real(), key),
      getPrototypeOf: () => Reflect.getPrototypeOf(real()),
    },
  );
  lates.set(proxy, { real, madeOf: madeFrom });
  return proxy;
}

function builds(key: string | symbol, onNamespace: boolean): key is string {
  return typeof key === 'string' && (BUILDING.has(key) || (onNamespace && BEGINNING.has(key)));
}

function itself(value: unknown): unknown {
  return (typeof value === 'object' && value !== null && lates.get(value)?.real()) || value;
}

/** A value with the schemas in it made. What is given by accessors may be recursive and is left to be asked for. */
function realOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const own = lates.get(value);
  if (own) return own.real();
  if (Array.isArray(value)) return value.map(realOf);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, realOf(part)]));
}

function isPlain(value: object): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(Object.getOwnPropertyDescriptors(value)).every(({ get }) => get === undefined);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'symbol') return undefined;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  const own = lates.get(value);
  if (own) return own.madeOf();
  if (Array.isArray(value)) return listed(value);
  if (value instanceof RegExp) return String(value);
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const parts = Object.entries(Object.getOwnPropertyDescriptors(value));
  const texts = listed(parts.flatMap(([key, part]) => [key, part.get ?? part.value]));
  return texts && `{${texts}}`;
}

function listed(values: readonly unknown[]): string | undefined {
  const texts = values.map(textOf);
  return texts.includes(undefined) ? undefined : `[${texts.join(',')}]`;
}
