import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { parseCurl } from './curl.ts';
import { proposeFromCurl } from './from-curl.ts';
import { OPENAPI_LENGTH } from './limits.shared.ts';
import { proposeFromOpenApi } from './read-openapi.ts';

const curl = (text: string) => {
  const proposed = proposeFromCurl(text);
  assert.ok(proposed.ok, JSON.stringify(proposed));
  const [route] = proposed.proposal.routes;
  assert.ok(route);
  return { route, secrets: proposed.proposal.secrets, warnings: proposed.proposal.warnings };
};
const openapi = async (document: unknown) => {
  const proposed = await proposeFromOpenApi(typeof document === 'string' ? document : JSON.stringify(document));
  assert.ok(proposed.ok, JSON.stringify(proposed));
  const [route] = proposed.proposal.routes;
  assert.ok(route);
  return { route, secrets: proposed.proposal.secrets, warnings: proposed.proposal.warnings };
};

test('a bearer key becomes a secret and a template, its scheme stays outside', () => {
  const { route, secrets } = curl(`curl https://api.stripe.com/v1/charges \\
    -H "Authorization: Bearer hunter2-key" \\
    -H 'Content-Type: application/json' -H 'Stripe-Version: 2026-01-01' \\
    -d '{"amount": 5}'`);
  assert.deepEqual(route, {
    name: 'Stripe',
    target_base_url: 'https://api.stripe.com',
    inject_headers_json: { Authorization: 'Bearer {{secret:STRIPE_TOKEN}}', 'Stripe-Version': '2026-01-01' },
    inject_query_json: {},
    sample_call: {
      method: 'POST',
      path: '/v1/charges',
      headers: { 'Content-Type': 'application/json', 'Stripe-Version': '2026-01-01' },
      body: '{"amount": 5}',
    },
  });
  assert.deepEqual(
    secrets.map((s) => [s.name, s.value]),
    [['STRIPE_TOKEN', 'hunter2-key']],
  );
});

test('user and password become one Basic secret in base64', () => {
  for (const command of [
    'curl -u sk_test_1: https://api.stripe.com/v1',
    'curl https://sk_test_1:@api.stripe.com/v1',
    "curl -usk_test_1 'https://api.stripe.com/v1'",
  ]) {
    const { route, secrets } = curl(command);
    assert.equal(route.inject_headers_json.Authorization, 'Basic {{secret:STRIPE_BASIC_AUTH}}', command);
    assert.equal(Buffer.from(secrets[0]?.value ?? '', 'base64').toString(), 'sk_test_1:', command);
    assert.equal(route.target_base_url, 'https://api.stripe.com');
  }
});

test('keys in the query leave the URL, and -G moves data into it', () => {
  const { route, secrets } = curl(
    `curl -G --data-urlencode 'q=Rome' -d appid=abc123 'https://api.openweathermap.org/data/2.5/weather?units=metric'`,
  );
  assert.deepEqual(route.inject_query_json, { appid: '{{secret:OPENWEATHERMAP_APPID}}' });
  assert.deepEqual(route.sample_call, { method: 'GET', path: '/data/2.5/weather?units=metric&q=Rome' });
  assert.equal(secrets[0]?.value, 'abc123');
});

test('an unquoted URL with & is read as it was meant', () => {
  const { route, warnings } = curl('curl https://maps.example.com/x?a=1&key=abc&b=2 -H "Accept: */*"');
  assert.equal(route.sample_call.path, '/x?a=1&b=2');
  assert.deepEqual(route.inject_query_json, { key: '{{secret:EXAMPLE_KEY}}' });
  assert.match(warnings.join(), /quoted/);
});

test('stand-ins give a secret without a value', () => {
  for (const [value, name] of [
    ['$OPENAI_API_KEY', 'OPENAI_API_KEY'],
    ['$'.concat('{OPENAI_API_KEY}'), 'OPENAI_API_KEY'],
    ['{{openai-key}}', 'OPENAI_KEY'],
    ['YOUR_API_KEY', 'OPENAI_TOKEN'],
    ['<token>', 'OPENAI_TOKEN'],
  ] as const) {
    const { route, secrets } = curl(`curl https://api.openai.com/v1/models -H "Authorization: Bearer ${value}"`);
    assert.equal(route.inject_headers_json.Authorization, `Bearer {{secret:${name}}}`);
    assert.deepEqual(
      secrets.map((s) => [s.name, s.value]),
      [[name, undefined]],
    );
  }
});

test('every spelling of the options is understood', () => {
  const { call } = parseCurl(
    `curl -sSXPUT --url=https://a.example.com/x -HX-A:1 --header 'X-B: it'\\''s' $'-HX-C: a\\'b' -b 'sid=1; t=2' --json '{"a":1}' -A me -k`,
  ) as Extract<ReturnType<typeof parseCurl>, { ok: true }>;
  assert.equal(call.method, 'PUT');
  assert.equal(call.url, 'https://a.example.com/x');
  assert.deepEqual(call.headers, [
    { name: 'X-A', value: '1' },
    { name: 'X-B', value: "it's" },
    { name: 'X-C', value: "a'b" },
    { name: 'User-Agent', value: 'me' },
    { name: 'Cookie', value: 'sid=1; t=2' },
    { name: 'Content-Type', value: 'application/json' },
    { name: 'Accept', value: 'application/json' },
  ]);
  assert.equal(call.body, '{"a":1}');
  assert.match(call.warnings.join(), /certificate checks/);
});

test('several lines, prompts, pipes and other shells do not matter', () => {
  for (const command of [
    '$ curl https://a.example.com/x | jq .',
    'curl https://a.example.com/x > out.json',
    'curl ^\r\n  "https://a.example.com/x"',
    'curl `\n https://a.example.com/x',
    'curl a.example.com/x',
    'curl https://a.example.com/x; rm -rf /',
    "/usr/bin/curl -o f -L https://a.example.com/x # it's a comment",
  ])
    assert.deepEqual(curl(command).route.target_base_url + curl(command).route.sample_call.path, 'https://a.example.com/x', command);
});

test('the pasted call comes back with its method, query, headers and body, less the credential', () => {
  const { route } = curl(
    `curl -X PATCH 'https://api.example.com/v1/x%20y?b=2+3&key=abc&a=%2B1' -u me:pw -H 'Accept: text/csv' -H 'X-Trace: t' -H 'Host: evil' -b sid=1 \
      --data-binary 'line one\nline two' -d n=1 --data-urlencode 'q=a b&c'`,
  );
  assert.deepEqual(route.sample_call, {
    method: 'PATCH',
    path: '/v1/x%20y?b=2+3&a=%2B1',
    headers: { Accept: 'text/csv', 'X-Trace': 't', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'line one\nline two&n=1&q=a%20b%26c',
  });
  assert.doesNotMatch(JSON.stringify(route), /me:pw|abc|sid=1/);
});

test('a form and a file stay options of curl, because only the caller’s machine can read them', () => {
  const upload = curl(`curl https://a.example.com/x -F 'file=@cat.png' -F kind=cat`).route.sample_call;
  assert.deepEqual(upload, {
    method: 'POST',
    path: '/x',
    body_options: ['--form', 'file=@cat.png', '--form', 'kind=cat'],
  });
  const file = curl(`curl https://a.example.com/x -H 'content-type: text/csv' -d @rows.csv`).route.sample_call;
  assert.deepEqual([file.body, file.body_options, file.headers], [undefined, ['--data', '@rows.csv'], { 'content-type': 'text/csv' }]);
  assert.equal(curl(`curl https://a.example.com/x --data-raw @me`).route.sample_call.body, '@me');
  assert.deepEqual(curl(`curl -T f.bin https://a.example.com/x`).route.sample_call.method, 'PUT');
});

test('a credential in the body is not given back', () => {
  const stripe = ['sk', 'live', 'abcdefghijkl'].join('_');
  for (const [body, given] of [
    [`{"client_secret": "hunter\\"2", "a": 1}`, '{"client_secret": "[redacted]", "a": 1}'],
    ['grant_type=x&client_secret=hunter2&b=1', 'grant_type=x&client_secret=[redacted]&b=1'],
    [`{"note":"${stripe}"}`, '{"note":"[redacted]"}'],
  ] as const) {
    const { route, warnings } = curl(`curl https://a.example.com/x -d '${body}'`);
    assert.equal(route.sample_call.body, given);
    assert.match(warnings.join(), /body seems to contain a credential/);
  }
});

test('an OpenAPI import lists every operation, and at most 2,000 however many the references make', async () => {
  const item = Object.fromEntries(['get', 'put', 'post', 'delete'].map((method) => [method, { summary: method.repeat(500) }]));
  const paths = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`/p${i}`, { $ref: '#/components/pathItems/x' }]));
  const large = (n: number) => ({
    openapi: '3.1.0',
    servers: [{ url: 'https://a.example.com' }],
    components: { pathItems: { x: item } },
    paths: paths(n),
  });
  assert.equal((await openapi(large(300))).route.operations?.length, 1_200);
  const { route, warnings } = await openapi(large(5_000));
  assert.equal(route.operations?.length, 2_000);
  assert.match(warnings.join(), /first 2,000 of 20,000 operations/);
  assert.ok(JSON.stringify(route.operations).length < 400_000);
});

test('what is no curl command is refused with a reason', () => {
  for (const text of [
    'wget https://a.example.com',
    'curl',
    'curl -H',
    'curl ftp://a.example.com/x',
    'curl "http://["',
    '',
    "curl 'unclosed",
    'curl https://a.example.com/${TOKEN',
    'curl https://a.example.com/${}',
  ])
    assert.equal(proposeFromCurl(text).ok, false, text);
});

test('hostile text is read in linear time', async () => {
  for (const [before, part] of [
    ['', "'"],
    ['', '"\\'],
    ['', '$'],
    ['', '\\\n'],
    ['https://a.example.com/?x=1', '&a=1'],
    ['https://a.example.com/', '<('],
    ['https://a.example.com ', '-H x:y '],
  ] as const)
    await assertGrowsLinearly(`${before}${part}`, 10_000, (size) => `curl ${before}${part.repeat(size / part.length)}`, proposeFromCurl);
});

test('a command of many headers or credentials costs what it is long, and not the square of it', async () => {
  const many = (n: number, one: (i: number) => string, joint: string) => Array.from({ length: n }, (_, i) => one(i)).join(joint);
  for (const [what, most, command] of [
    ['headers', 2_000, (n: number) => `curl https://a.example.com ${many(n, (i) => `-H 'X-H${i}: v'`, ' ')}`],
    ['tokens', 2_000, (n: number) => `curl https://api.example.com ${many(n, (i) => `-Htoken:${i}`, ' ')}`],
    ['keys', 3_000, (n: number) => `curl 'https://api.example.com/?${many(n, (i) => `key=${i}`, '&')}'`],
    ['flags', 5_000, (n: number) => `curl https://api.example.com ${many(n, () => '-k', ' ')}`],
  ] as const)
    await assertGrowsLinearly(what, most, command, (text) => assert.ok(proposeFromCurl(text).ok));
});

test('headers the gateway sets itself and per-call headers are not proposed', () => {
  const { route, warnings } = curl(
    `curl https://a.example.com -H 'Host: evil' -H 'X-Svc-Key: k' -H 'User-Agent: x' -H 'Accept: */*' -H 'X-Api-Key: k1' -H 'x-api-key: k2'`,
  );
  assert.deepEqual(Object.keys(route.inject_headers_json), ['X-Api-Key']);
  assert.equal(warnings.filter((w) => w.includes('left out')).length, 2);
});

const description = {
  openapi: '3.1.0',
  info: { title: 'Pets\u0007 API' },
  servers: [
    { url: 'https://{region}.pets.example.com/v2/', variables: { region: { default: 'eu' } } },
    { url: 'https://sandbox.pets.example.com' },
    { url: '/relative' },
  ],
  security: [{ key: [] }, { bearer: [], q: [] }],
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Pet-Key' },
      q: { type: 'apiKey', in: 'query', name: 'api_key' },
      bearer: { $ref: '#/components/securitySchemes/real' },
      real: { type: 'http', scheme: 'Bearer' },
      unused: { type: 'http', scheme: 'basic' },
    },
  },
  paths: { '/pets/{id}': { get: { summary: ' One\n pet ' }, delete: {}, parameters: [] }, '/pets': { get: {}, post: {}, trace: {} } },
};

test('an OpenAPI description becomes a route with a template per used scheme', async () => {
  const { route, secrets, warnings } = await openapi(description);
  assert.deepEqual(route, {
    name: 'Pets API',
    target_base_url: 'https://eu.pets.example.com/v2',
    inject_headers_json: { 'X-Pet-Key': '{{secret:EXAMPLE_PET_KEY}}', Authorization: 'Bearer {{secret:EXAMPLE_TOKEN}}' },
    inject_query_json: { api_key: '{{secret:EXAMPLE_API_KEY}}' },
    allowed_methods: ['GET', 'POST', 'DELETE'],
    sample_call: { method: 'GET', path: '/pets' },
    operations: [
      { method: 'GET', path: '/pets/{id}', summary: 'One pet' },
      { method: 'DELETE', path: '/pets/{id}' },
      { method: 'GET', path: '/pets' },
      { method: 'POST', path: '/pets' },
    ],
  });
  assert.deepEqual(
    secrets.map((s) => s.value),
    [undefined, undefined, undefined],
  );
  assert.match(warnings.join(), /sandbox\.pets/);
});

test('a version and a default that aren’t quoted in YAML are read as they are written', async () => {
  const { route } = await openapi(
    'openapi: 3.0\ninfo: {title: 1.10, version: 1}\nservers: [{url: "https://api.example.com/{v}", variables: {v: {default: 1.10}}}]\npaths: {}\n',
  );
  assert.deepEqual([route.target_base_url, route.name], ['https://api.example.com/1.10', '1.10']);
});

test('YAML reads the same, schemes without requirements all count, clashes are said', async () => {
  const { route, warnings } = await openapi(`openapi: 3.0.3
info: {title: A}
servers: [{url: "https://api.acme.io"}]
components:
  securitySchemes:
    basic: {type: http, scheme: basic}
    bearer: {type: http, scheme: bearer}
    login: {type: oauth2, flows: {}}
    host: {type: apiKey, in: header, name: Host}
paths: {}
`);
  assert.deepEqual(route.inject_headers_json, { Authorization: 'Basic {{secret:ACME_BASIC_AUTH}}' });
  assert.equal(warnings.length, 3);
});

test('descriptions that cannot be used are refused with a reason', async () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
    .split('')
    .map(
      (c, i, all) =>
        `${c}: &${c} [${Array(9)
          .fill(`*${all[i - 1] ?? 'a'}`)
          .join(',')}]`,
    )
    .join('\n')}`;
  for (const text of [
    '{',
    '[]',
    'just text',
    '{"swagger":"2.0"}',
    '{"openapi":"3.2.0"}',
    '{"openapi":"3.1.0"}',
    '{"openapi":"3.1.0","servers":[{"url":"/v1"}]}',
    '{"openapi":"3.0.0","servers":[{"url":"javascript:alert(1)"}]}',
    bomb,
  ])
    assert.equal((await proposeFromOpenApi(text)).ok, false, text.slice(0, 60));
  const odd = await openapi({
    openapi: '3.0.0',
    servers: [{ url: 'https://a.example.com' }, null, 5],
    security: 'x',
    components: {
      securitySchemes: { __proto__: { type: 'http' }, a: null, b: { $ref: '#/__proto__/x' }, c: { $ref: 'http://elsewhere' } },
    },
    paths: { '/x': null, '/y': { get: null } },
  });
  assert.deepEqual(odd.route.inject_headers_json, {});
});

test('no pasted description keeps the process busy, however short: its YAML is read beside other work, and stopped', async () => {
  const head = 'openapi: 3.1.0\nservers:\n  - url: https://a.example.com\n';
  const texts = [
    `${head}${'? '.repeat(400)}`,
    `${head}x: ${'[?'.repeat(50_000)}`,
    `${head}x: ${'[}'.repeat(50_000)}`,
    `${head}x: ${'!a '.repeat(50_000)}`,
  ];
  // Those that never end are stopped sooner than a person's would be: the time they have is spent to the last.
  const limit = 700;
  for (const text of texts) {
    let [read, turns] = [false, 0];
    const reading = proposeFromOpenApi(text, undefined, undefined, limit)
      .catch((error) => assert.equal(error.name, 'WorkTooSlow'))
      .finally(() => (read = true));
    while (!read) {
      await setImmediate();
      turns++;
    }
    await reading;
    assert.ok(turns > 10, `${text.slice(55, 75)}: other work had ${turns} turns`);
  }
});

test('a description of many security schemes is read in linear time', async () => {
  const described = (size: number) =>
    JSON.stringify({
      openapi: '3.1.0',
      servers: [{ url: 'https://a.example.com' }],
      components: {
        securitySchemes: Object.fromEntries(Array.from({ length: size }, (_, i) => [`s${i}`, { type: 'apiKey', in: 'query', name: 'k' }])),
      },
    });
  await assertGrowsLinearly('security schemes', 8_000, described, openapi);
});

test('server variables never expand beyond the length of a target', async () => {
  const server = (url: string, value: string) => ({ url, variables: { a: { default: value } } });
  const hostile = { ...server(`https://a.example.com/${'{a}'.repeat(600)}`, 'x'.repeat(50_000)) };
  const before = process.memoryUsage().heapUsed;
  const { route, warnings } = await openapi({
    openapi: '3.1.0',
    servers: [
      ...Array.from({ length: 6 }, () => hostile),
      server(`https://b.example.com/${'{a}'.repeat(8_500)}`, ''),
      server('https://{a}', 'c.example.com//'),
    ],
  });
  assert.equal(route.target_base_url, 'https://c.example.com');
  assert.equal(warnings.filter((warning) => warning.includes('longer than 2,048 characters')).length, 7);
  assert.ok(process.memoryUsage().heapUsed - before < 50_000_000);
});

test('a path item that many paths refer to costs no more than its methods', async () => {
  const described = (size: number) => {
    const members = Object.fromEntries(Array.from({ length: size }, (_, i) => [`x-${i}`, i]));
    const paths = Object.fromEntries(Array.from({ length: size }, (_, i) => [`/p${i}`, { $ref: '#/components/pathItems/x' }]));
    return JSON.stringify({
      openapi: '3.1.0',
      servers: [{ url: 'https://a.example.com' }],
      paths,
      components: { pathItems: { x: { ...members, get: { security: [members] } } } },
    });
  };
  const text = described(6_000);
  assert.ok(text.length <= OPENAPI_LENGTH);
  assert.equal((await openapi(text)).route.operations?.length, 2_000);
  await assertGrowsLinearly('paths times members', 6_000, described, openapi);
});
