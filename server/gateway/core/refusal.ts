/** Every refusal of the route plane: code -> status and, where it differs from the code, error.type (interface rule 12 §14). */
export const CODES = {
  invalid_request: [400],
  invalid_api_version: [400],
  invalid_path: [400],
  route_required: [400],
  invalid_body: [400],
  validation_error: [400],
  template_unresolved: [400],
  authentication_required: [401],
  invalid_api_key: [401],
  invalid_dpop_proof: [401],
  wrap_token_invalid: [401],
  signature_required: [401],
  signature_invalid: [401],
  signature_expired: [401],
  signature_replayed: [401],
  plan_limit: [402],
  wrong_key_type: [403],
  forbidden: [403],
  subscription_inactive: [403],
  client_not_authorized: [403],
  ip_not_allowed: [403],
  secret_host_not_allowed: [403],
  secret_not_pinned: [403],
  host_not_allowed: [403],
  raw_card_endpoint_refused: [403],
  upstream_not_allowed: [403],
  egress_denied: [403],
  tenant_not_found: [404],
  route_not_found: [404],
  environment_not_configured: [404],
  environment_disabled: [404],
  token_not_found: [404],
  credential_not_found: [404],
  capture_not_found: [404, 'not_found'],
  method_not_allowed: [405],
  payload_too_large: [413],
  uri_too_long: [414],
  unsupported_media_type: [415],
  expectation_failed: [417, 'invalid_request'],
  route_rate_limit_exceeded: [429, 'rate_limit_exceeded'],
  client_rate_limit_exceeded: [429, 'rate_limit_exceeded'],
  tenant_rate_limit_exceeded: [429, 'rate_limit_exceeded'],
  auth_throttled: [429, 'rate_limit_exceeded'],
  capture_throttled: [429, 'rate_limit_exceeded'],
  concurrency_limit_exceeded: [429, 'rate_limit_exceeded'],
  secret_not_found: [424],
  secret_environment_missing: [424],
  secret_expired: [424],
  secret_type_not_injectable: [424],
  oauth2_not_connected: [424],
  share_revoked: [424],
  share_not_accepted: [424],
  secret_invalid_for_header: [424],
  template_invalid: [424],
  route_misconfigured: [424],
  field_action_failed: [424],
  headers_too_large: [431],
  internal_error: [500],
  secret_decrypt_failed: [500],
  upstream_unreachable: [502],
  upstream_tls_error: [502],
  upstream_protocol_error: [502],
  oauth2_token_unavailable: [502],
  upstream_response_too_large: [502],
  response_action_failed: [502],
  tenant_sealed: [503],
  audit_unavailable: [503],
  circuit_open: [503],
  dependency_unavailable: [503],
  upstream_timeout: [504],
  loop_detected: [508],
} as const satisfies Record<string, readonly [number, string?]>;

export type RefusalCode = keyof typeof CODES;

/** A refusal is an answer, not an exception: phases return it. `message` is public. A plane may have codes of its own. */
export type Refused<Code extends string = RefusalCode> = {
  readonly code: Code;
  readonly message: string;
  /** Whole seconds. */
  readonly retryAfter?: number | undefined;
  /** Allow header of method_not_allowed. */
  readonly allow?: string | undefined;
  /** WWW-Authenticate of a 401; \`Bearer\` without it. */
  readonly challenge?: string | undefined;
  /** For the log only; never sent. */
  readonly cause?: unknown;
};

/** 500 for a code that is none of these. */
export const statusOf = (code: string): number => CODES[code as RefusalCode]?.[0] ?? 500;
export const typeOf = (code: RefusalCode): string => (CODES[code] as readonly [number, string?])[1] ?? code;
export const REFUSAL_CODES = Object.keys(CODES) as RefusalCode[];

const RETRY_AFTER: Partial<Record<RefusalCode, number>> = {
  tenant_sealed: 30,
  audit_unavailable: 5,
  dependency_unavailable: 5,
  concurrency_limit_exceeded: 1,
};

/** A refusal of the gateway’s own, with the wait that belongs to its code unless another is given. */
export function refused(
  code: RefusalCode,
  message: string,
  more: { retryAfter?: number; allow?: string; challenge?: string; cause?: unknown } = {},
): Refused {
  return {
    code,
    message,
    retryAfter: more.retryAfter ?? RETRY_AFTER[code],
    allow: more.allow,
    challenge: more.challenge,
    cause: more.cause,
  };
}
