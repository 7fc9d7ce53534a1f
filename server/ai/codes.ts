// Every refusal of the AI planes, with its status (interface rule 51 §3, §4.1). `error` and `code` of the envelope hold the name.

/** What an authentication can fail by: such answers carry `X-Auth-Failure`, but for `ai_gateway_unavailable`. */
export const AUTHENTICATION_CODES = {
  missing_token: 401,
  empty: 401,
  bad_prefix: 401,
  malformed: 401,
  bad_env: 401,
  bad_kind: 401,
  bad_random: 401,
  bad_crc_format: 401,
  crc_mismatch: 401,
  unknown_token: 401,
  tenant_unavailable: 403,
  revoked: 401,
  oneshot_already_used: 401,
  tenant_key_missing: 401,
  capability_hmac_mismatch: 401,
  expired: 401,
  dpop_missing: 401,
  dpop_jkt_missing: 401,
  dpop_invalid: 401,
  dpop_jkt_mismatch: 401,
  dpop_replayed: 401,
  outside_valid_window: 403,
  ip_cidr_mismatch: 403,
  step_up_required: 401,
  agent_missing: 401,
  oneshot_consume_error: 401,
  /** Internal guard: a phase found no principal. */
  missing_auth: 401,
  /** Of the MCP plane's audience guard (interface rule 52 §4); a malformed resource is 400 there. */
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_target: 403,
  unknown_mcp_resource: 404,
} as const;

const POLICY_CODES = {
  invalid_api_version: 400,
  rate_limited: 429,
  monthly_limit_exceeded: 429,
  concurrency_limited: 429,
  agent_not_found: 404,
  agent_token_mismatch: 403,
  gateway_not_active: 503,
  agent_not_active: 503,
  kind_not_allowed: 403,
  operation_not_allowed: 403,
  user_required: 400,
  user_mismatch: 403,
  invalid_path: 400,
  invalid_request_body: 400,
  payload_too_large: 413,
  unsupported_operation: 422,
  shape_not_supported: 422,
  model_required: 422,
  model_not_allowed: 403,
  provider_not_allowed: 403,
  streaming_disabled: 422,
  unsupported_option: 422,
  tool_not_allowed: 400,
  residency_violation: 403,
  residency_unverified: 503,
  firewall_block: 400,
  firewall_unavailable: 503,
  canary_leak: 400,
  guardrail_block: 400,
  guardrail_unavailable: 503,
  pii_unavailable: 503,
  price_unavailable: 503,
  budget_unavailable: 503,
  budget_exceeded: 429,
  token_cap_exceeded: 429,
  output_schema_violation: 422,
  /** The schema itself can't be run: the agent's configuration, and nothing that the model said. */
  output_schema_unavailable: 503,
  upstream_not_configured: 502,
  upstream_credential_unavailable: 503,
  upstream_blocked: 502,
  upstream_unreachable: 502,
  upstream_timeout: 502,
  upstream_invalid_response: 502,
  upstream_auth_failed: 502,
  upstream_error: 502,
  /** Only in streams. */
  upstream_stream_failed: 502,
  dependency_unavailable: 503,
  ai_gateway_unavailable: 503,
  internal_error: 500,
} as const;

export const AI_CODES = { ...AUTHENTICATION_CODES, ...POLICY_CODES } as const satisfies Record<string, number>;

export type AiCode = keyof typeof AI_CODES;

export const isAiCode = (code: string): code is AiCode => Object.hasOwn(AI_CODES, code);
export const isAuthenticationCode = (code: string): boolean => Object.hasOwn(AUTHENTICATION_CODES, code);

/** Whole seconds to wait where the refusal itself doesn't know better; absent: unknown. */
export const AI_RETRY_AFTER: Partial<Record<AiCode, number>> = {
  ai_gateway_unavailable: 60,
  dependency_unavailable: 5,
  budget_unavailable: 5,
};
