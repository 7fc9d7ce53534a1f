import { json, type Wire } from '#server/api/respond.ts';
import { asRefusal } from '#server/kernel/errors.ts';

/** `error` of RFC 6749 §5.2 and its extensions (RFC 8628, 8693, 8707, 9449). */
export type OAuthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'access_denied'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'server_error'
  | 'temporarily_unavailable';

/** What the authorization server refuses: `description` is sent and says what to do next. */
export class OAuthProblem extends Error {
  readonly error: OAuthError;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: OAuthError, description: string, status = 400, headers: Record<string, string> = {}) {
    super(description);
    this.name = 'OAuthProblem';
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}

/** Anything else as a refusal of this plane: nothing is granted when a store is away, and no cause is sent. */
export function asOAuthProblem(error: unknown): OAuthProblem {
  if (error instanceof OAuthProblem) return error;
  const { status, message, retryAfter } = asRefusal(error);
  const wait = { 'retry-after': String(Math.max(1, Math.ceil(retryAfter ?? 5))) };
  if (status === 429) return new OAuthProblem('temporarily_unavailable', message, 429, wait);
  if (status === 503)
    return new OAuthProblem('temporarily_unavailable', 'The authorization server is not available. Try again in 5 seconds.', 503, wait);
  if (status >= 500) return new OAuthProblem('server_error', message, 500);
  return new OAuthProblem('invalid_request', message, status);
}

/** A refusal as it is sent (RFC 6749 §5.2). */
export const problemWire = ({ error, message, status, headers }: OAuthProblem): Wire =>
  json(status, { error, error_description: message }, { pragma: 'no-cache', ...headers });
