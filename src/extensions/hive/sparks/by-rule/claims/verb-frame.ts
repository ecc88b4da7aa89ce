// Owns the words between a subject and its verb: whether it is denied, over, or only thought of. English. Pure.

export interface VerbFrame {
  /** What stands before those words. */
  readonly before: string;
  readonly isDenied: boolean;
  /** Was once, or would be: nothing is claimed. */
  readonly isUnreal: boolean;
  /** A form of `be`: `am`, `is`, `are`, also after a name (`Carol's looking for`). */
  readonly hasBe: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const DENYING = words('not never no hardly rarely longer nor neither without stopped quit finished done');
/** `we all need`: everybody does. */
const UNREAL = words('all was were had did used would might may could should must ought formerly');
const BE = words('am is are be been being');
const PASSED_OVER = words(
  'do does have has will also still currently actively now really just always often mostly mainly primarily chiefly definitely urgently ' +
    'desperately badly probably soon already again only simply first myself personally a an the very highly quite pretty deeply truly ' +
    'certified leading true real recognised recognized known well-known world-class senior keen both further too right best known for ' +
    'especially particularly generally usually sometimes constantly presently and or maybe perhaps here kind sort ever yet actually own',
);

export function verbFrame(before: string): VerbFrame {
  const tokens = before.split(' ').filter((token) => token !== '');
  let at = tokens.length;
  const passed: string[] = [];
  while (at > 0) {
    const word = (tokens[at - 1] ?? '').toLowerCase().replace(/[,:]$/, '');
    if (!(DENYING.has(word) || UNREAL.has(word) || BE.has(word) || PASSED_OVER.has(word))) break;
    passed.push(word);
    at -= 1;
  }
  const named = /^(.*\S)'s$/.exec(tokens.slice(0, at).join(' '));
  const rest = named?.[1] ?? tokens.slice(0, at).join(' ');
  const said = new Set(passed);
  const isOnly = said.has('not') && (said.has('only') || said.has('just'));
  return {
    before: rest,
    isDenied: !isOnly && passed.some((word) => DENYING.has(word)),
    isUnreal: passed.some((word) => UNREAL.has(word)),
    hasBe: named !== null || passed.some((word) => BE.has(word)),
  };
}
