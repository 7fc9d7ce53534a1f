import assert from 'node:assert/strict';
import test from 'node:test';
import { REFUSAL_CODES, type RefusalCode, refused, statusOf, typeOf } from './refusal.ts';

// Promises to callers: a code keeps its status and its type for ever, and of two faults the same one answers. Change these tables only to add.

const CATALOGUE: Readonly<Record<number, readonly string[]>> = {
  400: [
    'invalid_request',
    'invalid_api_version',
    'invalid_path',
    'route_required',
    'invalid_body',
    'validation_error',
    'template_unresolved',
  ],
  401: [
    'authentication_required',
    'invalid_api_key',
    'invalid_dpop_proof',
    'wrap_token_invalid',
    'signature_required',
    'signature_invalid',
    'signature_expired',
    'signature_replayed',
  ],
  402: ['plan_limit'],
  403: [
    'wrong_key_type',
    'forbidden',
    'subscription_inactive',
    'client_not_authorized',
    'ip_not_allowed',
    'secret_host_not_allowed',
    'secret_not_pinned',
    'host_not_allowed',
    'raw_card_endpoint_refused',
    'upstream_not_allowed',
    'egress_denied',
  ],
  404: [
    'tenant_not_found',
    'route_not_found',
    'environment_not_configured',
    'environment_disabled',
    'capture_not_found',
    'token_not_found',
    'credential_not_found',
  ],
  405: ['method_not_allowed'],
  413: ['payload_too_large'],
  414: ['uri_too_long'],
  415: ['unsupported_media_type'],
  417: ['expectation_failed'],
  424: [
    'secret_not_found',
    'secret_environment_missing',
    'secret_expired',
    'secret_type_not_injectable',
    'oauth2_not_connected',
    'share_revoked',
    'share_not_accepted',
    'secret_invalid_for_header',
    'template_invalid',
    'route_misconfigured',
    'field_action_failed',
  ],
  429: [
    'route_rate_limit_exceeded',
    'client_rate_limit_exceeded',
    'tenant_rate_limit_exceeded',
    'auth_throttled',
    'concurrency_limit_exceeded',
    'capture_throttled',
  ],
  431: ['headers_too_large'],
  500: ['internal_error', 'secret_decrypt_failed'],
  502: [
    'upstream_unreachable',
    'upstream_tls_error',
    'upstream_protocol_error',
    'oauth2_token_unavailable',
    'upstream_response_too_large',
    'response_action_failed',
  ],
  503: ['tenant_sealed', 'dependency_unavailable', 'audit_unavailable', 'circuit_open'],
  504: ['upstream_timeout'],
  508: ['loop_detected'],
};

/** Types that aren't the code itself. */
const TYPES: Readonly<Record<string, string>> = { capture_not_found: 'not_found', expectation_failed: 'invalid_request' };

test('every refusal of the core has the status and the type it always had (interface rule 12 §14)', () => {
  const listed = Object.entries(CATALOGUE).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)] as const));
  assert.deepEqual([...REFUSAL_CODES].sort(), listed.map(([code]) => code).sort());
  for (const [code, status] of listed) {
    assert.equal(statusOf(code as RefusalCode), status, code);
    assert.equal(typeOf(code as RefusalCode), TYPES[code] ?? (status === 429 ? 'rate_limit_exceeded' : code), code);
  }
});

test('who is sent away for a while is told for how long, in whole seconds from one on', () => {
  const waits = Object.fromEntries(
    REFUSAL_CODES.map((code) => [code, refused(code, 'x').retryAfter]).filter(([, wait]) => wait !== undefined),
  );
  assert.deepEqual(waits, { concurrency_limit_exceeded: 1, tenant_sealed: 30, audit_unavailable: 5, dependency_unavailable: 5 });
});
