import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { run } from './command.ts';
import { accepts, freePorts, publicPorts, whyNotAllFree, whyNotFree } from './ports.ts';

test('a port in use is one sentence with the port and the setting that moves it', async (t) => {
  const server = net.createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  const sentence = await whyNotFree({ port, setting: 'PORT' }, '127.0.0.1');
  assert.match(sentence ?? '', new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is already used by another program\\. .*PORT`));
  assert.equal(await accepts({ port, host: '127.0.0.1' }), true);
  server.close();
  await new Promise((resolve) => server.once('close', resolve));
  assert.equal(await whyNotFree({ port, setting: 'PORT' }, '127.0.0.1'), undefined);
  assert.equal(await accepts({ port, host: '127.0.0.1' }), false);
});

test('an address that this machine does not have is told once, however many ports are opened on it', async () => {
  const ports = [1, 2, 3, 4].map((n) => ({ port: 20_000 + n, setting: 'PLANE_PORTS' }));
  const sentences = await whyNotAllFree(ports, '192.0.2.1');
  assert.equal(sentences.length, 1);
  assert.match(sentences[0] ?? '', /^BIND_ADDRESS 192\.0\.2\.1 is not an address of this machine\./);
});

test('without plane ports there is the one public port', () => {
  assert.deepEqual(publicPorts({ PLANE_PORTS: {}, PORT: 8080 }), [{ port: 8080, setting: 'PORT' }]);
  assert.deepEqual(
    publicPorts({ PLANE_PORTS: { api: 1, admin: 2 }, PORT: 8080 }).map(({ port }) => port),
    [1, 2],
  );
  // Followed word by word, the advice keeps the ports of the other planes.
  assert.match(publicPorts({ PLANE_PORTS: { api: 1, admin: 2 }, PORT: 8080 })[1]?.setting ?? '', /PLANE_PORTS=api:1,admin:102$/);
});

test('a free port is in a row, and is given to one caller alone', async () => {
  const ports = await freePorts(40);
  assert.deepEqual(
    ports,
    ports.map((_, place) => (ports[0] ?? 0) + place),
  );
  const code = `
    const { freePorts } = await import('./scripts/ports.ts');
    const given = [];
    for (let n = 0; n < 300; n++) given.push(...(await freePorts(1)));
    process.stdout.write(JSON.stringify(given));
  `;
  const { output } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', code]);
  assert.equal(new Set([...ports, ...(JSON.parse(output) as number[])]).size, 340);
});

const RANGE = '/proc/sys/net/ipv4/ip_local_port_range';
const first = fs.existsSync(RANGE) ? Number.parseInt(fs.readFileSync(RANGE, 'utf8'), 10) : 49_152;
test('a server that asks for any port is given none of those', {
  skip: first < 32_000 && `this machine gives ports from ${first} on to anybody`,
}, async (t) => {
  const anyPorts = Array.from({ length: 200 }, () => net.createServer().listen(0, '127.0.0.1'));
  t.after(() => anyPorts.forEach((server) => void server.close()));
  await Promise.all(anyPorts.map((server) => server.listening || new Promise((resolve) => server.once('listening', resolve))));
  for (const server of anyPorts) assert.ok((server.address() as net.AddressInfo).port > 32_000);
});
