import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as listenPlain } from 'node:net';
import { describe, it } from 'node:test';
import { isHostNamed } from '#core/tools/public-address.ts';
import { createProxy } from '#core/tools/walls/proxy.ts';
import { wallsContract } from '../../contract/walls.contract.ts';
import { slow } from '../../slow.ts';
import { verifies } from '../../verifies.ts';
import { makeWallsScene, noWalls, type WallsScene } from './walls-scene.ts';

const skip = noWalls();

/** A server of this machine that answers each request with its path. */
async function withServer(use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((asked, response) => response.end(`served ${asked.headers.host} ${asked.url}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const using = async (use: (scene: WallsScene) => Promise<void>, options: Parameters<typeof makeWallsScene>[0] = {}) => {
  const scene = makeWallsScene(options);
  try {
    await use(scene);
  } finally {
    await scene.close();
  }
};

/** Fetches without any client of the machine. */
const get = (url: string) =>
  `'${process.execPath}' -e "fetch('${url}').then(async (r) => console.log(r.status, (await r.text()).trim()), (e) => console.log('failed', String(e.cause && e.cause.message || e)))"`;

/** As a client does that asks a proxy for a whole address, and shows what it answers. */
const getPlain = (url: string) => {
  const program = [
    'const p = new URL(process.env.HTTP_PROXY);',
    "const auth = 'Basic ' + btoa(p.username + ':' + p.password);",
    `require('http').get({ host: p.hostname, port: p.port, path: '${url}', headers: { 'proxy-authorization': auth } },`,
    "(r) => r.on('data', (d) => console.log(r.statusCode, String(d).trim())));",
  ];
  return `'${process.execPath}' -e "${program.join(' ')}"`;
};

wallsContract({ name: 'bubblewrap', kind: 'walls', make: () => makeWallsScene(), skip });
wallsContract({ name: 'the machine', kind: 'machine', make: () => makeWallsScene({ mode: 'machine' }) });

describe('walls: the network', { skip: skip ?? false }, () => {
  slow("is the command's own: only a loopback, and no server of the machine in it", () =>
    withServer((port) =>
      using(async ({ run }) => {
        assert.equal((await run('tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "')).text, 'lo\n');
        assert.match((await run(get(`http://127.0.0.1:${port}/`))).text, /^failed/);
        assert.match((await run(get(`http://localhost:${port}/`))).text, /^failed/);
        const refused = (at: number) => `echo 'connect ECONNREFUSED 127.0.0.1:${at}'; exit 1`;
        const { openings, notes } = (await run(refused(port))).met;
        assert.deepEqual(openings, [{ kind: 'network' }]);
        assert.ok(notes.some((note) => note.includes(`talaria config set sandbox.hosts '["localhost:${port}"]'`)));
        assert.deepEqual((await run(refused(1))).met, { openings: [], planted: [], notes: [] }, 'nobody listens there');
        const opened = await run(refused(port), { openings: [{ kind: 'network' }] });
        assert.deepEqual(opened.met.openings, []);
      }),
    ),
  );

  slow('a named host is reached without a question, by its name, also when it is private and named with its port', () =>
    withServer((port) =>
      using(
        async ({ run }) => {
          const asked: string[] = [];
          const askHost = async (host: string) => asked.push(host) > 0;
          const { text } = await run(get(`http://pkg.example:${port}/a?b`), { askHost });
          assert.equal(text, `200 served pkg.example:${port} /a?b\n`);
          assert.deepEqual(asked, []);
        },
        { hosts: [`pkg.example:${port}`], lookup: async () => ['127.0.0.1'] },
      ),
    ),
  );

  slow('a name or a star in the settings leads to no address of this machine or its network', () =>
    withServer((port) =>
      using(
        async ({ run }) => {
          const asked: string[] = [];
          const askHost = async (host: string) => asked.push(host) < 0;
          for (const host of ['pkg.example', 'a.star.example'])
            assert.match(
              (await run(getPlain(`http://${host}:${port}/`), { askHost })).text,
              /^403 Talaria: .*this machine/,
            );
          assert.deepEqual(asked, [`pkg.example:${port} at 127.0.0.1`, `a.star.example:${port} at 127.0.0.1`]);
        },
        { hosts: ['pkg.example', '*.star.example'], lookup: async () => ['127.0.0.1'] },
      ),
    ),
  );

  verifies.slow(
    'core:walls:network-asked',
    'another host is asked for once a command; a no is told to the command and in the notes',
    () =>
      using(
        async ({ run }) => {
          const asked: string[] = [];
          const askHost = async (host: string) => asked.push(host) < 0;
          const twice = await run(`${getPlain('http://evil.example/')}; ${getPlain('http://evil.example/x')}`, {
            askHost,
          });
          assert.match(twice.text, /^403 Talaria: evil\.example:80 was not allowed; sandbox\.hosts: .*\n403 /);
          assert.deepEqual(asked, ['evil.example:80']);
          assert.match(twice.met.notes.join(), /evil\.example:80 was not allowed/);
          await run(get('https://evil.example/'), { askHost });
          assert.deepEqual(asked, ['evil.example:80', 'evil.example:443']);
        },
        { lookup: () => Promise.reject(new Error('a name was looked up that nobody allowed')) },
      ),
  );

  verifies.slow(
    'core:walls:network-asked',
    'an address of this machine or its network is asked for by itself, whatever was said to the name that leads there',
    () =>
      withServer((port) =>
        using(
          async ({ run }) => {
            const asked: string[] = [];
            const near = `rebound.example:${port} at 127.0.0.1`;
            const askHost = async (host: string) => asked.push(host) > 0 && !host.includes(' at ');
            const named = await run(getPlain(`http://rebound.example:${port}/`), { askHost });
            assert.match(named.text, /^403 Talaria: rebound\.example:\d+ is an address of this machine/);
            assert.match((await run(getPlain('http://169.254.169.254/latest'), { askHost })).text, /^403/);
            assert.deepEqual(asked, [`rebound.example:${port}`, near, '169.254.169.254:80 at 169.254.169.254']);
            const openings = [`rebound.example:${port}`, near].map((host) => ({ kind: 'host', host }) as const);
            const opened = await run(getPlain(`http://rebound.example:${port}/`), { openings, askHost });
            assert.match(opened.text, /^200 served rebound/);
            assert.equal(asked.length, 3);
          },
          { lookup: async () => ['127.0.0.1'] },
        ),
      ),
  );

  slow('a server of this machine that the owner named stands at its port', () =>
    withServer((port) =>
      using(
        async ({ run }) => {
          assert.equal((await run(get(`http://localhost:${port}/x`))).text, `200 served localhost:${port} /x\n`);
          assert.match((await run(get(`http://localhost:${port + 1}/`))).text, /^failed/);
        },
        { hosts: ['localhost:1', `127.0.0.1:${port}`] },
      ),
    ),
  );

  verifies.slow(
    'core:walls:servers-meet',
    'a background server and a later command meet; another way out than the proxy there is not',
    () =>
      using(async ({ run, serve }) => {
        const program = "require('http').createServer((q,r)=>r.end('hello')).listen(3000,()=>console.log('up'))";
        const server = await serve(`'${process.execPath}' -e "${program}"`, 'up');
        assert.equal((await run(get('http://localhost:3000/'))).text, '200 hello\n');
        await server.stop();
        assert.match((await run(get('http://localhost:3000/'))).text, /^failed/);
        assert.match((await run('exec 3<>/dev/tcp/1.1.1.1/80')).text, /Network is unreachable/);
      }),
  );

  slow('a program that names no credentials gets nowhere, also while another command has some', () =>
    using(async ({ run }) => {
      const ask = getPlain('http://a.example/');
      assert.match((await run(`unset HTTP_PROXY; export HTTP_PROXY=http://127.0.0.1:61080; ${ask}`)).text, /^407/);
      assert.match((await run(`export HTTP_PROXY=http://talaria:guess@127.0.0.1:61080; ${ask}`)).text, /^407/);
      const connect = 'printf "CONNECT a.example:443 HTTP/1.1\\r\\n\\r\\n" >&3; cat <&3';
      const told = await run(`exec 3<>/dev/tcp/127.0.0.1/61080; ${connect}`);
      assert.match(told.text, /^HTTP\/1\.1 407 .*\r\nProxy-Authenticate: Basic/, 'git asks first and tells then');
    }),
  );

  slow('opened as a whole it is the network of the machine', () =>
    withServer((port) =>
      using(async ({ run }) => {
        const { text } = await run(get(`http://127.0.0.1:${port}/`), { openings: [{ kind: 'network' }] });
        assert.equal(text, `200 served 127.0.0.1:${port} /\n`);
        assert.match((await run('cat ~/.ssh/id_rsa', { openings: [{ kind: 'network' }] })).text, /No such file/);
      }),
    ),
  );
});

describe('walls: the proxy', () => {
  it('patterns name a host, a port, or what lies below a name', () => {
    const target = { host: 'a.example.com', port: 443 };
    const yes = ['a.example.com', 'A.example.com', 'a.example.com:443', '*.example.com', '*.example.com:443', '*.com'];
    const no = ['example.com', 'a.example.com:80', '*.a.example.com', 'xa.example.com', '*example.com', '', '*', 'com'];
    assert.deepEqual(
      [...yes, ...no].map((pattern) => isHostNamed(pattern, target)),
      [...yes.map(() => true), ...no.map(() => false)],
    );
    assert.ok(!isHostNamed('*.example.com', { host: 'evilexample.com', port: 443 }));
    assert.ok(isHostNamed('::1', { host: '::1', port: 80 }));
  });

  const withProxy = async (use: (port: number, credentials: string, release: () => void) => Promise<void>) => {
    const proxy = createProxy({
      hosts: ['allowed.example'],
      lookup: async () => ['93.184.215.14'],
      dial: ({ port }) => ({ address: '127.0.0.1', port }),
    });
    const { credentials, release } = proxy.admit({ opened: [], askHost: async () => false });
    const port = await proxy.listen(0);
    try {
      await use(port, `Basic ${Buffer.from(credentials).toString('base64')}`, release);
    } finally {
      await proxy.close();
    }
  };
  /** What comes back for raw bytes, until the other end closes. */
  const raw = (port: number, text: string) =>
    new Promise<string>((resolve) => {
      let heard = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString('latin1');
      });
      socket.on('error', () => resolve(heard));
      socket.on('close', () => resolve(heard));
    });

  it('a tunnel passes bytes both ways and ends with its command', async () => {
    const echo = listenPlain((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const to = `allowed.example:${(echo.address() as AddressInfo).port}`;
    await withProxy(async (port, credentials, release) => {
      const answer = raw(
        port,
        `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\nProxy-Authorization: ${credentials}\r\n\r\nping`,
      );
      const socket = connect(port, '127.0.0.1');
      socket.write(`CONNECT ${to} HTTP/1.1\r\nProxy-Authorization: ${credentials}\r\nHost: ${to}\r\n\r\n`);
      const heard = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
      assert.match(heard, /^HTTP\/1\.1 200 /);
      socket.write('ping');
      assert.equal(
        await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk)))),
        'ping',
      );
      release();
      assert.match(await answer, /^HTTP\/1\.1 200 /);
      assert.match(
        await raw(port, `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\nProxy-Authorization: ${credentials}\r\n\r\n`),
        / 407 /,
      );
      socket.destroy();
    });
    echo.close();
  });

  it('refuses what is no request to a proxy, in words, and stays', () =>
    withProxy(async (port, credentials) => {
      const asked = (line: string) =>
        raw(port, `${line} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${credentials}\r\nConnection: close\r\n\r\n`);
      for (const line of ['GET /', 'GET ftp://a/b', 'CONNECT a@b:80', 'CONNECT /x', 'GET file:///etc/passwd'])
        assert.match(await asked(line), /^HTTP\/1\.1 400 /, line);
      assert.match(
        await raw(port, `GET http://a/ HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`),
        / 431 |^$/,
      );
      assert.match(await raw(port, 'nonsense\r\n\r\n'), / 400 |^$/);
      assert.match(await asked('CONNECT 10.0.0.1:22'), /^HTTP\/1\.1 403 10\.0\.0\.1:22 is an address of this machine/);
      const status = await new Promise((resolve) =>
        request({ port, path: 'http://other.example/', headers: { 'proxy-authorization': credentials } }, (answer) =>
          resolve(answer.statusCode),
        ).end(),
      );
      assert.equal(status, 403);
    }));
});
