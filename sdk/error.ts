import { parseExact } from '#server/kernel/lossless-json.ts';

/** The service refused a request, or answered with something that isn't an answer of this API. Branch on `type`; new types may appear. */
export class SallyportError extends Error {
  override readonly name = 'SallyportError';
  readonly type: string;
  readonly status: number;
  /** Names the request in the service's logs. Null if the service never answered as itself. */
  readonly request_id: string | null;
  /** The parameter that a validation error is about, when the message starts with one. */
  readonly param: string | null;
  /** Whole seconds that the service asks to wait. */
  readonly retry_after: number | null;
  /** What to do about it, in a sentence. */
  readonly next_step: string;

  constructor(refusal: { type: string; message: string; status: number; request_id?: string | null; retry_after?: number | null }) {
    super(refusal.message);
    this.type = refusal.type;
    this.status = refusal.status;
    this.request_id = refusal.request_id ?? null;
    this.retry_after = refusal.retry_after ?? null;
    this.param =
      refusal.type === 'validation_error' ? (/^`?([a-z_][\w.[\]]*)`?(?:: | must | is | has )/.exec(refusal.message)?.[1] ?? null) : null;
    this.next_step = nextStep(this);
  }
}

/** No complete answer arrived: the connection failed, broke off or took too long. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly url: string;

  /** `url` without its query, which may hold what somebody searched for. */
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`${reason} (${url})`, options);
    this.url = url;
  }
}

/** Reads a refused answer. A body that isn't an error of this API gives the type `unexpected_response`, and none of its text. */
export function errorOf(response: Response, text: string): SallyportError {
  const { status } = response;
  const request_id = response.headers.get('x-request-id');
  const retry_after = retryAfter(response.headers);
  const body = parsed(text);
  const error = body?.error;
  if (typeof error === 'string')
    return new SallyportError({ type: error, message: String(body?.error_description ?? error), status, request_id, retry_after });
  if (isRecord(error) && typeof error.type === 'string')
    return new SallyportError({ type: error.type, message: String(error.message ?? error.type), status, request_id, retry_after });
  const message =
    status >= 300 && status < 400
      ? 'The server answered with a redirect. Credentials are never sent on to another address.'
      : `The server answered ${status} with a body that is not an error of this API.`;
  return new SallyportError({ type: 'unexpected_response', message, status, request_id, retry_after });
}

/** Whole seconds of `Retry-After`; null when it is absent or anything but digits. */
export function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after');
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseExact(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const STEPS: Readonly<Record<string, string>> = {
  authentication_required: 'Send an API key or an access token.',
  invalid_api_key: 'Check that the credential is complete and not revoked or expired, or get a new one.',
  invalid_grant: 'Sign in again.',
  invalid_client: 'Check the client ID and its secret.',
  wrong_key_type: 'Live credentials work on the Live host and Test credentials on the Test host. Use the other host.',
  forbidden: 'Use a credential whose role allows this operation.',
  step_up_required: 'Sign in as the message says, then repeat the request.',
  mfa_required: 'Add a second factor to your account as the message says, then repeat the request.',
  insufficient_scope: 'Ask for a token with the scope that the operation needs.',
  use_oauth: 'This operation needs an OAuth access token in place of an API key.',
  not_found: 'Check the ID, and that it belongs to the space of this credential.',
  conflict: 'Read the resource again and repeat the change on what it is now.',
  in_use: 'Remove what still uses it first.',
  idempotency_key_reuse: 'Use a new idempotency key for a different request.',
  invalid_api_version: 'Leave out Service-Version or send one that the message lists.',
  plan_limit: 'Remove what you no longer need, or change the plan.',
  plan_feature: 'Change to a plan that includes this.',
  subscription_inactive: 'Reactivate the subscription in the dashboard.',
  unexpected_response: 'Check the base URL: it must be the address of the Management API.',
};

function nextStep({ type, status, request_id, retry_after }: SallyportError): string {
  if (retry_after !== null) return `Try again in ${retry_after} ${retry_after === 1 ? 'second' : 'seconds'}.`;
  const known = STEPS[type];
  if (known) return known;
  if (status >= 500) return `Try again later.${request_id ? ` If it keeps failing, report request ${request_id}.` : ''}`;
  return status === 400 ? 'Correct the request and send it again.' : 'See the message for what is allowed.';
}
