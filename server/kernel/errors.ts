import { anyOutageOf, type Outage, outageOf } from './outage.ts';

/** The error catalogue of the Management API and the dashboard plane: one HTTP status per type (interface rule 01 §5.1, §5.4). */
export const ERROR_STATUS = {
  validation_error: 400,
  invalid_request: 400,
  invalid_definition: 400,
  invalid_api_version: 400,
  invalid_idempotency_key: 400,
  invalid_type: 400,
  use_certificate_download: 400,
  invalid: 400,
  domain_txt_not_found: 400,
  reveal_reason_required: 400,
  static_credentials_rejected: 400,
  provider_probe_failed: 400,
  decrypt_failed: 400,
  kms_verify_failed: 400,
  key_version_disabled: 400,
  not_escrowed: 400,
  authentication_required: 401,
  invalid_api_key: 401,
  invalid_dpop_proof: 401,
  invalid_client_token: 401,
  invalid_signature: 401,
  replay_window_exceeded: 401,
  client_token_expired: 401,
  client_token_used: 401,
  invalid_token: 401,
  clock_skew: 401,
  nonce_replayed: 401,
  agent_revoked: 401,
  not_authenticated: 401,
  invalid_credentials: 401,
  mfa_code_invalid: 401,
  webauthn_failed: 401,
  plan_feature: 402,
  plan_limit: 402,
  fingerprint_mismatch: 403,
  unverified_build: 403,
  source_not_allowed: 403,
  wrong_tenant: 403,
  wrong_key_type: 403,
  subscription_inactive: 403,
  forbidden: 403,
  use_oauth: 403,
  privilege_escalation: 403,
  system_client_protected: 403,
  client_token_action_mismatch: 403,
  client_token_payload_mismatch: 403,
  origin_not_allowed: 403,
  role_denied: 403,
  not_a_member: 403,
  mfa_required: 403,
  step_up_required: 403,
  session_scope_mismatch: 403,
  sso_required: 403,
  sso_refused: 403,
  csrf_failed: 403,
  operator_custody_blocked: 403,
  scim_plan_required: 403,
  reveal_role_denied: 403,
  reveal_tick_required: 403,
  reveal_policy_denied: 403,
  reveal_step_up_required: 403,
  share_use_only: 403,
  not_found: 404,
  no_kms_config: 404,
  key_version_not_found: 404,
  payload_not_captured: 404,
  migration_not_found: 404,
  item_not_found: 404,
  share_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  in_use: 409,
  deletion_not_allowed: 409,
  request_in_progress: 409,
  rotation_in_progress: 409,
  sealed: 409,
  not_sealed: 409,
  key_revoked: 409,
  already_revoked: 409,
  version_active: 409,
  root_not_active: 409,
  rewrap_pending: 409,
  claim_already_collected: 409,
  last_owner: 409,
  key_managed: 409,
  capture_expired: 410,
  key_version_destroyed: 410,
  vault_disabled: 409,
  token_space_exhausted: 409,
  too_many_migrations: 409,
  migration_not_capturing: 409,
  item_not_pending: 409,
  name_conflict: 409,
  value_unavailable: 409,
  commit_conflict: 409,
  port_in_use: 409,
  connection_disabled: 409,
  lease_limit: 409,
  not_renewable: 409,
  not_cancellable: 409,
  token_expired: 410,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  idempotency_key_reuse: 422,
  headers_too_large: 431,
  rate_limit_exceeded: 429,
  rate_limited: 429,
  reveal_budget_exceeded: 429,
  internal_error: 500,
  reveal_check_failed: 500,
  kms_probe_failed: 502,
  unseal_failed: 502,
  database_unreachable: 502,
  database_error: 502,
  ssh_host_key_mismatch: 502,
  token_error: 500,
  dependency_unavailable: 503,
  agent_offline: 503,
  tenant_sealed: 503,
  audit_unavailable: 503,
  reveal_budget_unavailable: 503,
  reveal_audit_unavailable: 503,
  database_timeout: 504,
} as const;

export type ErrorType = keyof typeof ERROR_STATUS;

export type RefusalOptions = {
  /** Whole seconds for Retry-After; absent when unknown. */
  retryAfter?: number;
  /** For the log only. */
  cause?: unknown;
  /** Overrides the catalogue's status: only plan_limit on clients and environments is 403 (interface rule 01 §5.1). */
  status?: number;
  /** Extra members of a dashboard-plane error body, e.g. enroll_url. Never sent on /v1. */
  extra?: Record<string, unknown>;
  /** Extra response headers, e.g. Allow. */
  headers?: Record<string, string>;
};

/** What the caller caused or may act on. `message` is public; `cause` goes to the log. */
export class Refusal extends Error {
  readonly type: ErrorType;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(type: ErrorType, message: string, options: RefusalOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Refusal';
    this.type = type;
    this.status = options.status ?? ERROR_STATUS[type];
    this.retryAfter = options.retryAfter;
    this.extra = options.extra;
    this.headers = options.headers ?? {};
  }
}

/** The one answer for missing, foreign and other-space ids. */
export const notFound = () => new Refusal('not_found', "This resource doesn't exist, or you don't have access to it.");

/** A value of the body or query is wrong; the message starts with the field's name. */
export const invalid = (field: string, problem: string) => new Refusal('validation_error', `${field}: ${problem}`);

/** Anything that is not a Refusal is our fault: one generic sentence, the cause for the log. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // By name: `crypto` is above the kernel. Most verbs say more themselves.
  if (error instanceof Error && error.name === 'TenantKeyUnavailable')
    return new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  const outage = outageOf(error);
  if (outage) return new Refusal('dependency_unavailable', OUTAGES[outage], { retryAfter: 5, cause: error });
  return new Refusal('internal_error', 'Something went wrong on our side. Include the request ID when you contact support.', {
    cause: error,
  });
}

/** Whether something is away, ours or anybody's: for the log, and for tools that have nothing but our database. What callers are told is `asRefusal`. */
export function isOutage(error: unknown): boolean {
  if (error instanceof Refusal) return error.type === 'dependency_unavailable';
  return anyOutageOf(error) !== undefined || FULL.has(String((error as { code?: unknown } | null | undefined)?.code));
}

/** The disk of this machine takes nothing. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE']);

/** A connection may be lost between a commit and its answer, so that nobody knows whether a change was made. */
const OUTAGES: Record<Outage, string> = {
  refused: "The service can't reach its database. Your request wasn't processed. Try again.",
  lost: 'The service lost its database while it processed your request. A change may or may not have been made. Try again with the same Idempotency-Key, or check first.',
  read_only:
    "The service's database takes no changes right now, as while it moves to another server. Your request wasn't processed. Try again.",
  overloaded:
    "The service's database ended your request because it took too long or there is no room for it. Nothing was changed. Try again.",
};
