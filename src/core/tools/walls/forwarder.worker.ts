// Owns the program that keeps the network of enclosed commands: ports of its loopback lead to sockets, one to the proxy's, others to servers
// of this machine that the owner named; nothing else leads out. Knows no host and no rule. Invariant: it ends with the process that started it, and every connection with either of its ends.
import { writeSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

/** Pairs: the socket outside, the port inside. The first is the proxy's. */
const pairs = process.argv.slice(2);
const MOST = 512;
let waiting = pairs.length / 2;

for (let at = 0; at < pairs.length; at += 2) {
  const path = pairs[at] ?? '';
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    const outer = connect({ path, allowHalfOpen: true });
    join(inner, outer);
    join(outer, inner);
  });
  server.maxConnections = MOST;
  const listening = () => {
    waiting -= 1;
    if (waiting === 0) writeSync(1, 'ready');
  };
  server.listen(Number(pairs[at + 1]), '127.0.0.1', listening);
  // A low port is nobody's but root's: the others stand all the same.
  if (at > 0) server.once('error', listening);
}

function join(from: Socket, to: Socket): void {
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  from.pipe(to);
}
