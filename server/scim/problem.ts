import { StatementTooSlow } from '#server/kernel/database.ts';
import { asRefusal } from '#server/kernel/errors.ts';

/** The codes of RFC 7644 §3.12 that a 400 or a 409 names. */
export type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget' | 'uniqueness';

/** Refusals of the service itself (interface rule 23 §2). */
export type ScimError =
  | 'scim_plan_required'
  | 'scim_rate_limited'
  | 'scim_rate_limiter_unavailable'
  | 'scim_users_live_only'
  | 'system_client_protected'
  | 'scim_domain_unverified'
  | 'scim_member_limit'
  | 'scim_client_limit'
  | 'scim_last_owner';

type Options = { scimType?: ScimType; error?: ScimError; headers?: Record<string, string>; cause?: unknown };

/** A refused SCIM call. `detail` is public; an empty one is left out of the answer. */
export class ScimProblem extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly error: ScimError | undefined;
  readonly headers: Record<string, string>;

  constructor(status: number, detail: string, { scimType, error, headers = {}, cause }: Options = {}) {
    super(detail, cause === undefined ? undefined : { cause });
    this.name = 'ScimProblem';
    this.status = status;
    this.scimType = scimType;
    this.error = error;
    this.headers = headers;
  }
}

/** 400: the request is at fault. */
export const badRequest = (scimType: Exclude<ScimType, 'uniqueness'>, detail: string) => new ScimProblem(400, detail, { scimType });
/** The same bytes for a host without SCIM, a path without an endpoint, and an id that is unknown, deleted or foreign. */
export const notFound = () => new ScimProblem(404, '');

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** The body of RFC 7644 §3.12, with `error` for refusals of the service. */
export const problemBody = ({ status, scimType, message, error }: ScimProblem) => ({
  schemas: [ERROR_SCHEMA],
  status: String(status),
  ...(scimType ? { scimType } : {}),
  ...(message ? { detail: message } : {}),
  ...(error ? { error } : {}),
});

/** What the plane answers to anything thrown. Refusals of the domain become their SCIM form; what nobody expected says nothing about its cause. */
export function asProblem(thrown: unknown): ScimProblem {
  if (thrown instanceof ScimProblem) return thrown;
  if (thrown instanceof StatementTooSlow) return badRequest('invalidFilter', 'The filter takes too long to answer. Use fewer comparisons.');
  const refusal = asRefusal(thrown);
  const { type, message, retryAfter, extra } = refusal;
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const as = (status: number, options: Options = {}) => new ScimProblem(status, message, { headers, cause: refusal, ...options });
  switch (type) {
    case 'not_found':
      return notFound();
    case 'conflict':
      return as(409, { scimType: 'uniqueness' });
    case 'last_owner':
      return as(409, { error: 'scim_last_owner' });
    // Not 403, after which Entra ID stops synchronising everybody.
    case 'role_denied':
      return as(409);
    case 'plan_limit':
      return as(403, { error: extra?.scim === 'scim_client_limit' ? 'scim_client_limit' : 'scim_member_limit' });
    case 'validation_error':
      return as(400, { scimType: 'invalidValue', ...(extra?.scim === 'scim_domain_unverified' ? { error: extra.scim } : {}) });
    default:
      return as(refusal.status);
  }
}
