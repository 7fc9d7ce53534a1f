import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { accepts, publicPorts, whyNotFree } from './ports.ts';

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

test('without plane ports there is the one public port', () => {
  assert.deepEqual(publicPorts({ PLANE_PORTS: {}, PORT: 8080 }), [{ port: 8080, setting: 'PORT' }]);
  assert.deepEqual(
    publicPorts({ PLANE_PORTS: { api: 1, admin: 2 }, PORT: 8080 }).map(({ port }) => port),
    [1, 2],
  );
  // Followed word by word, the advice keeps the ports of the other planes.
  assert.match(publicPorts({ PLANE_PORTS: { api: 1, admin: 2 }, PORT: 8080 })[1]?.setting ?? '', /PLANE_PORTS=api:1,admin:102$/);
});
