import { expect, test } from '@playwright/test';
import { exchange, type RawAnswer } from './raw-socket.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream, unique } from './running-system.ts';

/**
 * The whole running system at its public sockets: nothing ambiguous is served on any plane, and no request, however odd, is answered by the
 * framework instead of us. The same tables run against the parts alone beside their code; here they run against what is deployed.
 */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const slug = unique('sockets');
const port = {} as Record<'api' | 'sandbox' | 'admin' | 'proxy', number>;
let upstream: Upstream;
let key: string;

test.beforeAll(async () => {
  Object.assign(port, {
    api: Number(new URL(setting('E2E_API_URL')).port),
    sandbox: Number(new URL(setting('E2E_SANDBOX_API_URL')).port),
    admin: Number(new URL(setting('E2E_ADMIN_URL')).port),
    proxy: Number(setting('E2E_PROXY_PORT')),
  });
  upstream = await startUpstream();
  await createWorkspace(slug);
  key = (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key as string;
  const route = await json(`${setting('E2E_API_URL')}/v1/routes`, {
    key,
    body: { name: 'orders', target_base_url: `${upstream.url}/base` },
  });
  expect(route.status, route.text).toBe(201);
});
test.afterAll(() => upstream?.close());

/** Where each plane listens, under which Host, a path it serves, and the credential that would open it. */
const planes = () => [
  { name: 'api', port: port.api, host: `localhost:${port.api}`, path: '/v1/environments', auth: `Authorization: Bearer ${key}\r\n` },
  { name: 'sandbox', port: port.sandbox, host: `localhost:${port.sandbox}`, path: '/v1/environments', auth: '' },
  { name: 'admin', port: port.admin, host: `localhost:${port.admin}`, path: '/auth/me', auth: '' },
  { name: 'proxy', port: port.proxy, host: `${slug}.localhost:${port.proxy}`, path: '/orders/x', auth: `X-Svc-Key: ${key}\r\n` },
  { name: 'path mount', port: port.proxy, host: `localhost:${port.proxy}`, path: `/p/${slug}/orders/x`, auth: `X-Svc-Key: ${key}\r\n` },
];

/** Runs a table a few rows at a time; what is wrong with its rows is asserted once, because an assertion costs more than a request. */
async function each<T>(rows: readonly T[], work: (row: T) => Promise<(string | false)[]>): Promise<void> {
  const problems: string[] = [];
  const rest = rows.values();
  const take = async () => {
    for (const row of rest) problems.push(...(await work(row)).filter((one) => one !== false));
  };
  await Promise.all(Array.from({ length: 8 }, take));
  expect(problems).toEqual([]);
}

/** What an answer lacks: our envelope, our request ID in header and body, and no trace of what is behind. */
function foreignIn({ status, headers, body: text }: RawAnswer, what: string): (string | false)[] {
  const told = (name: string, is: boolean) => !is && `${what}: ${name}, ${status} ${text.slice(0, 200)}`;
  const ours = [
    ...Object.keys(headers).map((name) => told(name, !/^x-(nextjs|middleware|sallyport|matched|powered-by)/.test(name))),
    told('a trace of what is behind', !/<html|Next\.js|node:internal|at \/|Prisma/i.test(text)),
  ];
  // Key sets and hosted fields refuse without a word (interface rules 40 §5.6, 41 §13).
  if (/ \/(?:pub|elements)\b/.test(what) && status === 404 && text === '') return ours;
  const id = headers['x-request-id'] ?? '';
  ours.push(told('request ID', UUID.test(id)), told('content type', /^application\/(scim\+)?json/.test(headers['content-type'] ?? '')));
  if (!text.startsWith('{')) return [...ours, told('no JSON', false)];
  // Each surface has a shape of its own: Management envelope, dashboard object (also inside a tRPC error), OAuth, SCIM. OAuth and SCIM have no ID.
  const body = JSON.parse(text);
  const error = typeof body.error === 'string' ? body : (body.error?.data ?? body.error ?? {});
  if ('error_description' in error || body.schemas) return [...ours, told('a request ID', error.request_id === undefined)];
  return [...ours, told('another request ID', error.request_id === id), told('error type', /^[a-z_]+$/.test(error.type ?? error.code))];
}

test('a request that two readers could understand differently is refused on every plane, and what is hidden behind it is never served', async () => {
  const hidden = 'HIDDEN';
  const table = (p: ReturnType<typeof planes>[number]): [string, string | Buffer, number][] => {
    const H = `Host: ${p.host}\r\n${p.auth}`;
    const behind = `GET ${p.path}?${hidden} HTTP/1.1\r\n${H}\r\n`;
    const post = (headers: string, body = '') => `POST ${p.path} HTTP/1.1\r\n${H}Content-Type: application/json\r\n${headers}\r\n${body}`;
    return [
      ['CL and TE', post(`Content-Length: ${behind.length}\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${behind}`), 400],
      ['TE and CL', post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', `0\r\n\r\n${behind}`), 400],
      ['two lengths', post(`Content-Length: 0\r\nContent-Length: ${behind.length}\r\n`, behind), 400],
      ['two equal lengths', post('Content-Length: 1\r\nContent-Length: 1\r\n', `a${behind}`), 400],
      ['a list of lengths', post('Content-Length: 0, 0\r\n', behind), 400],
      ['length +0', post('Content-Length: +0\r\n', behind), 400],
      ['length -1', post('Content-Length: -1\r\n', behind), 400],
      ['length 0x1', post('Content-Length: 0x1\r\n', `a${behind}`), 400],
      ['length beyond 2^64', post('Content-Length: 18446744073709551616\r\n', behind), 400],
      ['xchunked', post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${behind}`), 400],
      ['gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${behind}`), 400],
      ['chunked, identity', post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${behind}`), 400],
      ['doubled TE', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `0\r\n\r\n${behind}`), 400],
      ['TE with a vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', `0\r\n\r\n${behind}`), 400],
      ['TE with a space before the colon', post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${behind}`), 400],
      ['TE folded', post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${behind}`), 400],
      ['TE on HTTP/1.0', `POST ${p.path} HTTP/1.0\r\n${H}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${behind}`, 400],
      ['bare LF', `GET ${p.path} HTTP/1.1\n${H.replaceAll('\r', '')}\n${behind}`, 400],
      ['bare CR in a header', post('X-A: b\rTransfer-Encoding: chunked\r\n'), 400],
      ['NUL in a header', post('X-A: b\0c\r\n'), 400],
      ['a header without a name', post(': b\r\n'), 400],
      ['no Host', `GET ${p.path} HTTP/1.1\r\n\r\n`, 400],
      ['an empty Host', `GET ${p.path} HTTP/1.1\r\nHost:\r\n\r\n`, 400],
      ['two Hosts', `GET ${p.path} HTTP/1.1\r\n${H}Host: localhost:${port.admin}\r\n\r\n`, 400],
      ['two equal Hosts', `GET ${p.path} HTTP/1.1\r\nHost: ${p.host}\r\n${H}\r\n`, 400],
      [
        'absolute form of another host',
        `GET http://localhost:${port.admin === p.port ? port.api : port.admin}/auth/me HTTP/1.1\r\n${H}\r\n`,
        400,
      ],
      ['absolute form with userinfo', `GET http://${p.host}@evil.test/ HTTP/1.1\r\n${H}\r\n`, 400],
      ['asterisk form', `OPTIONS * HTTP/1.1\r\n${H}\r\n`, 400],
      ['a target without a slash', `GET foo HTTP/1.1\r\n${H}\r\n`, 400],
      ['a fragment', `GET ${p.path}#b HTTP/1.1\r\n${H}\r\n`, 400],
      ['a space in the target', `GET ${p.path} x HTTP/1.1\r\n${H}\r\n`, 400],
      ['an 8-bit target', Buffer.from(`GET /\xe4 HTTP/1.1\r\n${H}\r\n`, 'latin1'), 400],
      ['HTTP/2.0', `GET ${p.path} HTTP/2.0\r\n${H}\r\n`, 400],
      ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
      ['TLS on a plain port', Buffer.from('16030100', 'hex'), 400],
      ['two credentials', `GET ${p.path} HTTP/1.1\r\n${H}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`, 400],
      ['two idempotency keys', post('Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 0\r\n'), 400],
      ['a target over 16 KiB', `GET /${'a'.repeat(16_400)} HTTP/1.1\r\n${H}\r\n`, 414],
      ['a header block over 32 KiB', `GET ${p.path} HTTP/1.1\r\n${H}X-A: ${'a'.repeat(33_000)}\r\n\r\n`, 431],
      ['a header block over everything', `GET ${p.path} HTTP/1.1\r\n${H}X-A: ${'a'.repeat(90_000)}\r\n\r\n`, 431],
      ['201 header fields', `GET ${p.path} HTTP/1.1\r\n${H}${'X-A: b\r\n'.repeat(201)}\r\n`, 431],
      ['another expectation', post('Expect: 200-ok\r\nContent-Length: 0\r\n'), 417],
      ['CONNECT', 'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n\r\n', 405],
    ];
  };
  const rows = planes().flatMap((plane) => table(plane).map((row) => [plane.name, plane.port, ...row] as const));
  await each(rows, async ([plane, at, name, bytes, status]) => {
    const answer = await exchange(at, bytes);
    const isRefused = answer.status === status && answer.answers === 1;
    return [!isRefused && `${name} on ${plane}: ${answer.answers} of ${answer.status}`, ...foreignIn(answer, `${name} on ${plane}`)];
  });
  expect(upstream.seen.filter((call) => call.url.includes(hidden))).toEqual([]);
});

test('a body that lies about its chunks ends its connection, and nothing behind it is served', async () => {
  const chunks = ['0x2\r\n{}\r\n', '-2\r\n{}\r\n', '1\r\n{}\r\n', '2\n{}\r\n', `2;${'e'.repeat(20_000)}\r\n{}\r\n`, 'g\r\n{}\r\n'];
  const rows = planes().flatMap((plane) => chunks.map((chunk) => ({ plane, chunk })));
  await each(rows, async ({ plane, chunk }) => {
    const head = `POST ${plane.path} HTTP/1.1\r\nHost: ${plane.host}\r\n${plane.auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const behind = `GET ${plane.path}?HIDDEN HTTP/1.1\r\nHost: ${plane.host}\r\n${plane.auth}\r\n`;
    const { answers, status } = await exchange(plane.port, `${head}${chunk}0\r\n\r\n${behind}`);
    const isRefused = answers === 0 || (answers === 1 && status >= 400);
    return [!isRefused && `${JSON.stringify(chunk.slice(0, 20))} on ${plane.name}: ${answers} of ${status}`];
  });
  expect(upstream.seen.filter((call) => call.url.includes('HIDDEN'))).toEqual([]);
});

test('what the framework would answer by itself is answered by us on every plane that speaks JSON', async () => {
  const odd = (prefix: string): [string, string][] => [
    [`GET /${prefix}/`, ''],
    [`GET //${prefix}`, ''],
    [`GET /${prefix}//x`, ''],
    [`GET /${prefix}/%`, ''],
    [`GET /${prefix}/%zz`, ''],
    [`GET /${prefix}/%ff`, ''],
    [`GET /${prefix}/%00`, ''],
    [`GET /${prefix}/%0d%0aX-Injected:%201`, ''],
    [`GET /${prefix}%2fx`, ''],
    [`GET /${prefix}/%5cx`, ''],
    [`GET /${prefix}\\x`, ''],
    [`GET /${prefix}/../signin`, ''],
    [`GET /${prefix}/%2e%2e/signin`, ''],
    [`GET /${prefix}/./x`, ''],
    [`GET /${prefix}/..;/signin`, ''],
    [`GET /${prefix}/nothing-here`, ''],
    [`GET /${prefix}/nothing-here`, 'RSC: 1\r\n'],
    [`GET /${prefix}/nothing-here?_rsc=abc`, 'RSC: 1\r\nNext-Router-Prefetch: 1\r\nNext-Url: /signin\r\n'],
    [`GET /${prefix}/nothing-here`, 'X-Middleware-Subrequest: proxy:proxy:proxy:proxy:proxy\r\n'],
    [
      `GET /${prefix}/nothing-here`,
      'X-Nextjs-Data: 1\r\nX-Middleware-Prefetch: 1\r\nX-Matched-Path: /signin\r\nX-Invoke-Path: /signin\r\n',
    ],
    [
      `GET /${prefix}/nothing-here`,
      'X-Rewrite-Url: /signin\r\nX-Original-Url: /signin\r\nX-Forwarded-Host: evil.test\r\nX-Forwarded-Prefix: /x\r\n',
    ],
    [
      `POST /${prefix}/nothing-here`,
      'Next-Action: 0000000000000000000000000000000000000000\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n',
    ],
    [`POST /${prefix}/nothing-here`, 'Content-Type: multipart/form-data; boundary=\r\nContent-Length: 0\r\n'],
    [`TRACE /${prefix}/nothing-here`, ''],
    [`PROPFIND /${prefix}/nothing-here`, ''],
  ];
  const elsewhere = [
    'GET /',
    'GET /signin',
    'GET /index.html',
    'GET /_next/static/x.js',
    'GET /_next/data/x/index.json',
    'GET /_next/image?url=/x&w=16&q=1',
  ];
  elsewhere.push(
    'GET /admin/trpc/routes.list',
    'GET /auth/me',
    'GET /api/auth/session',
    'GET /404',
    'GET /500',
    'GET /_error',
    'GET /favicon.ico',
    'GET /.git/config',
  );
  type Row = [plane: string, port: number, host: string, line: string, headers: string];
  const rows: Row[] = [];
  const tenant = `${slug}.localhost:${port.proxy}`;
  for (const space of ['api', 'sandbox'] as const) {
    const host = `localhost:${port[space]}`;
    for (const prefix of ['v1', 'v1/routes', 'oauth', '.well-known', 'pub', 'elements/v1', 'agent/v1', 'wg', 'hooks/wf', 'scim/v2'])
      for (const [line, headers] of odd(prefix)) rows.push([space, port[space], host, line, headers]);
    for (const line of elsewhere) rows.push([space, port[space], host, line, '']);
  }
  // Outside of its API prefixes the dashboard serves pages, which are people's and may redirect within their origin.
  for (const prefix of ['admin', 'admin/trpc', 'auth', 'scim/v2'])
    for (const [line, headers] of odd(prefix))
      if (!/signin|GET \/\/|%2fx|\\x/.test(line)) rows.push(['admin', port.admin, `localhost:${port.admin}`, line, headers]);
  for (const prefix of ['v1/environments', 'scim/v2', '.well-known', 'oauth', '_capture', 'orders-not-there'])
    for (const [line, headers] of odd(prefix)) rows.push(['tenant', port.proxy, tenant, line, headers]);
  await each(rows, async ([plane, at, host, line, headers]) => {
    const answer = await exchange(at, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`);
    const what = `${line} ${headers.split('\r\n')[0]} on ${plane}`;
    const isRefused = answer.answers === 1 && answer.status >= 400 && answer.status < 500 && answer.headers['x-injected'] === undefined;
    return [!isRefused && `${what}: ${answer.answers} of ${answer.status}`, ...foreignIn(answer, what)];
  });
});

test('the body limit and the header limit of the Management API hold, announced or not, and the caller gets to read the refusal', async () => {
  const { host, auth } = planes()[0] as ReturnType<typeof planes>[number];
  const head = `POST /v1/environments HTTP/1.1\r\nHost: ${host}\r\n${auth}Connection: close\r\nContent-Type: application/json\r\n`;
  const big = `{"name":"${'x'.repeat(1024 * 1024)}"}`;
  const announced = await exchange(port.api, [`${head}Content-Length: ${big.length}\r\n\r\n`, big]);
  expect([announced.status, JSON.parse(announced.body).error.type]).toEqual([413, 'payload_too_large']);
  const chunked = await exchange(port.api, [
    `${head}Transfer-Encoding: chunked\r\n\r\n${big.length.toString(16)}\r\n`,
    big,
    '\r\n0\r\n\r\n',
  ]);
  expect([chunked.status, JSON.parse(chunked.body).error.type]).toEqual([413, 'payload_too_large']);
  const waiting = await exchange(port.api, `${head}Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n`);
  expect([waiting.status, waiting.answers], 'refused without asking for the body').toEqual([413, 1]);
  const exact = `{"name":"${'x'.repeat(1024 * 1024 - 11)}"}`;
  expect(exact.length).toBe(1024 * 1024);
  const fits = await exchange(port.api, [`${head}Content-Length: ${exact.length}\r\n\r\n`, exact]);
  expect([fits.status, JSON.parse(fits.body).error.type], 'one MiB itself is read and judged').toEqual([400, 'validation_error']);
  const headers = await exchange(
    port.api,
    `GET /v1/environments HTTP/1.1\r\nHost: ${host}\r\n${auth}Connection: close\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`,
  );
  expect([headers.status, JSON.parse(headers.body).error.type]).toEqual([431, 'headers_too_large']);
  const answers = [announced, chunked, waiting, fits, headers];
  expect(answers.flatMap((answer) => foreignIn(answer, String(answer.status))).filter(Boolean)).toEqual([]);
  const unknown = await exchange(port.api, [`${head.replace('/environments', '/nothing')}Content-Length: ${big.length}\r\n\r\n`, big]);
  expect([unknown.status, JSON.parse(unknown.body).error.type], 'a path that is not there is told before its size').toEqual([
    404,
    'not_found',
  ]);
});

test('what is let in by its size is served, up to the last byte: nothing behind the gateway has a smaller limit', async () => {
  const { host, auth } = planes()[0] as ReturnType<typeof planes>[number];
  // What a field costs is its name, its value and four bytes; `Connection: close` and the rest of these are 16 KiB together.
  const fields = `Host: ${host}\r\n${auth}Connection: close\r\n`;
  const filled = (bytes: number) => `${fields}X-A: ${'a'.repeat(bytes - fields.length - 7)}\r\n`;
  const target = (bytes: number) => `/v1/routes?per_page=1&unknown=${'a'.repeat(bytes - 30)}`;
  for (const [url, headers, status] of [
    ['/v1/routes', filled(16 * 1024), 200],
    ['/v1/routes', filled(16 * 1024 + 1), 431],
    [target(16 * 1024), fields, 200],
    [target(16 * 1024 + 1), fields, 414],
    [target(16 * 1024), filled(16 * 1024), 200],
  ] as const) {
    const answer = await exchange(port.api, `GET ${url} HTTP/1.1\r\n${headers}\r\n`);
    expect([answer.status, answer.headers['service-version']], `${url.length} + ${headers.length}: ${answer.body.slice(0, 100)}`).toEqual([
      status,
      '2026-08-05',
    ]);
  }
  const cookies = `Cookie: a=${'b'.repeat(30_000)}\r\nConnection: close\r\n`;
  const page = await exchange(port.admin, `GET /signin HTTP/1.1\r\nHost: localhost:${port.admin}\r\n${cookies}\r\n`);
  expect(page.status, 'a browser with a full jar of cookies').toBe(200);
});

test('a long answer of the API arrives compressed and opens, and one that need not be is left alone', async () => {
  const url = `${setting('E2E_API_URL')}/v1/routes/orders`;
  const ask = (accept: string, path = url) => fetch(path, { headers: { authorization: `Bearer ${key}`, 'accept-encoding': accept } });
  const plain = await ask('identity');
  const text = await plain.text();
  expect([plain.headers.get('content-encoding'), text.length > 1_024]).toEqual([null, true]);
  for (const coding of ['gzip', 'br']) {
    const answer = await ask(coding);
    expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([coding, 'Accept-Encoding']);
    expect((await answer.json()).data).toEqual(JSON.parse(text).data);
  }
  expect((await ask('gzip', `${setting('E2E_API_URL')}/v1/environments`)).headers.get('content-encoding')).toBe(null);
});

test('a proxied path reaches the upstream below its base or is refused, however it is spelled', async () => {
  const host = `${slug}.localhost:${port.proxy}`;
  const paths = [
    '/x',
    '//x',
    '/x//',
    '/x/',
    '/%2f',
    '/a%2Fb',
    '/%20',
    '/%',
    '/%zz',
    '/%ff',
    '/..',
    '/../x',
    '/./x',
    '/%2e%2e/x',
    '/%2E./x',
    '/.%2e',
    '/..%2fx',
  ];
  paths.push(
    '/..%5cx',
    '/x/..',
    '/%252e%252e/x',
    '/%00',
    '/%0d%0aX:1',
    '/..;/x',
    '/x?a=..%2f..',
    '/x?a=%0d%0a',
    '/.../x',
    '/{{secret:X}}',
    '/x;y=1',
    '/%e2%80%ae',
  );
  for (const path of paths) {
    const before = upstream.seen.length;
    const answer = await exchange(
      port.proxy,
      `GET /orders${path} HTTP/1.1\r\nHost: ${host}\r\nX-Svc-Key: ${key}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.answers, path).toBe(1);
    expect(answer.headers['x-request-id'], path).toMatch(UUID);
    if (answer.status === 200) {
      expect(upstream.seen.length, path).toBe(before + 1);
      expect(new URL(upstream.seen.at(-1)?.url ?? '', 'http://h').pathname, path).toMatch(/^\/base(\/|$)/);
    } else {
      expect([answer.status, upstream.seen.length], `${path}: ${answer.body}`).toEqual([400, before]);
      expect(foreignIn(answer, path).filter(Boolean)).toEqual([]);
    }
  }
});

test('a kept-alive connection never carries one workspace over to the next, and a pipeline is answered in order', async () => {
  const mine = `GET /orders/1 HTTP/1.1\r\nHost: ${slug}.localhost:${port.proxy}\r\nX-Svc-Key: ${key}\r\n\r\n`;
  const theirs = `GET /orders/2 HTTP/1.1\r\nHost: nobody-${slug}.localhost:${port.proxy}\r\nX-Svc-Key: ${key}\r\n\r\n`;
  const bare = `GET /orders/3 HTTP/1.1\r\nHost: ${slug}.localhost:${port.proxy}\r\nConnection: close\r\n\r\n`;
  const answer = await exchange(port.proxy, mine + theirs + bare);
  expect(answer.answers).toBe(3);
  const statuses = `HTTP/1.1 ${answer.status} ${answer.body}`.match(/HTTP\/1\.1 \d{3}/g);
  expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 401']);
});
