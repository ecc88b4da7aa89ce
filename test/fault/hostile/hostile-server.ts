/** A server over a raw socket that answers one request with whatever a case writes: no library keeps it honest. */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface Peer {
  /** Writes and waits until the other side took it; false when it is gone. */
  write(bytes: string | Uint8Array): Promise<boolean>;
  /** Writes this again and again until the other side goes, or `bytes` have left. */
  flood(bytes: string | Uint8Array, most?: number): Promise<void>;
  end(): void;
  /** Of a second server, on another name: nothing may ever come there. */
  readonly elsewhere: string;
  /** This server. */
  readonly here: string;
  /** How many requests came before this one. */
  readonly before: number;
}

export interface HostileServer {
  readonly origin: string;
  /** Requests, each as its head and body. */
  readonly heard: readonly string[];
  /** What reached the second server. */
  readonly stray: readonly string[];
  close(): void;
}

export async function startHostileServer(answer: (peer: Peer) => Promise<void>): Promise<HostileServer> {
  const heard: string[] = [];
  const stray: string[] = [];
  const sockets = new Set<Socket>();
  const listen = async (onSocket: (socket: Socket) => void) => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      onSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, port: (server.address() as AddressInfo).port };
  };
  const second = await listen((socket) => socket.on('data', (chunk) => stray.push(String(chunk))));
  const elsewhere = `http://localhost:${second.port}`;
  const first = await listen((socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const size = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + size) return;
      heard.push(text);
      text = '';
      const peer = { ...peerOf(socket), elsewhere, here: `http://127.0.0.1:${first.port}`, before: heard.length - 1 };
      answer(peer).catch(() => socket.destroy());
    });
  });
  return {
    origin: `http://127.0.0.1:${first.port}`,
    heard,
    stray,
    close: () => {
      for (const { server } of [first, second]) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function peerOf(socket: Socket): Pick<Peer, 'write' | 'flood' | 'end'> {
  const write = async (bytes: string | Uint8Array): Promise<boolean> => {
    if (socket.destroyed || !socket.writable) return false;
    if (socket.write(bytes)) return new Promise((resolve) => setImmediate(() => resolve(!socket.destroyed)));
    return new Promise((resolve) => {
      const done = () => {
        socket.off('drain', done);
        socket.off('close', done);
        resolve(!socket.destroyed);
      };
      socket.once('drain', done);
      socket.once('close', done);
    });
  };
  return {
    write,
    async flood(bytes, most = Number.POSITIVE_INFINITY) {
      for (let sent = 0; sent < most; sent += bytes.length) if (!(await write(bytes))) return;
    },
    end: () => void socket.end(),
  };
}
