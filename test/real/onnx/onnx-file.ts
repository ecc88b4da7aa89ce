/** Writes an ONNX file: the few messages of its format that a small graph needs, in protobuf's wire form. */

export type OnnxElement = 'float' | 'int64';

export interface OnnxInput {
  readonly name: string;
  readonly element: OnnxElement;
  /** A number is a size, a text the name of one that varies. */
  readonly shape: readonly (number | string)[];
}

export interface OnnxWeights {
  readonly name: string;
  readonly element: OnnxElement;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

export interface OnnxNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
}

export interface OnnxGraph {
  readonly inputs: readonly OnnxInput[];
  readonly outputs: readonly OnnxInput[];
  readonly weights: readonly OnnxWeights[];
  readonly nodes: readonly OnnxNode[];
}

const IR_VERSION = 8;
const OPERATORS = 17;
const ELEMENTS = { float: 1, int64: 7 } as const;
const INT = 2;
const INTS = 7;

export function onnxFile({ inputs, outputs, weights, nodes }: OnnxGraph): Buffer {
  const graph = [
    ...nodes.map((node) => message(1, nodeFields(node))),
    text(2, 'graph'),
    ...weights.map((one) => message(5, weightFields(one))),
    ...inputs.map((one) => message(11, valueFields(one))),
    ...outputs.map((one) => message(12, valueFields(one))),
  ];
  return Buffer.concat([number(1, IR_VERSION), message(7, graph), message(8, [text(1, ''), number(2, OPERATORS)])]);
}

function nodeFields({ operator, inputs, output, attributes = {} }: OnnxNode): readonly Buffer[] {
  return [
    ...inputs.map((name) => text(1, name)),
    text(2, output),
    text(3, output),
    text(4, operator),
    ...Object.entries(attributes).map(([name, value]) => message(5, attributeFields(name, value))),
  ];
}

function attributeFields(name: string, value: number | readonly number[]): readonly Buffer[] {
  if (typeof value === 'number') return [text(1, name), number(3, value), number(20, INT)];
  return [text(1, name), ...value.map((one) => number(8, one)), number(20, INTS)];
}

function weightFields({ name, element, shape, values }: OnnxWeights): readonly Buffer[] {
  const raw = element === 'float' ? Buffer.alloc(values.length * 4) : Buffer.alloc(values.length * 8);
  for (const [at, value] of values.entries()) {
    if (element === 'float') raw.writeFloatLE(value, at * 4);
    else raw.writeBigInt64LE(BigInt(value), at * 8);
  }
  return [...shape.map((size) => number(1, size)), number(2, ELEMENTS[element]), text(8, name), bytes(9, raw)];
}

function valueFields({ name, element, shape }: OnnxInput): readonly Buffer[] {
  const sizes = shape.map((size) => message(1, [typeof size === 'number' ? number(1, size) : text(2, size)]));
  return [text(1, name), message(2, [message(1, [number(1, ELEMENTS[element]), message(2, sizes)])])];
}

function message(field: number, fields: readonly Buffer[]): Buffer {
  return bytes(field, Buffer.concat(fields));
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value, 'utf8'));
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

/** Negative numbers stand as 64 bits of two's complement. */
function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  return Buffer.from([...out, Number(rest)]);
}
