/** Pictures of 2×3 pixels: a whole PNG, and of the other kinds as much as says what they are. */
import { crc32, deflateSync } from 'node:zlib';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0]);
const rows = Buffer.concat(Array.from({ length: 3 }, () => Buffer.from([0, 255, 0, 0, 0, 0, 255])));
const webp = (kind: string, ...rest: number[]) =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, 'latin1'), Buffer.from(rest)]);

export const PICTURES = {
  png: Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]),
  gif: Buffer.from('GIF89a\x02\x00\x03\x00\x80', 'latin1'),
  jpeg: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 3, 0, 2, 1]),
  webp1: webp('VP8 ', 0, 0, 0, 0x9d, 0x01, 0x2a, 2, 0, 3, 0),
  webp2: webp('VP8L', 0x2f, 0x01, 0x80, 0x00, 0x00),
  webp3: webp('VP8X', 0, 0, 0, 0, 1, 0, 0, 2, 0, 0),
} as const;
