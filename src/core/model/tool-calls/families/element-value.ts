/**
 * Owns where the value of an element (`<parameter=…>`, `<arg_value>`) ends. A value may itself hold such markup (a test of
 * a parser, a document about tools): closers are matched with openers inside the value, and one counts only where a call
 * can go on behind it. A missing, damaged or cut closer is forgiven where the next argument or the call's end proves it.
 */
import { isCallWord, readDamagedCloser, resembles } from '../reading/damaged-closer.ts';
import { attribute, readTag, type Tag } from '../reading/tag.ts';
import { isSpaceCode, type TextWindow } from '../reading/text-window.ts';
import {
  CALL_ELEMENTS,
  isValueElement,
  KEY_ATTRIBUTES,
  PARAMETER_ELEMENTS,
  WRAPPER_ELEMENTS,
} from '../tables/element-names.ts';
import { tagRole } from '../tables/tag-roles.ts';

export interface ValueJob {
  readonly start: number;
  /** Name of the element, and how its closer is spelled. */
  readonly name: string;
  readonly closer: string;
  /** The argument, letters only, where a model may close it by that. */
  readonly key: string;
  /** True for a key that this call may still be given. */
  readonly isNextKey: (key: string) => boolean;
}

export interface ValueSpan {
  readonly end: number;
  /** Where reading goes on: behind the closer. */
  readonly next: number;
}

/** Openers and closers without an end cost one pass a text: remembered from where none was found. */
const NO_END = new WeakMap<TextWindow, Map<string, number>>();

/** The span of the value that begins at `job.start`, or null when it was cut off. */
export function valueSpan(win: TextWindow, job: ValueJob): ValueSpan | null {
  const known = NO_END.get(win) ?? new Map<string, number>();
  NO_END.set(win, known);
  const from = known.get(job.closer);
  if (from !== undefined && job.start >= from) {
    win.isEnd(win.text.length);
    return null;
  }
  const span = new ValueScan(win, job).run();
  if (!span) known.set(job.closer, job.start);
  return span;
}

class ValueScan {
  readonly #win: TextWindow;
  readonly #job: ValueJob;
  /** Elements of the same name, and calls, that were opened inside the value. */
  #depth = 0;
  #calls = 0;
  /** Ends that count if no better one comes: closers of its own (odd text behind, inside something), of the call. */
  #firstOwn: ValueSpan | null = null;
  #lastOwn: ValueSpan | null = null;
  #callEnd: (ValueSpan & { readonly behind: number }) | null = null;

  constructor(win: TextWindow, job: ValueJob) {
    this.#win = win;
    this.#job = job;
  }

  run(): ValueSpan | null {
    const win = this.#win;
    for (let at = win.find('<', this.#job.start); at !== -1; at = win.find('<', at + 1)) {
      const span = this.#mark(at);
      if (span) return span;
    }
    return this.#atEnd();
  }

  /** At the end of the text: a closer in the midst of a line of code is no proof that the value was complete. */
  #atEnd(): ValueSpan | null {
    const first = this.#firstOwn;
    if (first && isSpaceCode(this.#win.code(first.next))) return first;
    const call = this.#callEnd;
    const own = this.#lastOwn;
    if (own && this.#onlyClosers(own.next)) return own;
    return call && this.#onlyClosers(call.behind) ? call : null;
  }

  #onlyClosers(start: number): boolean {
    let at = this.#win.skipSpace(start);
    for (let closer = readDamagedCloser(this.#win, at); closer; closer = readDamagedCloser(this.#win, at))
      at = this.#win.skipSpace(closer.end);
    const tag = this.#win.char(at) === '<' ? readTag(this.#win, at) : null;
    return this.#win.isEnd(at) || (tag !== null && isPlainRole(tag.name));
  }

  #likely(): ValueSpan | null {
    return this.#firstOwn ?? this.#lastOwn ?? this.#callEnd;
  }

  /** What the tag at `at` means for the value; a span ends the search. */
  #mark(at: number): ValueSpan | null {
    if (this.#win.startsWith(this.#job.closer, at)) return this.#own(at, at + this.#job.closer.length);
    const tag = readTag(this.#win, at);
    if (tag && !tag.closing) return this.#opener(at, tag);
    if (tag?.name === this.#job.name) return this.#own(at, tag.end);
    if (tag && isCallCloser(tag)) return this.#callCloser(at, tag.end);
    const damaged = readDamagedCloser(this.#win, at);
    if (damaged && this.#isVariant(damaged.word)) return this.#variant(at, damaged.end);
    return !tag && damaged && isCallWord(damaged.word) ? this.#callCloser(at, damaged.end) : null;
  }

  #own(at: number, end: number): ValueSpan | null {
    const span = { end: at, next: end };
    if (this.#depth > 0) {
      this.#depth -= 1;
      this.#lastOwn = span;
      return null;
    }
    if (this.#goesOn(end)) return span;
    this.#firstOwn ??= span;
    return null;
  }

  #isVariant(word: string): boolean {
    return resembles(word, this.#job.name) || (this.#job.key !== '' && word === this.#job.key.toLowerCase());
  }

  /** Another spelling of the closer, or the key in its place: only where the call goes on behind it. */
  #variant(at: number, end: number): ValueSpan | null {
    return this.#depth === 0 && this.#goesOn(end) ? { end: at, next: end } : null;
  }

  #opener(at: number, tag: Tag): ValueSpan | null {
    if (tag.name === this.#job.name || tag.name === 'arg_key') return this.#argument(at, tag);
    if (!isCallOpener(tag)) return null;
    const likely = this.#calls === 0 ? this.#likely() : null;
    if (!likely) this.#calls += 1;
    return likely;
  }

  /** The next argument of this call ends the value; any other one belongs to it. */
  #argument(at: number, tag: Tag): ValueSpan | null {
    if (this.#depth === 0 && this.#calls === 0 && this.#job.isNextKey(this.#keyOf(tag))) return this.#before(at);
    if (tag.name === this.#job.name) this.#depth += 1;
    return null;
  }

  #keyOf(tag: Tag): string {
    if (tag.name !== 'arg_key') return tag.value || attribute(tag, KEY_ATTRIBUTES);
    const close = this.#win.find('<', tag.end);
    return close === -1 || close - tag.end > 120 ? '' : this.#win.slice(tag.end, close).trim();
  }

  #callCloser(at: number, behind: number): ValueSpan | null {
    if (this.#calls > 0) {
      this.#calls -= 1;
      return null;
    }
    if (this.#win.code(at - 1) === 10) return this.#before(at);
    this.#callEnd ??= { end: at, next: at, behind };
    return null;
  }

  /** The value ends at `at` at the latest: at the closer right before it, if there is one. */
  #before(at: number): ValueSpan {
    const own = this.#lastOwn;
    if (own && this.#win.skipSpace(own.next) === at) return own;
    const call = this.#callEnd;
    if (call && this.#win.skipSpace(call.behind) === at) return call;
    return this.#firstOwn ?? { end: at, next: at };
  }

  /** A call can go on at `at`: the end, an argument, the end of the call or of its container, a special token. */
  #goesOn(at: number): boolean {
    const win = this.#win;
    const next = win.skipSpace(at);
    const char = win.char(next);
    if (char === '') return true;
    if (char !== '<') return this.#isBareKey(next);
    const tag = readTag(win, next);
    if (!tag) return isCallWord(readDamagedCloser(win, next)?.word ?? '');
    if (tag.closing) return isCallCloser(tag) || isArgumentElement(tag.name) || isCallWord(tag.name);
    return isArgumentElement(tag.name) || isPlainRole(tag.name) || this.#job.isNextKey(tag.name);
  }

  /** `timeout</arg_key>`: the opener of the next key was lost. */
  #isBareKey(at: number): boolean {
    const key = this.#win.identifier(at);
    const tag = key === '' ? null : readTag(this.#win, at + key.length);
    return tag?.name === 'arg_key' || tag?.name === 'arg_value';
  }
}

function isArgumentElement(name: string): boolean {
  return PARAMETER_ELEMENTS.has(name) || WRAPPER_ELEMENTS.has(name) || isValueElement(name);
}

function isCallOpener(tag: Tag): boolean {
  return tagRole(tag.name) === 'call-open' || (CALL_ELEMENTS.has(tag.name) && (tag.value || tag.attributes) !== '');
}

function isCallCloser(tag: Tag): boolean {
  const role = tagRole(tag.name);
  return role === 'call-close' || (tag.closing && (role === 'call-open' || CALL_ELEMENTS.has(tag.name)));
}

function isPlainRole(name: string): boolean {
  const role = tagRole(name);
  return role !== 'none' && role !== 'reasoning';
}
