import assert from 'node:assert/strict';
import test from 'node:test';
import { stringify } from 'yaml';
import { numbers } from '#server/testing/numbers.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { file, home } from './config.fixture.ts';

// Random configurations one after the other: whatever was there, apply leads to what the file says, and what is exported then is the same file again.

const ROUNDS = 3;
const first = THOROUGH ? Date.now() % 2 ** 31 : 1;
const starts = Array.from({ length: THOROUGH ? 12 : 1 }, (_, at) => first + at * ROUNDS);
const ENVIRONMENTS = ['production', 'staging', 'qa'];
const CLIENTS = ['One', 'Two', 'Three'];

function configuration(seed: number): Record<string, unknown> {
  const random = numbers(seed);
  const chance = (p: number) => random() < p;
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const some = <T>(list: readonly T[]): T[] => list.filter(() => chance(0.5));
  const settings = (): Record<string, unknown> => ({
    ...(chance(0.4) ? { inject_headers_json: { 'X-One': '{{secret:KEY}}', ...(chance(0.5) ? { 'X-Gone': null } : {}) } } : {}),
    ...(chance(0.3) ? { inject_query_json: { q: String(Math.floor(random() * 9)) } } : {}),
    ...(chance(0.3) ? { inject_body_json: { a: [1, { b: null }] } } : {}),
    ...(chance(0.3) ? { require_signature: chance(0.5) } : {}),
    ...(chance(0.4) ? { requires_clients: chance(0.5) } : {}),
    ...(chance(0.4)
      ? { rate_limit_enabled: chance(0.7), rate_limit_requests: 1 + Math.floor(random() * 50), rate_limit_window_sec: 60 }
      : {}),
    ...(chance(0.3) ? { allowed_methods: one([['GET'], ['POST', 'GET'], ['DELETE', 'PUT']]) } : {}),
    ...(chance(0.3)
      ? {
          method_configs: one([
            [{ method: 'POST', timeout_ms: 1_000 }],
            [
              { method: 'PUT', require_signature: true },
              { method: 'GET', timeout_ms: 200 },
            ],
          ]),
        }
      : {}),
    ...(chance(0.3) ? { ip_allowlist: one([['203.0.113.0/24'], ['2001:db8::/32', '198.51.100.7']]) } : {}),
    ...(chance(0.3) ? { timeout_ms: 100 + Math.floor(random() * 1_000) } : {}),
    ...(chance(0.3) ? { log_payloads: one(['all', 'errors', 'off']) } : {}),
    ...(chance(0.2)
      ? {
          upstream_auth: one([
            { type: 'aws_sigv4', secret: 'KEY', region: 'eu-west-1', service: 's3' },
            { type: 'jwt_bearer', algorithm: 'HS256', secret: 'KEY', issuer: 'us' },
            { type: 'none' },
          ]),
        }
      : {}),
  });
  const route = (name: string) => {
    const base = one(ENVIRONMENTS);
    const others = some(ENVIRONMENTS.filter((environment) => environment !== base));
    return {
      name,
      slug: name.toLowerCase(),
      base_environment: base,
      target_base_url: `https://${one(['a', 'b'])}.example.com`,
      ...(chance(0.5) ? { collection: one(['Left', 'Right']) } : {}),
      ...(chance(0.2) ? { enabled: false } : {}),
      ...settings(),
      clients: some(CLIENTS),
      environments: Object.fromEntries(
        others.map((environment) => [
          environment,
          {
            ...settings(),
            ...(chance(0.3) ? { target_base_url: 'https://c.example.com' } : {}),
            ...(chance(0.2) ? { enabled: false } : {}),
            clients: some(CLIENTS),
          },
        ]),
      ),
      actions: some([
        { direction: 'response', action: 'mask', selectors: ['$.card'], mask: 'last4' },
        { direction: 'response', action: 'mask', selectors: ['$.name'], mask: 'full' },
      ]),
    };
  };
  const collection = (name: string) => ({
    name,
    ...(chance(0.5) ? { description: `About ${name}` } : {}),
    variables: Object.fromEntries(
      some(['a', 'b', 'c']).map((key) => [
        key,
        chance(0.5) ? { secret: 'KEY' } : { value: key, ...(chance(0.5) ? { description: 'Why' } : {}) },
      ]),
    ),
    expected_environments: some(ENVIRONMENTS),
    environment_defaults: Object.fromEntries(
      some(ENVIRONMENTS).map((environment) => [
        environment,
        { base_url: chance(0.5) ? 'https://d.example.com' : null, clients: some(CLIENTS) },
      ]),
    ),
  });
  const standard = one(ENVIRONMENTS);
  return {
    format: 1,
    environments: ENVIRONMENTS.map((name) => ({ name, is_default: name === standard, ...(chance(0.5) ? { color: '#112233' } : {}) })),
    secrets: [{ name: 'KEY', value_from: { env: 'KEY' }, tags: some(['x', 'y']), collection: chance(0.5) ? 'Left' : null }],
    collections: ['Left', 'Right'].map(collection),
    clients: CLIENTS.map((name, at) => ({
      name,
      ip_address: `203.0.113.${at + 1}`,
      enabled: chance(0.8),
      ...(chance(0.3) ? { collection: 'Right' } : {}),
    })),
    routes: ['First', 'Second'].map(route),
  };
}

for (const start of starts)
  test(`from any configuration to any other, apply ends where the file is, and an export of it differs in nothing (from seed ${start})`, async () => {
    const { run } = await home('live', { KEY: 'a value of a secret that is long enough' });
    for (let seed = start; seed < start + ROUNDS; seed++) {
      const source = file(stringify(configuration(seed)));
      const applied = await run(['apply', '-f', source, '--yes']);
      assert.equal(applied.code, 0, `seed ${seed}: ${applied.err}\n${applied.out}`);
      assert.doesNotMatch(applied.err, /not stored as/, `seed ${seed}`);
      const exported = await run(['export']);
      const drift = await run(['diff', '-f', source]);
      assert.equal(drift.code, 0, `seed ${seed}: ${drift.out}${drift.err}`);
      const again = await run(['diff', '-f', file(exported.out)]);
      assert.equal(again.code, 0, `seed ${seed}: ${again.out}${again.err}`);
    }
  });
