import assert from 'node:assert/strict';
import test from 'node:test';
import { bodyOf, type Config, type Draft, draftFrom, originOf, shownValue, withoutOverride, withValue } from './config-draft.ts';
import { problemsOf } from './config-problems.ts';

const base: Config = {
  environment_name: 'production',
  method_configs: null,
  overridden_fields: [],
  enabled: true,
  target_base_url: 'https://api.example.com',
  inject_headers_json: { Authorization: 'Bearer {{secret:A}}' },
  inject_body_json: {},
  inject_query_json: {},
  require_signature: false,
  signature_tolerance_sec: 300,
  signature_require_nonce: false,
  signature_scheme: 'v1',
  rate_limit_enabled: false,
  rate_limit_requests: null,
  rate_limit_window_sec: null,
  rate_limit_burst: null,
  rate_limit_per_client: false,
  allowed_methods: null,
  http_method_restrictions_enabled: false,
  use_method_specific_configs: false,
  requires_clients: false,
  mtls_certificate_id: null,
  upstream_ca_certificate_id: null,
  ip_allowlist: [],
  intercept_enabled: false,
  timeout_ms: 30_000,
  retry_attempts: 0,
  circuit_breaker_failures: 0,
  circuit_breaker_open_sec: 30,
  upstream_protocol: 'http1',
  body_placeholders: 'same_collection',
  forward_client_ip: false,
  log_payloads: null,
  upstream_auth: null,
};
const staging: Config = { ...base, environment_name: 'staging', overridden_fields: ['timeout_ms'], timeout_ms: 5_000 };

test('an override shows the base where nothing is local, and says so', () => {
  assert.equal(originOf('target_base_url', staging, false, {}), 'inherited');
  assert.equal(originOf('timeout_ms', staging, false, {}), 'overridden');
  assert.equal(originOf('timeout_ms', base, true, {}), 'base');
});

test('reverting shows the value of the base before it is saved, and sends null', () => {
  const draft = withoutOverride({}, staging, 'timeout_ms');
  assert.deepEqual(draft, { timeout_ms: null });
  assert.equal(shownValue('timeout_ms', staging, base, draft), 30_000);
});

test('reverting what was only typed and never saved leaves nothing to save', () => {
  const typed = withValue({}, staging, 'retry_attempts', 2, false);
  assert.deepEqual(typed, { retry_attempts: 2 });
  assert.deepEqual(withoutOverride(typed, staging, 'retry_attempts'), {});
});

test('typing the stored value back leaves nothing to save, but pinning an inherited value does', () => {
  assert.deepEqual(withValue({ timeout_ms: 9 }, staging, 'timeout_ms', 5_000, false), {});
  assert.deepEqual(withValue({}, staging, 'retry_attempts', 0, false), { retry_attempts: 0 });
});

test('clearing a nullable setting of the base keeps its null', () => {
  const limited: Config = { ...base, rate_limit_burst: 20 };
  const draft = withValue({}, limited, 'rate_limit_burst', null, true);
  assert.deepEqual(draft, { rate_limit_burst: null });
  assert.equal(shownValue('rate_limit_burst', limited, limited, draft), null);
});

test('form and JSON are the same value in both directions', () => {
  const draft: Draft = { retry_attempts: 3, timeout_ms: null };
  const body = bodyOf(staging, base, draft);
  assert.deepEqual(body, { retry_attempts: 3 });
  assert.deepEqual(draftFrom(body, staging, false), { retry_attempts: 3, timeout_ms: null });
  assert.deepEqual(draftFrom(bodyOf(base, base, { timeout_ms: 7_000 }), base, true), { timeout_ms: 7_000 });
});

test('an override that lets every method pass survives the JSON side', () => {
  const lifted: Config = { ...staging, overridden_fields: ['allowed_methods'], allowed_methods: null };
  const restricted: Config = { ...base, allowed_methods: ['GET'] };
  const body = bodyOf(lifted, restricted, {});
  assert.deepEqual(body, { allowed_methods: [] });
  assert.deepEqual(draftFrom(body, lifted, false), {});
});

test('what the API would refuse is named by field before it is sent', () => {
  const problems = problemsOf({ timeout_ms: 1, inject_headers_json: { Host: 'x' } }, { id: 'r', env: 'staging' });
  assert.ok(problems.timeout_ms);
  assert.match(problems['inject_headers_json.Host'] ?? '', /can't be injected/);
  assert.deepEqual(problemsOf({ timeout_ms: 500 }, { id: 'r', env: 'staging' }), {});
});
