import assert from 'node:assert/strict';
import test from 'node:test';
import type { Config } from '#components/routes/config-draft.ts';
import { compared, missingSecrets, oneSided } from './compare.ts';

const ID = '0b9c1f5e-1f2b-4c58-9a4e-3d3f7f0a1b2c';
const config = (environment_name: string, more: Partial<Config> = {}): Config =>
  ({
    environment_name,
    overridden_fields: [],
    enabled: true,
    target_base_url: 'https://a.example',
    inject_headers_json: { Authorization: `Bearer {{secret_id:${ID}}}` },
    inject_query_json: {},
    inject_body_json: { nested: { key: '{{secret:BODY_KEY}}' } },
    http_method_restrictions_enabled: false,
    allowed_methods: null,
    requires_clients: false,
    ip_allowlist: [],
    rate_limit_enabled: false,
    rate_limit_requests: null,
    rate_limit_window_sec: null,
    timeout_ms: 30_000,
    retry_attempts: 0,
    circuit_breaker_failures: 0,
    circuit_breaker_open_sec: 30,
    upstream_protocol: 'http1',
    body_placeholders: 'same_collection',
    log_payloads: null,
    ...more,
  }) as Config;

test('only what differs is shown, with the upstream always in view', () => {
  const lines = compared(config('production'), config('staging', { timeout_ms: 5_000 }));
  assert.deepEqual(
    lines.map((line) => [line.label, line.differs]),
    [
      ['Upstream', false],
      ['Timeout', true],
    ],
  );
});

test('a route that one side does not serve says so instead of pretending to be equal', () => {
  assert.deepEqual(compared(config('production'), undefined), [{ label: 'Configured', a: 'Yes', b: 'No', differs: true }]);
});

test('a secret without a value in the environment is found in headers, method overrides and deep inside bodies', () => {
  const secrets = new Map([
    [ID, { name: 'STRIPE', environment_names: ['production'] }],
    ['body_key', { name: 'BODY_KEY', environment_names: ['production'] }],
  ]);
  assert.deepEqual(missingSecrets(config('production'), secrets), []);
  assert.deepEqual(missingSecrets(config('staging'), secrets), ['STRIPE', 'BODY_KEY']);
  const method_configs = [
    { method: 'POST', inject_headers_json: { 'X-Key': '{{secret:BODY_KEY}}' } },
  ] as unknown as Config['method_configs'];
  const plain = { inject_headers_json: {}, inject_body_json: {}, method_configs };
  assert.deepEqual(missingSecrets(config('staging', plain), secrets), ['BODY_KEY']);
});

test('a secret with a value on one side only is listed with the side that lacks it, used by a route or not', () => {
  const secret = (name: string, ...environment_names: string[]) => ({ name, environment_names });
  const secrets = [
    secret('BOTH', 'production', 'staging'),
    secret('LEFT', 'production'),
    secret('RIGHT', 'staging'),
    secret('NEITHER', 'eu'),
  ];
  assert.deepEqual(oneSided(secrets, 'production', 'staging'), [
    { name: 'LEFT', missing_in: 'staging' },
    { name: 'RIGHT', missing_in: 'production' },
  ]);
});
