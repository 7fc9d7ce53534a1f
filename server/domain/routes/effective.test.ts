import assert from 'node:assert/strict';
import test from 'node:test';
import { CONFIG_DEFAULTS, CONFIG_FIELDS, type ConfigRow, effectiveConfig, forMethod, methodAllowed } from './effective.ts';

const empty = Object.fromEntries(CONFIG_FIELDS.map((f) => [f, null])) as unknown as ConfigRow;
const base = (fields: Partial<ConfigRow> = {}): ConfigRow =>
  ({
    ...empty,
    ...CONFIG_DEFAULTS,
    allowed_methods: [],
    is_base: true,
    target_base_url: 'https://a.example',
    overridden_fields: [],
    ...fields,
  }) as ConfigRow;
const override = (fields: Partial<ConfigRow>): ConfigRow => ({
  ...empty,
  allowed_methods: [],
  ip_allowlist: [],
  is_base: false,
  overridden_fields: Object.keys(fields),
  ...fields,
});

test('a base row alone shows its own values and every field as local', () => {
  const config = effectiveConfig(base({ timeout_ms: 500 }), null);
  assert.equal(config.timeout_ms, 500);
  assert.equal(config.allowed_methods, null);
  assert.deepEqual(config.overridden_fields, CONFIG_FIELDS);
});

test('an override replaces what it names and inherits the rest, maps as a whole', () => {
  const config = effectiveConfig(
    base({ inject_headers_json: { A: '1', B: '2' }, ip_allowlist: ['10.0.0.0/8'], retry_attempts: 2 }),
    override({ inject_headers_json: { C: '3' }, ip_allowlist: [] }),
  );
  assert.deepEqual(config.inject_headers_json, { C: '3' });
  assert.deepEqual(config.ip_allowlist, []);
  assert.equal(config.retry_attempts, 2);
  assert.equal(config.target_base_url, 'https://a.example');
  assert.deepEqual(config.overridden_fields, ['inject_headers_json', 'ip_allowlist']);
});

test('empty arrays that the override does not name inherit', () => {
  const config = effectiveConfig(
    base({ ip_allowlist: ['10.0.0.0/8'], allowed_methods: ['GET'], http_method_restrictions_enabled: true }),
    override({}),
  );
  assert.deepEqual(config.ip_allowlist, ['10.0.0.0/8']);
  assert.deepEqual(config.allowed_methods, ['GET']);
});

test('pausing the base environment does not pause the others', () => {
  assert.equal(effectiveConfig(base({ enabled: false }), null).enabled, false);
  assert.equal(effectiveConfig(base({ enabled: false }), override({})).enabled, true);
  assert.equal(effectiveConfig(base(), override({ enabled: false })).enabled, false);
});

test('an override can hold null on purpose', () => {
  const config = effectiveConfig(base({ rate_limit_burst: 20 }), override({ rate_limit_burst: null }));
  assert.equal(config.rate_limit_burst, null);
});

test('an override can lift the method restriction of the base', () => {
  const config = effectiveConfig(
    base({ allowed_methods: ['GET'], http_method_restrictions_enabled: true }),
    override({ allowed_methods: [], http_method_restrictions_enabled: false }),
  );
  assert.equal(config.allowed_methods, null);
  assert.equal(methodAllowed(config, 'DELETE'), true);
});

test('GET implies HEAD, nothing else is implied', () => {
  const config = effectiveConfig(base({ allowed_methods: ['GET'], http_method_restrictions_enabled: true }), null);
  assert.deepEqual(
    ['GET', 'HEAD', 'POST', 'get'].map((m) => methodAllowed(config, m)),
    [true, true, false, false],
  );
});

test('a method entry replaces only what it names, HEAD falls back to GET, and an own limit has an own counter', () => {
  const method_configs = [
    { method: 'GET', timeout_ms: 1000 },
    { method: 'POST', rate_limit_enabled: true, rate_limit_requests: 1, rate_limit_window_sec: 1 },
  ];
  const config = effectiveConfig(base({ method_configs, use_method_specific_configs: true, retry_attempts: 3 }), null);
  assert.equal(forMethod(config, 'HEAD').timeout_ms, 1000);
  assert.equal(forMethod(config, 'HEAD').retry_attempts, 3);
  assert.equal(forMethod(config, 'GET').limit_method, null);
  assert.equal(forMethod(config, 'POST').limit_method, 'POST');
  assert.equal(forMethod(config, 'PUT').timeout_ms, 30_000);
  assert.equal(forMethod({ ...config, use_method_specific_configs: false }, 'GET').timeout_ms, 30_000);
});
