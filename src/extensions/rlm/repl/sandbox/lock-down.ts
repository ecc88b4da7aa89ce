// Owns what is taken away and made fast in a fresh sandbox: clock, chance and what tells of the collector are gone, built-in objects are
// frozen. Part of the prelude. Own properties may still be named like those of Object.prototype (`counts['constructor'] = 1`).

export const LOCK_DOWN = `
const gone = (name, why) => {
  const refuse = function () { throw new TypeError(name + ' is not here: ' + why); };
  return freeze(refuse);
};
for (const name of ['performance', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'WebAssembly', 'navigator', 'gc'])
  delete global[name];
const noDate = function () { throw new TypeError('Date is not here: there is no clock'); };
for (const name of ['now', 'parse', 'UTC'])
  defineProperty(noDate, name, { value: gone('Date.' + name, 'there is no clock') });
defineProperty(global, 'Date', { value: freeze(noDate), writable: true, configurable: true });
defineProperty(Math, 'random', { value: gone('Math.random', 'the same code must give the same result') });
for (const name of ['setTimeout', 'setInterval', 'require', 'fetch'])
  defineProperty(global, name, { value: gone(name, 'code here only computes'), writable: true, configurable: true });

const overridable = (owner) => {
  for (const key of getOwnPropertyNames(owner)) {
    const found = Object.getOwnPropertyDescriptor(owner, key);
    if (!found.configurable || !('value' in found)) continue;
    const { value } = found;
    defineProperty(owner, key, {
      get: () => value,
      set(own) {
        if (this === owner) throw new TypeError('built-in objects cannot be changed');
        defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
      },
    });
  }
};
const faults = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError];
overridable(Object.prototype);
for (const { prototype } of faults) overridable(prototype);

const seen = new Set();
const harden = (value) => {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if ((typeof one !== 'object' && typeof one !== 'function') || one === null || one === global || seen.has(one)) continue;
    seen.add(one);
    freeze(one);
    open.push(Object.getPrototypeOf(one));
    for (const key of Reflect.ownKeys(one)) {
      const found = Object.getOwnPropertyDescriptor(one, key);
      open.push(found.value, found.get, found.set);
    }
  }
};
for (const key of getOwnPropertyNames(global)) harden(Object.getOwnPropertyDescriptor(global, key).value);
harden([
  function* () {}, async function () {}, async function* () {}, (function* () {})(), (async function* () {})(),
  [][Symbol.iterator](), ''[Symbol.iterator](), new Map().entries(), new Set().values(), 'a'.matchAll(/a/g),
]);
`;
