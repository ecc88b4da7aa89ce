// Owns the JavaScript that stands in a fresh sandbox before the code of a model: the API of repl-api.ts over one host function of two texts.
// It is text, not code of ours: it runs inside. It keeps what it needs, so that code which tampers with names breaks only itself.
// Invariant: nothing crosses but JSON as text; no object of the host is ever inside, and none from inside is looked at outside.

const LOCK_DOWN = `
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

/** An expression: a function of `(host, config)` that sets the API up and gives what the host calls. */
export const PRELUDE = String.raw`(function (host, configText) {
'use strict';
const { parse, stringify } = JSON;
const { create, freeze, defineProperty, getOwnPropertyNames } = Object;
const { isArray } = Array;
const { isSafeInteger, isFinite } = Number;
const sourceOf = Function.prototype.call.bind(Function.prototype.toString);
const global = globalThis;
const settle = Promise;
const all = Promise.all.bind(Promise);
const Weak = WeakMap, Table = Map, Pattern = RegExp, Text = String, Fault = Error, lineEnd = /\r\n|\n|\r/g;
const config = parse(configText);
class SubCallLimit extends Fault { get name() { return 'SubCallLimit'; } }
const kinds = { __proto__: null, TypeError, RangeError, Error: Fault, SubCallLimit };

const ask = (op, args) => {
  const reply = parse(host(op, stringify(args)));
  if (reply.e) throw new kinds[reply.e[0]](reply.e[1]);
  return reply.v;
};
const whole = (value, name) => {
  if (typeof value !== 'number' || !isFinite(value)) throw new TypeError(name + ' must be a number');
  return value < 0 ? 0 : isSafeInteger(value) ? value : value > 9e15 ? 9e15 : value - (value % 1);
};
const optional = (value, name, otherwise) => (value === undefined || value === null ? otherwise : whole(value, name));

const genuine = new Weak();
const handleKind = freeze({
  toString() { return '[' + this.id + ']'; },
  toJSON() { return { id: this.id, kind: this.kind, text: this.text }; },
});
const handleOf = (fields) => {
  const made = create(handleKind);
  for (const key of ['id', 'kind', 'text', 'start', 'end'])
    if (fields[key] !== undefined) defineProperty(made, key, { value: fields[key], enumerable: true });
  if (fields.text === undefined) defineProperty(made, 'text', { get: () => ask('text', [fields.id]), enumerable: true });
  if (fields.kind === 'computed') defineProperty(made, 'value', { value: parse(fields.text), enumerable: true });
  genuine.set(made, fields.id);
  return freeze(made);
};
const isObject = (value) => typeof value === 'object' && value !== null;
const idOf = (value) => (isObject(value) ? genuine.get(value) : undefined);
const isRange = (value) => isObject(value) && typeof value.start === 'number' && typeof value.end === 'number';

const contextApi = () => {
  const hit = (found) => freeze(found);
  const searchText = (text, from, max) => {
    const reply = ask('searchText', [text, from, max]);
    return { hits: reply.hits.map(hit), more: reply.more };
  };
  const bounds = (text) => {
    const list = [];
    let at = 0;
    if (text.includes('\r'))
      for (let found = lineEnd.exec(text); found !== null; found = lineEnd.exec(text)) {
        list.push([at, found.index]);
        at = found.index + found[0].length;
      }
    else
      for (let next = text.indexOf('\n'); next >= 0; next = text.indexOf('\n', at)) {
        list.push([at, next]);
        at = next + 1;
      }
    if (at < text.length) list.push([at, text.length]);
    return list;
  };
  const matchesIn = (page, pattern, from, max, hits) => {
    for (const [start, end] of page.whole ? bounds(page.text) : [[0, page.text.length]]) {
      const line = page.text.slice(start, end);
      pattern.lastIndex = 0;
      for (let found = pattern.exec(line); found !== null; found = pattern.exec(line)) {
        if (found.index >= page.keep) break;
        const one = ask('match', [page.start, page.end, start + found.index, start + found.index + found[0].length]);
        if (one.at >= from && hits.length >= max) return true;
        if (one.at >= from) hits.push(hit(one));
        if (found[0] === '') break;
      }
    }
    return false;
  };
  const prefixOf = ({ source, flags }) => {
    if (flags.includes('i') || source.includes('|')) return null;
    const plain = /^[A-Za-z0-9 _,:;<>#-]*/.exec(source)[0];
    const kept = /[*+?{]/.test(source.charAt(plain.length)) ? plain.slice(0, -1) : plain;
    return kept.length < 2 ? null : kept;
  };
  const searchPattern = (given, from, max) => {
    const pattern = new Pattern(given.source, given.flags.replace(/[gy]/g, '') + 'g');
    const hits = [];
    const prefix = prefixOf(pattern);
    for (let next = from; next >= 0; ) {
      const page = ask('page', [next, prefix]);
      if (page === null) break;
      if (matchesIn(page, pattern, from, max, hits)) return { hits, more: true };
      next = page.next;
    }
    return { hits, more: false };
  };
  const api = {
    slice(start, end) { return ask('slice', [whole(start, 'start'), optional(end, 'end', config.length)]); },
    line(number) { return ask('lines', [whole(number, 'line'), whole(number, 'line')]); },
    lines(first, last) { return ask('lines', [whole(first, 'first'), optional(last, 'last', first)]); },
    lineRange(first, last) { return freeze(ask('lineRange', [whole(first, 'first'), optional(last, 'last', first)])); },
    lineAt(byte) { return ask('lineAt', [whole(byte, 'byte')]); },
    find(text, from) { return ask('find', [Text(text), optional(from, 'from', 0)]); },
    search(pattern, options) {
      const max = optional(options?.max, 'max', 100), from = optional(options?.from, 'from', 0);
      const reply = typeof pattern === 'string' ? searchText(pattern, from, max) : searchPattern(pattern, from, max);
      defineProperty(reply.hits, 'more', { value: reply.more });
      return reply.hits;
    },
    *chunks(options) {
      const size = { lines: optional(options?.lines, 'lines', null), bytes: optional(options?.bytes, 'bytes', null), overlap: optional(options?.overlap, 'overlap', 0) };
      for (let next = 0; next >= 0; ) {
        const chunk = ask('chunk', [next, size.lines, size.bytes, size.overlap]);
        if (chunk === null) return;
        next = chunk.next;
        yield freeze({ start: chunk.start, end: chunk.end, startLine: chunk.startLine, endLine: chunk.endLine });
      }
    },
    toString() { return '[context of ' + config.length + ' bytes]'; },
  };
  for (const [key, value] of [['length', config.length], ['lineCount', config.lineCount], ['files', freeze(config.files.map(freeze))]])
    defineProperty(api, key, { value, enumerable: true });
  for (const key of getOwnPropertyNames(api)) if (typeof api[key] === 'function') freeze(api[key]);
  return freeze(api);
};
const context = config.context ? contextApi() : undefined;

const span = (start, end) => {
  if (isRange(start)) return span(start.start, start.end);
  return handleOf(ask('span', [whole(start, 'start'), whole(end, 'end')]));
};
const show = (value) => {
  if (typeof value === 'string') return value;
  if (typeof value === 'function') return '[function ' + value.name + ']';
  if (!isObject(value)) return typeof value === 'bigint' ? Text(value) + 'n' : Text(value);
  if (idOf(value) !== undefined) return '[' + idOf(value) + '] ' + value.text;
  if (value instanceof Fault) return Text(value.name) + ': ' + Text(value.message);
  if (value instanceof Table || value instanceof Set) return show([...value]);
  try {
    return stringify(value, (key, inner) => (typeof inner === 'bigint' ? Text(inner) : inner)) ?? Text(value);
  } catch (error) {
    return '[cannot be shown: ' + Text(error?.message) + ']';
  }
};
const print = (...values) => {
  const text = values.map(show).join(' ');
  ask('print', [text.slice(0, config.print), text.length]);
};

const waiting = new Table();
const pieceOf = (piece) => {
  if (piece === undefined || piece === null) return [null, null];
  if (typeof piece === 'string') return [piece, null];
  const id = idOf(piece);
  if (id !== undefined) return [null, id];
  if (isRange(piece)) return [null, span(piece).id];
  throw new TypeError('a piece is a handle, a chunk, a hit or a text');
};
const valueOf = (said) => {
  const [, fenced] = /^\s*\x60{3}\w*\s([^]*?)\x60{3}\s*$/.exec(said) ?? [];
  try {
    return parse(fenced ?? said);
  } catch {
    return said;
  }
};
const replyOf = (ok, said, claims) => {
  const reply = { ok, text: said, claims: freeze(claims), toString() { return said; } };
  return freeze(defineProperty(reply, 'value', { value: valueOf(said), enumerable: true }));
};
const modelOf = (options) => (isObject(options) && options.model !== undefined ? Text(options.model) : null);
const send = (kind, list) => {
  const asked = list.map(([question, piece, options]) => [Text(question), ...pieceOf(piece), modelOf(options)]);
  const orders = ask('query', [kind, asked]);
  const made = orders.map((order) => new settle((resolve) => waiting.set(order, resolve)));
  return [...made, ...asked.slice(orders.length).map(() => replyOf(false, 'not asked: no sub-call was left', []))];
};
const deliver = (order, text) => {
  const { ok, text: said, claims } = parse(text);
  const resolve = waiting.get(order);
  waiting.delete(order);
  resolve(replyOf(ok, said, claims.map(handleOf)));
};
const batch = async (queries) => {
  if (!isArray(queries)) throw new TypeError('llmQueryBatched takes a list of {question, piece}');
  return all(send('llm', queries.map((one) => [one?.question, one?.piece, one])));
};
/** A range that is too long for one handle goes to several models, each over a part. */
const partsOf = (piece) => {
  const whole = piece === context ? { start: 0, end: config.length } : piece;
  if (idOf(whole) !== undefined || !isRange(whole) || whole.end - whole.start <= config.span) return [whole];
  const parts = [];
  for (let next = whole.start; next >= 0 && next < whole.end; ) {
    const chunk = ask('chunk', [next, null, config.span, 0]);
    if (chunk === null) break;
    parts.push({ start: chunk.start, end: chunk.end < whole.end ? chunk.end : whole.end });
    next = chunk.next;
  }
  return parts;
};
const nested = async (question, piece, options) => {
  const replies = await all(send('rlm', partsOf(piece).map((part) => [question, part, options])));
  if (replies.length === 1) return replies[0];
  const said = replies.filter((reply) => reply.ok).map((reply) => reply.text).join('\n');
  return replyOf(said !== '', said, replies.flatMap((reply) => [...reply.claims]));
};

const compute = (code, ...inputs) => {
  const source = typeof code === 'function' ? sourceOf(code) : Text(code);
  const ids = inputs.map((input) => {
    if (input === context) return 'context';
    const id = idOf(input) ?? (isRange(input) ? span(input).id : undefined);
    if (id === undefined) throw new TypeError('inputs of compute are handles, ranges or context');
    return id;
  });
  return handleOf(ask('compute', [source, ids]));
};
const idText = (value) => idOf(value) ?? (isRange(value) ? span(value).id : Text(value));
const partOf = (part) => {
  if (!isObject(part)) return [Text(part), []];
  if (part.text === undefined) throw new TypeError('a part of the answer is {text, handles}');
  const given = part.handles ?? part.handle ?? [];
  return [Text(part.text), (isArray(given) ? given : [given]).map(idText)];
};
const finish = (answer) => {
  if (answer === undefined || answer === null) throw new TypeError('finish takes the answer');
  const list = isArray(answer) ? answer : [answer];
  ask('finish', list.map(partOf));
};

const api = config.full !== true ? {} : {
  context, print, span, compute, finish,
  console: freeze({ log: print, info: print, warn: print, error: print }),
  handle: (id) => handleOf(ask('handle', [Text(id)])),
  llmQuery: async (question, piece, options) => send('llm', [[question, piece, options]])[0],
  llmQueryBatched: batch,
  rlmQuery: nested,
};
${LOCK_DOWN}
for (const key of getOwnPropertyNames(api)) {
  const value = freeze(api[key]);
  defineProperty(global, key, {
    get: () => value,
    set() { throw new TypeError(key + ' is part of the API: take another name'); },
  });
}
const before = new Set(getOwnPropertyNames(global));
return freeze({
  deliver,
  variables: () => stringify(getOwnPropertyNames(global).filter((name) => !before.has(name)).slice(0, 500)),
  describe(error) {
    const named = isObject(error);
    const stack = named ? Text(error.stack) : '';
    const line = /block\.js:(\d+)/.exec(stack);
    const name = named ? Text(error.name) : typeof error;
    const message = named && error.message !== undefined ? Text(error.message) : show(error);
    return stringify([name.slice(0, 100), message.slice(0, 2000), line === null ? null : line[1] - 0]);
  },
  async run(code, inputsText) {
    const inputs = parse(inputsText).map((input) => (input.c ? context : input.v));
    return stringify(await code(...inputs));
  },
});
})`;
