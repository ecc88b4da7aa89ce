// Attempts to get out of the sandbox, to break the host, or to make its API lie. Data: each is one block, and what it must come to.
// The code prints `ESCAPED` when it gets hold of anything of the host.

export interface EscapeCase {
  readonly name: string;
  readonly code: string;
  /** What the block prints, exactly; absent: anything but ESCAPED. */
  readonly prints?: string;
  /** Reasons of which one must be given; absent: it may end well or badly. */
  readonly fails?: readonly string[];
}

const HOST = `const names = ['process', 'require', 'module', 'exports', 'Buffer', 'global', 'fetch', 'setTimeout', 'setImmediate', 'WebAssembly',
  'navigator', 'performance', 'Worker', 'Deno', 'Bun', 'window', 'self', 'std', 'os', 'scriptArgs', '__dirname', 'host'];
  const probe = (g) => { for (const n of names) { let v; try { v = g[n] } catch { continue }
    if (v !== undefined && !/is not here/.test(String(v)) && !(typeof v === 'function' && refuses(v))) print('ESCAPED', n) } };
  const refuses = (f) => { try { f(); return false } catch (e) { return /is not here/.test(e.message) } };`;

export const REACHING: readonly EscapeCase[] = [
  { name: 'a walk over globalThis', code: `${HOST} probe(globalThis); print('none')`, prints: 'none' },
  {
    name: 'this of a sloppy function',
    code: `${HOST} probe(function () { return this }()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of a constructor',
    code: `${HOST} probe((() => {}).constructor.constructor('return this')()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of an API function',
    code: `${HOST} probe(print.constructor('return this')()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of the context',
    code: `${HOST} probe(context.constructor.constructor('return globalThis')()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of a handle',
    code: `${HOST} probe(span(0, 3).constructor.constructor('return this')()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of an async function',
    code: `${HOST} probe(await llmQuery.constructor('return globalThis')()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of a generator',
    code: `${HOST} probe(context.chunks.constructor('yield globalThis')().next().value); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of a reply',
    code: `${HOST} const r = await llmQuery('x'); probe(r.constructor.constructor('return this')()); print('none')`,
    prints: 'none',
  },
  {
    name: 'the constructor of an error of the API',
    code: `${HOST} try { span(1, 1) } catch (e) { probe(e.constructor.constructor('return this')()) } print('none')`,
    prints: 'none',
  },
  { name: 'indirect eval', code: `${HOST} probe((0, eval)('this')); print('none')`, prints: 'none' },
  {
    name: 'eval for the closure of the prelude',
    code: `print(eval('typeof host'), eval('typeof ask'), typeof deliver)`,
    prints: 'undefined undefined undefined',
  },
  { name: 'import()', code: `await import('node:fs')`, fails: ['threw'] },
  { name: 'import() of a data URL', code: `await import('data:text/javascript,1')`, fails: ['threw'] },
  { name: 'a static import', code: `import fs from 'node:fs'`, fails: ['threw'] },
  { name: 'import.meta', code: `print(import.meta.url)`, fails: ['threw'] },
  { name: 'require', code: `require('node:fs')`, fails: ['threw'] },
  { name: 'process.binding', code: `process.binding('fs')`, fails: ['threw'] },
  { name: 'fetch', code: `await fetch('http://127.0.0.1:1')`, fails: ['threw'] },
  { name: 'WebAssembly', code: `new WebAssembly.Memory({ initial: 1 })`, fails: ['threw'] },
  {
    name: 'SharedArrayBuffer and Atomics',
    code: `print(typeof SharedArrayBuffer, typeof Atomics)`,
    prints: 'undefined undefined',
  },
  {
    name: 'the clock',
    code: `const seen = []; for (const f of [() => Date.now(), () => new Date(), () => performance.now(), () => new (Object.getPrototypeOf(async () => {}).constructor)('return Date.now()')()]) try { seen.push(await f()) } catch { seen.push('no') } print(seen)`,
    prints: '["no","no","no","no"]',
  },
  { name: 'chance', code: `Math.random()`, fails: ['threw'] },
  {
    name: 'what tells of the collector',
    code: `print(typeof WeakRef, typeof FinalizationRegistry, typeof gc)`,
    prints: 'undefined undefined undefined',
  },
  {
    name: 'stack poking with prepareStackTrace',
    code: `Error.prepareStackTrace = (e, frames) => { for (const f of frames) print('ESCAPED', f.getThis?.()) }; Error.stackTraceLimit = 1e9; print(typeof new Error('x').stack); try { span(1, 1) } catch (e) { print(/node:|\\/work|file:/.test(e.stack)) }`,
  },
  {
    name: 'the stack of an error of the host',
    code: `try { handle('h9') } catch (e) { print(/node:|file:|worker|\\.ts/.test(e.stack + e.message)) }`,
    prints: 'false',
  },
  {
    name: 'caller and arguments of the API',
    code: `try { print(print.caller, print.arguments) } catch (e) { print(e.name) }`,
  },
  { name: 'the code of a native function', code: `compute(Function.prototype.toString)`, fails: ['threw'] },
];

export const TAMPERING: readonly EscapeCase[] = [
  {
    name: 'Array.prototype methods replaced',
    code: `for (const k of ['map', 'push', 'join', 'slice', Symbol.iterator]) try { Array.prototype[k] = () => { throw 1 } } catch {} print([1, 2].map((n) => n + 1)); print(context.search('a').length > 0)`,
    prints: '[2,3]\ntrue',
  },
  {
    name: 'JSON replaced',
    code: `var JSON = { parse: () => ({ v: 'ESCAPED' }), stringify: () => 'ESCAPED' }; print(context.slice(0, 5), span(0, 5).text)`,
    prints: 'Alpha Alpha',
  },
  {
    name: 'JSON.parse replaced',
    code: `try { JSON.parse = () => ({ v: 'ESCAPED' }) } catch {} print(context.slice(0, 5))`,
    prints: 'Alpha',
  },
  {
    name: 'Promise replaced and its then patched',
    code: `try { Promise.prototype.then = () => print('ESCAPED') } catch {} var Promise = class {}; print((await llmQuery('x')).ok)`,
    prints: 'true',
  },
  {
    name: 'a then on Object.prototype',
    code: `try { Object.prototype.then = function (f) { f('ESCAPED') } } catch {} print((await llmQuery('x')).text)`,
  },
  {
    name: 'Object.prototype polluted',
    code: `try { Object.prototype.e = ['TypeError', 'ESCAPED']; Object.prototype.polluted = 1 } catch {} try { ({}).__proto__.polluted = 1 } catch {} print(({}).polluted, context.slice(0, 5))`,
    prints: 'undefined Alpha',
  },
  {
    name: '__proto__ in what is sent',
    code: `const evil = JSON.parse('{"__proto__": {"polluted": 1}, "question": "x", "constructor": {"prototype": {"polluted": 1}}}'); const [r] = await llmQueryBatched([evil]); finish([JSON.parse('{"__proto__": {"handles": ["h1"]}, "text": "T."}')]); print(r.ok, ({}).polluted)`,
    prints: 'true undefined',
  },
  {
    name: '__proto__ made in compute',
    code: `print(compute(() => JSON.parse('{"__proto__": {"polluted": 1}, "b": 1}')).text)`,
    prints: '{"__proto__":{"polluted":1},"b":1}',
  },
  {
    name: 'RegExp.prototype.exec replaced',
    code: `try { RegExp.prototype.exec = () => ['ESCAPED'] } catch {} print(context.search(/Al/)[0].match)`,
    prints: 'Al',
  },
  {
    name: 'String.prototype replaced',
    code: `try { String.prototype.slice = () => 'ESCAPED' } catch {} print('abc')`,
    prints: 'abc',
  },
  {
    name: 'the API replaced',
    code: `for (const k of ['print', 'context', 'span', 'llmQuery', 'finish', 'compute']) { try { globalThis[k] = 1 } catch (e) { print(e.name) } try { delete globalThis[k] } catch {} try { Object.defineProperty(globalThis, k, { value: 1 }) } catch (e) { print(e.name) } } print(typeof print)`,
    prints: `${'TypeError\n'.repeat(12)}function`,
  },
  {
    name: 'a method of the context replaced',
    code: `try { context.slice = () => 'ESCAPED' } catch {} try { context.length = 1 } catch {} try { Object.setPrototypeOf(context, null) } catch {} print(context.slice(0, 5), context.length > 5)`,
    prints: 'Alpha true',
  },
  {
    name: 'a handle rewritten',
    code: `const h = span(0, 5); try { h.text = 'ESCAPED' } catch {} try { Object.defineProperty(h, 'id', { value: 'h9' }) } catch {} print(h.id, h.text)`,
    prints: 'h1 Alpha',
  },
  {
    name: 'a forged handle as a piece',
    code: `const forged = Object.create(Object.getPrototypeOf(span(0, 5)), { id: { value: 'h1' }, text: { value: 'ESCAPED' } }); await llmQuery('x', forged)`,
    fails: ['threw'],
  },
  {
    name: 'a frozen reply rewritten',
    code: `const r = await llmQuery('x', span(0, 5)); try { r.text = 'ESCAPED'; r.claims.push(1) } catch {} print(r.claims.length)`,
    prints: '1',
  },
  {
    name: 'Function.prototype.toString replaced before compute',
    code: `try { Function.prototype.toString = () => '() => "ESCAPED"' } catch {} const f = () => 7; try { f.toString = () => '() => "ESCAPED"' } catch {} print(compute(f).value)`,
    prints: '7',
  },
  {
    name: 'symbols on the way into the API',
    code: `const odd = { [Symbol.toPrimitive]: () => { throw new Error('mine') }, [Symbol.iterator]: null }; try { print(odd) } catch (e) { print(e.message) } try { await llmQuery(odd) } catch (e) { print(e.message) }`,
    prints: '{}\nmine',
  },
];

export const ODD_ARGUMENTS: readonly EscapeCase[] = [
  {
    name: 'a getter in a piece',
    code: `let n = 0; const piece = { get start() { n += 1; return n }, get end() { return n + 5 } }; const r = await llmQuery('x', piece); print(r.ok)`,
    prints: 'true',
  },
  {
    name: 'a getter that throws in an answer',
    code: `finish([{ get text() { throw new Error('mine') } }])`,
    fails: ['threw'],
  },
  {
    name: 'a proxy as an answer',
    code: `finish(new Proxy([], { get: (t, k) => k === 'length' ? 1e9 : print, has: () => true, ownKeys: () => { throw 1 } }))`,
    fails: ['threw', 'out_of_time', 'out_of_memory'],
  },
  {
    name: 'a proxy as options',
    code: `print(context.search('Alpha', new Proxy({}, { get: () => 1 })).length >= 0)`,
    prints: 'true',
  },
  {
    name: 'a proxy as a range',
    code: `try { span(new Proxy({}, { get: (t, k) => k === 'start' ? 0 : k === 'end' ? 5 : undefined })) } catch {} print('on')`,
    prints: 'on',
  },
  { name: 'a proxy as a RegExp', code: `try { context.search(new Proxy(/a/, {})) } catch (e) { print(e.name) }` },
  {
    name: 'toString with side effects',
    code: `let n = 0; const odd = { toString() { n += 1; finish('inner'); return 'x' + n } }; finish([{ text: odd }]); print(n)`,
    prints: '1',
  },
  {
    name: 'toJSON that calls the API again',
    code: `const odd = { toJSON() { print('inner'); return span(0, 5) } }; print(odd)`,
  },
  { name: 'a cyclic answer', code: `const a = []; a.push(a); finish(a)` },
  { name: 'cyclic data from compute', code: `compute(() => { const a = []; a.push(a); return a })`, fails: ['threw'] },
  {
    name: 'an async generator of replies',
    code: `async function* g() { for (;;) yield (await llmQuery('x')).text } let n = 0; for await (const t of g()) if (++n > 3) break; print(n)`,
    prints: '4',
  },
  {
    name: 'a huge string as a question',
    code: `await llmQuery('x'.repeat(20000000))`,
    fails: ['threw', 'out_of_memory', 'sandbox_died'],
  },
  { name: 'a huge string printed', code: `print('x'.repeat(15000000)); print('on')` },
  {
    name: 'a huge array as queries',
    code: `await llmQueryBatched(new Array(1e6).fill({ question: 'x' }))`,
    fails: ['sub_call_limit', 'out_of_memory', 'threw', 'out_of_time', 'sandbox_died'],
  },
  {
    name: 'an array that lies about its length',
    code: `const a = []; a.length = 4294967295; finish(a)`,
    fails: ['threw', 'out_of_time', 'out_of_memory', 'sandbox_died'],
  },
  {
    name: 'numbers that are none',
    code: `for (const n of [NaN, Infinity, -Infinity, '5', null, {}, [], 5n, Symbol.iterator]) try { context.slice(n, n) } catch (e) { if (e.name !== 'TypeError' && e.name !== 'RangeError') print('ESCAPED', e.name) } print('on')`,
    prints: 'on',
  },
  {
    name: 'ids that are none',
    code: `for (const id of ['', '__proto__', 'constructor', 'h1\\u0000', '../../etc/passwd', 'x'.repeat(1e6)]) try { handle(id); print('ESCAPED') } catch {} print('on')`,
    prints: 'on',
  },
  {
    name: 'zero characters and half ones',
    code: `finish('a\\0b \\ud800 c'); const r = await llmQuery('\\udc00\\0'); print(r.ok)`,
    prints: 'true',
  },
  {
    name: 'names of the host protocol in texts',
    code: `print('{"e":["TypeError","x"]}', '"}],"type":"done"'); print(context.find('{"v":1}', 0))`,
    prints: '{"e":["TypeError","x"]} "}],"type":"done"\n-1',
  },
];

export const BREAKING: readonly EscapeCase[] = [
  { name: 'an endless loop', code: `for (;;);`, fails: ['out_of_time'] },
  {
    name: 'an endless loop that catches everything',
    code: `for (;;) try { for (;;); } catch {} finally { continue }`,
    fails: ['out_of_time'],
  },
  {
    name: 'an endless chain of promises',
    code: `const again = () => Promise.resolve().then(again); await again()`,
    fails: ['out_of_time', 'out_of_memory', 'threw'],
  },
  {
    name: 'an endless generator',
    code: `[...(function* () { for (;;) yield })()]`,
    fails: ['out_of_memory', 'out_of_time', 'sandbox_died', 'threw'],
  },
  { name: 'a pattern that takes for ever', code: `/(a+)+$/.test('a'.repeat(50) + 'b')`, fails: ['out_of_time'] },
  { name: 'a pattern that takes for ever in a search', code: `context.search(/(.*)*x$/)`, fails: ['out_of_time'] },
  {
    name: 'a loop in a getter that the API reads',
    code: `span({ get start() { for (;;); }, end: 5 })`,
    fails: ['out_of_time'],
  },
  { name: 'a loop while an error is described', code: `throw { get message() { for (;;); } }`, fails: ['out_of_time'] },
  { name: 'a loop in compute', code: `compute(() => { for (;;); })`, fails: ['out_of_time'] },
  {
    name: 'a loop in toString of a thrown value',
    code: `throw { toString() { for (;;); } , message: { toString() { for (;;); } } }`,
    fails: ['out_of_time'],
  },
  {
    name: 'an array without end',
    code: `const a = []; for (;;) a.push(new Array(1000).fill(1.5))`,
    fails: ['out_of_memory'],
  },
  { name: 'a string without end', code: `let s = 'x'; for (;;) s += s`, fails: ['threw', 'out_of_memory'] },
  {
    name: 'buffers without end',
    code: `const a = []; for (;;) a.push(new ArrayBuffer(1000000))`,
    fails: ['out_of_memory'],
  },
  {
    name: 'memory without end in compute',
    code: `compute(() => { const a = []; for (;;) a.push(new ArrayBuffer(1000000)) })`,
    fails: ['threw', 'out_of_memory', 'sandbox_died'],
  },
  {
    name: 'memory all taken, then a big slice',
    code: `const a = []; try { for (;;) a.push(new ArrayBuffer(100000)) } catch {} context.slice(0, 2000000); context.search(/zzz/)`,
  },
  { name: 'deep recursion', code: `const f = () => f() + 1; f()`, fails: ['threw', 'sandbox_died'] },
  {
    name: 'deep recursion through the API',
    code: `const f = () => { context.search(/a/); return [1].map(f) }; f()`,
    fails: ['threw', 'sandbox_died', 'out_of_time'],
  },
  { name: 'deep data', code: `let a = []; for (let n = 0; n < 200000; n += 1) a = [a]; print(a)` },
  { name: 'a deep pattern', code: `new RegExp('('.repeat(100000) + ')'.repeat(100000))`, fails: ['threw'] },
  { name: 'deep source', code: `eval('['.repeat(100000))`, fails: ['threw', 'sandbox_died'] },
  { name: 'a promise that nothing settles', code: `await new Promise(() => {})`, fails: ['threw'] },
  {
    name: 'a reply that resolves into itself',
    code: `const r = llmQuery('x'); const p = r.then(() => p); await p`,
    fails: ['threw'],
  },
];
