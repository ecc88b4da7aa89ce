// Owns schemas that are made at their first use: a stand-in for zod that writes down how a schema is put together and does it when somebody
// parses. The bundler puts it in zod's place, so that a start loads no zod. Knows no schema.
// Invariant: what is made late is what would have been made at once; what only looks like building (`meta()`) is asked of the schema itself.

interface Late {
  readonly real: () => object;
  readonly madeOf: () => string;
}

const lates = new WeakMap<object, Late>();

/** Their answer is a schema again, or a namespace of such functions, and making it has no effect. */
const BUILDING: ReadonlySet<string> = new Set(
  (
    'string number boolean int bigint date any unknown never null undefined literal enum array tuple object strictObject looseObject record ' +
    'union discriminatedUnion intersection custom preprocess lazy stringbool optional nullable nullish default prefault catch describe meta ' +
    'min max length nonempty positive nonnegative negative gt gte lt lte multipleOf finite regex startsWith endsWith includes trim ' +
    'toLowerCase toUpperCase url email uuid datetime refine superRefine transform pipe check overwrite strict loose passthrough strip ' +
    'extend safeExtend pick omit partial required readonly brand or and'
  ).split(' '),
);
const NAMESPACES: ReadonlySet<string> = new Set(['coerce', 'iso']);

/** Stands for `load()`, which is called when something else than building is asked for. */
export function lateSchemas<T extends object>(load: () => T): T {
  return late(load, () => 'z') as T;
}

/** How a schema was put together, as a text that is the same for the same schema; undefined for one that was made at once. */
export function madeOf(schema: object): string | undefined {
  return lates.get(schema)?.madeOf();
}

function late(load: () => object, madeFrom: () => string): object {
  let made: object | undefined;
  const real = (): object => {
    made ??= load();
    return made;
  };
  const part = (key: string | symbol): unknown => Reflect.get(real(), key);
  const get = (_: object, key: string | symbol): unknown => {
    if (typeof key === 'string') {
      if (NAMESPACES.has(key))
        return late(
          () => part(key) as object,
          () => `${madeFrom()}.${key}`,
        );
      if (BUILDING.has(key)) return (...given: unknown[]) => build(key, given);
    }
    const value = part(key);
    const isMethod = typeof value === 'function' && !/^[A-Z]/.test(String(key));
    return isMethod ? (...given: unknown[]) => value.apply(real(), given.map(itself)) : value;
  };
  const build = (key: string, given: readonly unknown[]): unknown => {
    const call = (): object => (part(key) as (...given: unknown[]) => object).apply(real(), given.map(realOf));
    if (key === 'meta' && given.length === 0) return call();
    return late(call, () => `${madeFrom()}.${key}(${given.map(textOf).join(',')})`);
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

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const own = lates.get(value);
  if (own) return own.madeOf();
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (value instanceof RegExp) return String(value);
  const parts = Object.entries(Object.getOwnPropertyDescriptors(value));
  return `{${parts.map(([key, part]) => `${JSON.stringify(key)}:${textOf(part.get ?? part.value)}`).join(',')}}`;
}
