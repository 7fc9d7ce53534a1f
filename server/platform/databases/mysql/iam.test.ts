import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import test from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { listen } from '../../http-out/upstream.fixture.ts';
import { caPem, certificate } from '../certificates.fixture.ts';
import { here } from '../databases.fixture.ts';
import { openDatabase } from '../open.ts';

const TOKEN = 'shop.abc.eu-west-1.rds.amazonaws.com:3306/?Action=connect&DBUser=app&X-Amz-Signature=0123456789abcdef';

test('a token of RDS is sent as it is, over TLS alone (the exchange of RDS is replayed)', async () => {
  const secureContext = createSecureContext(await certificate('db.example.com'));
  let clear = '';
  let token: string | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(packet(0, greeting()));
    socket.once('data', (request: Buffer) => {
      // The hello of TLS may come with the request for it, which has 36 bytes.
      clear += request.subarray(0, 36).toString('latin1');
      socket.pause();
      if (request.length > 36) socket.unshift(request.subarray(36));
      const tls = new TLSSocket(socket, { isServer: true, secureContext });
      tls.on('error', () => undefined);
      let step = 0;
      tls.on('data', (chunk: Buffer) => {
        if (step++ === 0) return void tls.write(packet(3, Buffer.from('\xfemysql_clear_password\0', 'latin1')));
        if (step === 2) {
          token = chunk.subarray(4, -1).toString();
          tls.write(packet(5, OK));
        } else tls.write(packet(1, OK));
      });
    });
  });
  const session = await openDatabase(
    {
      ...{
        engine: 'mysql',
        host: 'db.example.com',
        port: await listen(server),
        database: null,
        username: 'app',
        password: TOKEN,
        iam: true,
      },
      options: { sslmode: 'verify-full', ca_cert_pem: caPem },
    },
    here,
  );
  await session.close();
  assert.equal(token, TOKEN);
  assert.ok(!clear.includes('Action=connect') && !clear.includes('app'));
});

function packet(sequence: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, body]);
}
const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

/** Protocol 41 with TLS and plugins. */
function greeting(): Buffer {
  return Buffer.concat([
    Buffer.from('\x0a8.0.36\0'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('12345678\0'),
    Buffer.from([0x8f, 0xaa, 33, 2, 0, 0x09, 0x00, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0mysql_native_password\0'),
  ]);
}
