import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { isLinkHost, lookupOffLink } from './link-addresses.ts';

test('where clouds hand out credentials nobody is led, in whatever spelling', () => {
  for (const host of [
    ...[
      '169.254.169.254',
      '169.254.0.1',
      '::ffff:169.254.169.254',
      '[::ffff:a9fe:a9fe]',
      '[0:0:0:0:0:FFFF:A9FE:A9FE]',
      '[fe80::1]',
      'fe80::1%eth0',
    ],
    ...['febf::1', 'metadata.google.internal.', 'Metadata.Google.Internal', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', '[fd00:ec2::254]'],
  ])
    assert.equal(isLinkHost(host), true, host);
  // What a URL makes of the spellings that no reader of addresses knows.
  for (const url of ['http://2852039166/', 'http://0xa9fea9fe/', 'http://0251.0376.0251.0376/', 'http://169.254.43518/'])
    assert.equal(isLinkHost(new URL(url).hostname), true, url);
  for (const host of ['10.0.0.5', '127.0.0.1', '::1', 'fd00::1', 'fec0::1', 'db.internal', '169.253.255.255', '169.255.0.1', '2001:db8::1'])
    assert.equal(isLinkHost(host), false, host);
});

test('a name is judged when the connection is made, and a connection goes where it was judged', async () => {
  const server = net.createServer((socket) => socket.end('here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect({ host: 'localhost', port: (server.address() as AddressInfo).port, family: 4, lookup: lookupOffLink });
  let said = '';
  for await (const chunk of socket) said += chunk;
  server.close();
  assert.equal(said, 'here');
  const failed = await new Promise<NodeJS.ErrnoException | null>((done) =>
    lookupOffLink('169.254.169.254', { all: true }, (error) => done(error)),
  );
  assert.equal(failed?.code, 'ELINK');
});
