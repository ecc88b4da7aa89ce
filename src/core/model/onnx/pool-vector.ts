// Owns making one vector of a text out of the vectors of its tokens. Pure. Invariant: the result has length 1, or is all zero.
import type { OnnxTensor } from './onnx-engine.ts';

export type Pooling = 'last_token' | 'mean' | 'cls';

/**
 * `hidden`: one text of [1, tokens, size], or an already pooled [1, size]; `mask` of [1, tokens] is 0 where padding stands.
 * Undefined when it is neither, or holds what is no number.
 */
export function poolVector(
  hidden: OnnxTensor,
  mask: OnnxTensor | undefined,
  pooling: Pooling,
): Float32Array | undefined {
  const [batch, ...rest] = hidden.dims;
  const [tokens, size] = rest.length === 1 ? [1, rest[0]] : rest;
  if (batch !== 1 || rest.length > 2 || !tokens || !size || hidden.data.length !== tokens * size) return undefined;
  const read = Array.from({ length: tokens }, (_, at) => rest.length === 1 || Number(mask?.data[at] ?? 1) !== 0);
  const taken = tokensOf(read, pooling);
  const vector = new Float32Array(size);
  for (const token of taken) {
    for (let at = 0; at < size; at += 1) vector[at] = (vector[at] ?? 0) + Number(hidden.data[token * size + at]);
  }
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length)) return undefined;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Positions that are added up; the sum's direction is the mean's. */
function tokensOf(read: readonly boolean[], pooling: Pooling): readonly number[] {
  const all = read.flatMap((isRead, at) => (isRead ? [at] : []));
  if (pooling === 'mean') return all;
  return pooling === 'cls' ? all.slice(0, 1) : all.slice(-1);
}
