/** One text with what it says about the peer; the peer is `hermes-of-carol` when nothing else is said. */
export interface LabelledText {
  readonly text: string;
  /** Default `message`: the peer wrote it. `context`: its introducer did. */
  readonly as?: 'message' | 'context';
  readonly peer?: string;
  /** Each is a part of exactly one item that must be found. */
  readonly needs?: readonly string[];
  readonly offers?: readonly string[];
  readonly expertise?: readonly string[];
}
