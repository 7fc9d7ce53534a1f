import assert from 'node:assert/strict';
import { type EventEmitter, once } from 'node:events';
import { createServer } from 'node:http2';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import {
  Client,
  credentials,
  Metadata,
  type Metadata as MetadataType,
  Server,
  ServerCredentials,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { madeCertificate } from '#server/domain/secrets/certificates/certificate.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, makeSecret, served, startGateway } from '../gateway.fixture.ts';
import { generateServer } from '../tls-upstream.fixture.ts';

// gRPC's own library on both ends; between them the whole gateway, as behind a trusted proxy.

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1' });
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();
await makeSecret(w, 'TOKEN', { production: 'the-token-of-the-upstream' });

const asIs = (bytes: Buffer) => bytes;
const method = (path: string, requestStream: boolean, responseStream: boolean) => ({
  path,
  requestStream,
  responseStream,
  ...{ requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs },
});
const SERVICE = {
  unary: method('/test.Echo/Unary', false, false),
  fails: method('/test.Echo/Fails', false, false),
  slow: method('/test.Echo/Slow', false, false),
  download: method('/test.Echo/Download', false, true),
  upload: method('/test.Echo/Upload', true, false),
  chat: method('/test.Echo/Chat', true, true),
};
/** What the library's handlers get and call back; it types them per service only where code was generated. */
type Incoming = {
  request: Buffer;
  metadata: MetadataType;
  getPath(): string;
  on(event: string, listener: (part: Buffer) => void): void;
  write(part: Buffer): void;
  end(): void;
};
type Done = (error: { code: number; details: string } | null, value?: Buffer, trailers?: MetadataType) => void;
const seen: { metadata: Record<string, unknown>; path: string }[] = [];
let cancelled = 0;
let downloaded = 0;
const note = (metadata: MetadataType, path: string) => seen.push({ metadata: metadata.getMap(), path });

async function startServer(serverCredentials = ServerCredentials.createInsecure()) {
  const server = new Server();
  const handlers = {
    unary(call: Incoming, done: Done) {
      note(call.metadata, call.getPath());
      const trailers = new Metadata();
      trailers.set('x-sum', '42');
      trailers.set('x-bin-bin', Buffer.from([0, 1, 255]));
      trailers.set('x-svc-origin', 'forged');
      done(null, call.request, trailers);
    },
    fails(_: Incoming, done: Done) {
      done({ code: status.ALREADY_EXISTS, details: 'it is there – already' });
    },
    slow(call: Incoming) {
      call.on('cancelled', () => cancelled++);
    },
    async download(call: Incoming) {
      for (let i = 0; i < 5; i++) {
        call.write(Buffer.from(`part ${i}`));
        await until(() => downloaded > i);
      }
      call.end();
    },
    upload(call: Incoming, done: Done) {
      let bytes = 0;
      call.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      call.on('end', () => done(null, Buffer.from(String(bytes))));
    },
    chat(call: Incoming) {
      call.on('data', (part: Buffer) => call.write(Buffer.from(`you said ${part}`)));
      call.on('end', () => call.end());
    },
  };
  server.addService(SERVICE, handlers as unknown as UntypedServiceImplementation);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', serverCredentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  after(() => server.forceShutdown());
  return port;
}

const upstreamPort = await startServer();
await makeRoute(w, 'echo', `http://127.0.0.1:${upstreamPort}`, { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } });
await served(running, w);

const client = new Client(`127.0.0.1:${running.port}`, credentials.createInsecure(), {
  'grpc.default_authority': `${w.tenant.slug}.localhost:${running.port}`,
});
after(() => client.close());
const headers = (more: Record<string, string> = {}) => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries({ 'x-svc-key': key, 'x-svc-route': 'echo', ...more })) metadata.set(name, value);
  return metadata;
};
type Result = {
  error: { code: number; details: string; metadata: MetadataType } | null;
  value?: Buffer | undefined;
  head: MetadataType;
  trailers: MetadataType;
};
function unary(path: string, body: Buffer, metadata = headers(), options = {}): Promise<Result> {
  return new Promise((resolve) => {
    let head = new Metadata();
    let trailers = new Metadata();
    let result: { error: unknown; value?: Buffer | undefined } | undefined;
    const call = client.makeUnaryRequest(path, asIs, asIs, body, metadata, options, (error, value) => {
      result = { error, value };
    });
    call.on('metadata', (got) => {
      head = got;
    });
    call.on('status', (got) => {
      trailers = got.metadata;
      setImmediate(() => resolve({ ...(result ?? { error: got }), head, trailers } as Result));
    });
  });
}

test('a unary call goes through with its metadata, a secret, the block, and trailers', async () => {
  const { error, value, head, trailers } = await unary('/test.Echo/Unary', Buffer.from('hello'), headers({ 'x-mine': 'yes' }));
  assert.equal(error, null);
  assert.equal(String(value), 'hello');
  assert.equal(head.get('x-svc-origin')[0], 'upstream');
  assert.ok(head.get('x-svc-request-id')[0]);
  assert.equal(trailers.get('x-sum')[0], '42');
  assert.deepEqual(trailers.get('x-bin-bin')[0], Buffer.from([0, 1, 255]));
  assert.equal(trailers.get('x-svc-origin').length, 0);
  const { metadata, path } = seen.at(-1) ?? {};
  assert.equal(path, '/test.Echo/Unary');
  assert.equal(metadata?.authorization, 'Bearer the-token-of-the-upstream');
  assert.equal(metadata?.['x-mine'], 'yes');
  assert.equal(
    Object.keys(metadata ?? {}).some((name) => name.startsWith('x-svc-')),
    false,
  );
});

test('an error of the service comes as it is, and the log has its code', async () => {
  const { error } = await unary('/test.Echo/Fails', Buffer.from('x'));
  assert.equal(error?.code, status.ALREADY_EXISTS);
  assert.equal(error?.details, 'it is there – already');
  await until(async () => {
    await running.flush();
    const row = await db().request_logs.findFirst({ where: { tenant_id: w.tenant.id }, orderBy: { id: 'desc' } });
    return row?.status_code === 200 && row.error_detail === 'grpc:6';
  });
  assert.equal((await unary('/test.Echo/Nothing', Buffer.from('x'))).error?.code, status.UNIMPLEMENTED);
});

test('a refusal of ours is a status of gRPC, with the block', async () => {
  const cases: [Record<string, string>, number, string][] = [
    [{ 'x-svc-key': 'tk_live_wrong' }, status.UNAUTHENTICATED, 'invalid_api_key'],
    [{ 'x-svc-route': 'nothing' }, status.UNIMPLEMENTED, 'route_not_found'],
    [{ 'grpc-timeout': '5' }, status.INVALID_ARGUMENT, 'invalid_request'],
  ];
  for (const [more, code, name] of cases) {
    const { error } = await unary('/test.Echo/Unary', Buffer.from('x'), headers(more));
    assert.equal(error?.code, code, name);
    assert.equal(error?.metadata.get('x-svc-error')[0], name);
    assert.equal(error?.metadata.get('x-svc-origin')[0], 'service');
    assert.ok(error?.details);
  }
});

test('messages of the server come one by one, none held back until the next', async () => {
  const call = client.makeServerStreamRequest('/test.Echo/Download', asIs, asIs, Buffer.from('go'), headers());
  const parts: string[] = [];
  downloaded = 0;
  call.on('data', (part: Buffer) => {
    downloaded = parts.push(String(part));
  });
  const [ended] = await once(call, 'status');
  assert.equal(ended.code, status.OK);
  assert.deepEqual(
    parts,
    [0, 1, 2, 3, 4].map((i) => `part ${i}`),
  );
});

test('twenty megabytes of the client arrive whole, in messages of a megabyte', async () => {
  const value = await new Promise<string>((resolve, reject) => {
    const call = client.makeClientStreamRequest('/test.Echo/Upload', asIs, asIs, headers(), (error, got) =>
      error ? reject(error) : resolve(String(got)),
    );
    for (let i = 0; i < 20; i++) call.write(Buffer.alloc(1_000_000, i));
    call.end();
  });
  assert.equal(value, '20000000');
});

test('both sides talk in turn over one call', async () => {
  const call = client.makeBidiStreamRequest('/test.Echo/Chat', asIs, asIs, headers());
  for (const text of ['one', 'two', 'three']) {
    call.write(Buffer.from(text));
    assert.equal(String((await once(call, 'data'))[0]), `you said ${text}`);
  }
  call.end();
  call.resume();
  assert.equal((await once(call, 'status'))[0].code, status.OK);
});

test('the deadline of the caller ends the call at the upstream, and one of two hundred works at once', async () => {
  const before = cancelled;
  const { error } = await unary('/test.Echo/Slow', Buffer.from('x'), headers(), { deadline: Date.now() + 200 });
  assert.equal(error?.code, status.DEADLINE_EXCEEDED);
  await until(() => cancelled === before + 1);
  const all = await Promise.all(Array.from({ length: 150 }, (_, i) => unary('/test.Echo/Unary', Buffer.from(`n${i}`))));
  assert.deepEqual(
    all.map(({ value }) => String(value)),
    all.map((_, i) => `n${i}`),
  );
});

test('grpc-timeout is kept here too, for callers who do not watch the time', async () => {
  const before = cancelled;
  const { error } = await unary('/test.Echo/Slow', Buffer.from('x'), headers({ 'grpc-timeout': '150m' }));
  assert.equal(error?.code, status.DEADLINE_EXCEEDED);
  assert.equal(error?.metadata.get('x-svc-error')[0], 'upstream_timeout');
  await until(() => cancelled === before + 1);
});

test('what would have to read or change a message is refused', async () => {
  await makeRoute(w, 'injects', `http://127.0.0.1:${upstreamPort}`, { inject_body_json: { a: 1 } });
  await served(running, w);
  const { error } = await unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': 'injects' }));
  assert.equal(error?.code, status.INVALID_ARGUMENT);
  assert.equal(error?.metadata.get('x-svc-error')[0], 'unsupported_media_type');
});

test('an upstream that is away, or knows no HTTP/2, is UNAVAILABLE', async () => {
  await makeRoute(w, 'away', 'http://127.0.0.1:9');
  await makeRoute(w, 'old', `http://127.0.0.1:${await oldServer()}`);
  await served(running, w);
  const away = await unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': 'away' }));
  assert.equal(away.error?.code, status.UNAVAILABLE);
  assert.equal(away.error?.metadata.get('x-svc-error')[0], 'upstream_unreachable');
  const old = await unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': 'old' }));
  assert.equal(old.error?.metadata.get('x-svc-error')[0], 'upstream_protocol_error');
});

async function oldServer(): Promise<number> {
  const { createServer: createOld } = await import('node:http');
  const server = createOld((_, res) => res.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('over TLS the upstream is verified, offered h2 alone, and shown the client certificate of the route', async () => {
  const presented = await madeCertificate();
  const { ca_pem, cert, key: serverKey } = await generateServer('localhost');
  const pair = [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(serverKey) }];
  const port = await startServer(ServerCredentials.createSsl(Buffer.from(presented.ca_pem), pair, true));
  const own = await made(w.live, 'secrets.create_certificate', {
    ...{ name: 'CLIENT_CERT', certificate_content: presented.certificate_pem, private_key: presented.private_key_pem },
  });
  const authority = await made(w.live, 'secrets.create_certificate', { name: 'SERVER_CA', certificate_content: ca_pem });
  const url = `https://localhost:${port}`;
  await makeRoute(w, 'mutual', url, { mtls_certificate_id: own.id, upstream_ca_certificate_id: authority.id });
  await makeRoute(w, 'untrusted', url, { mtls_certificate_id: own.id });
  await makeRoute(w, 'anonymous', url, { upstream_ca_certificate_id: authority.id });
  await served(running, w);
  const ask = (route: string) => unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': route }));
  assert.equal(String((await ask('mutual')).value), 'x');
  assert.equal((await ask('untrusted')).error?.metadata.get('x-svc-error')[0], 'upstream_tls_error');
  assert.equal((await ask('anonymous')).error?.code, status.UNAVAILABLE);
});

test('an upstream of HTTP/1.1 over TLS is told from one of HTTP/2 by ALPN', async () => {
  const { ca_pem, cert, key: serverKey } = await generateServer('localhost');
  const server = createTls({ cert, key: serverKey }, (_, res) => res.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const authority = await made(w.live, 'secrets.create_certificate', { name: 'OTHER_CA', certificate_content: ca_pem });
  await makeRoute(w, 'tls-old', `https://localhost:${(server.address() as AddressInfo).port}`, {
    upstream_ca_certificate_id: authority.id,
  });
  await served(running, w);
  const { error } = await unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': 'tls-old' }));
  assert.equal(error?.code, status.UNAVAILABLE);
  assert.match(error?.metadata.get('x-svc-error')[0] as string, /upstream_(?:tls|protocol)_error/);
});

test('an address that is not allowed is refused at the connection, as by HTTP/1.1', async () => {
  await makeRoute(w, 'inside', 'https://10.0.0.1');
  await served(running, w);
  const { error } = await unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': 'inside' }));
  assert.equal(error?.code, status.PERMISSION_DENIED);
  assert.equal(error?.metadata.get('x-svc-error')[0], 'upstream_not_allowed');
});

test('a key that is revoked ends its calls, whether an answer has begun or not', async () => {
  const { text, row } = await w.key();
  await served(running, w);
  const own = headers({ 'x-svc-key': text });
  const call = client.makeBidiStreamRequest('/test.Echo/Chat', asIs, asIs, own);
  call.on('error', () => undefined);
  call.write(Buffer.from('one'));
  assert.equal(String((await once(call, 'data'))[0]), 'you said one');
  const waiting = unary('/test.Echo/Slow', Buffer.from('x'), own);
  await until(() => running.runtime.grpcCalls.size === 2);
  const ended = new Promise<number>((resolve) => call.on('status', ({ code }) => resolve(code)));
  await db().api_keys.update({ where: { id: row.id }, data: { active: false } });
  assert.notEqual(await ended, status.OK);
  assert.equal((await waiting).error?.code, status.PERMISSION_DENIED);
  await until(() => running.runtime.grpcCalls.size === 0 && running.runtime.inFlight.size === 0);
});

test('an upstream that goes away on purpose is left, and the next call finds it again', async () => {
  let sessions = 0;
  let last: import('node:http2').ServerHttp2Session | undefined;
  const server = createServer();
  server.on('session', (session) => {
    sessions++;
    last = session;
  });
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.from([0, 0, 0, 0, 1, 65]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  await makeRoute(w, 'raw', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await served(running, w);
  const ask = () => unary('/test.Echo/Unary', Buffer.from('x'), headers({ 'x-svc-route': 'raw' }));
  assert.equal(String((await ask()).value), 'A');
  assert.equal(String((await ask()).value), 'A');
  assert.equal(sessions, 1);
  const left = once(last as EventEmitter, 'close');
  last?.close();
  await left;
  assert.equal(String((await ask()).value), 'A');
  assert.equal(sessions, 2);
  last?.destroy();
});
