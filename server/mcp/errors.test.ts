import assert from 'node:assert/strict';
import test from 'node:test';
import { RPC_CODE_NAMES, type RpcCode, rpcNumber, statusOf } from './errors.ts';
import { isLegacyVersion, SUPPORTED_VERSIONS } from './versions.ts';

/** Number, status in the revisions of 2025, status in 2026-07-28 (interface rule 52 §7). */
const TABLE: Readonly<Record<RpcCode, readonly [rpc: number, legacy: number, modern: number]>> = {
  // The message itself, and its session: MCP says the status.
  parse_error: [-32700, 400, 400],
  invalid_request: [-32600, 400, 400],
  unsupported_media_type: [-32600, 415, 415],
  payload_too_large: [-32600, 413, 413],
  unknown_session: [-32600, 404, 404],
  session_required: [-32600, 400, 400],
  method_not_allowed: [-32600, 405, 405],
  origin_not_allowed: [-32000, 403, 403],
  invalid_envelope: [-32602, 400, 400],
  header_mismatch: [-32020, 400, 400],
  missing_client_capability: [-32021, 400, 400],
  unsupported_version: [-32022, 400, 400],
  // The interface says the status, or that it carries the class.
  missing_auth: [-32001, 401, 401],
  rate_limited: [-32000, 429, 429],
  token_cap_exceeded: [-32000, 429, 429],
  budget_exceeded: [-32000, 429, 429],
  operation_not_allowed: [-32000, 403, 403],
  user_required: [-32000, 403, 403],
  user_mismatch: [-32000, 403, 403],
  guardrail_block: [-32000, 400, 400],
  guardrail_unavailable: [-32000, 503, 503],
  gateway_not_active: [-32603, 503, 503],
  // Everything else that answers a request.
  method_not_found: [-32601, 200, 404],
  invalid_params: [-32602, 200, 200],
  invalid_arguments: [-32602, 200, 200],
  tool_not_allowed: [-32001, 200, 403],
  firewall_block: [-32002, 200, 400],
  argument_rule: [-32000, 200, 403],
  approval_required: [-32000, 200, 403],
  grant_required: [-32000, 200, 403],
  input_required_refused: [-32000, 200, 403],
  credential_unavailable: [-32000, 200, 503],
  firewall_unavailable: [-32000, 200, 503],
  pii_unavailable: [-32000, 200, 503],
  budget_unavailable: [-32000, 200, 503],
  dependency_unavailable: [-32000, 200, 503],
  canceled: [-32000, 200, 503],
  upstream_blocked: [-32000, 200, 502],
  upstream_unreachable: [-32000, 200, 502],
  upstream_timeout: [-32000, 200, 502],
  upstream_auth_failed: [-32000, 200, 502],
  upstream_invalid_response: [-32000, 200, 502],
  result_too_large: [-32000, 200, 502],
  route_refused: [-32000, 200, 502],
  internal_error: [-32603, 200, 500],
  server_not_active: [-32603, 200, 503],
};

test('every refusal has its number and status in every revision', () => {
  for (const code of RPC_CODE_NAMES) {
    const [rpc, legacy, modern] = TABLE[code];
    assert.equal(rpcNumber(code), rpc, code);
    for (const version of SUPPORTED_VERSIONS) {
      const era = isLegacyVersion(version) ? 'legacy' : 'modern';
      assert.equal(statusOf(code, era, true), era === 'legacy' ? legacy : modern, `${code} in ${version}`);
    }
  }
  assert.deepEqual(Object.keys(TABLE).sort(), [...RPC_CODE_NAMES].sort());
});

test('an error that reaches no request is told by its status in every revision', () => {
  for (const code of ['dependency_unavailable', 'internal_error'] as const)
    for (const era of ['legacy', 'modern'] as const) assert.equal(statusOf(code, era, false), TABLE[code][2], code);
});
