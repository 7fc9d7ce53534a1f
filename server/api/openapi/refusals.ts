import { EXAMPLE_ID } from '#server/kernel/descriptions.ts';
import { ERROR_STATUS, type ErrorType } from '#server/kernel/errors.ts';
import { type AnyOperation, takesIdempotencyKey, takesRecentSignIn } from '#server/kernel/operation.ts';
import { errorSchema, headersOf } from './components.ts';
import type { Json } from './json.ts';

const PIPELINE: readonly ErrorType[] = [
  'validation_error',
  'invalid_api_version',
  'rate_limit_exceeded',
  'internal_error',
  'dependency_unavailable',
];
const AUTHENTICATED: readonly ErrorType[] = [
  'authentication_required',
  'invalid_api_key',
  'invalid_dpop_proof',
  'wrong_key_type',
  'forbidden',
  'subscription_inactive',
  'use_oauth',
  'invalid_request',
];
const CLIENT_TOKEN: readonly ErrorType[] = [
  'authentication_required',
  'invalid_client_token',
  'client_token_expired',
  'client_token_used',
  'client_token_action_mismatch',
  'invalid_idempotency_key',
  'invalid_request',
];
const BODY: readonly ErrorType[] = ['payload_too_large', 'unsupported_media_type'];
/** Sign-up has no credential to keep an idempotency key under, so it takes none. */
const IDEMPOTENT: readonly ErrorType[] = ['invalid_idempotency_key', 'request_in_progress', 'idempotency_key_reuse', 'tenant_sealed'];

/** Reason phrases of RFC 9110, and 429 of RFC 6585. */
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
const phraseOf = (status: number): string => {
  const phrase = PHRASES[status];
  if (phrase === undefined) throw new Error(`${status} has no reason phrase here`);
  return phrase;
};

/** Every error type an operation can answer. */
export const errorTypesOf = (op: AnyOperation): ErrorType[] => [...new Set([...op.refuses, ...pipelineTypes(op)])];

/** Those that come from the pipeline, whatever the operation. */
function pipelineTypes(op: AnyOperation): readonly ErrorType[] {
  return [
    ...PIPELINE,
    ...(op.step_up || takesRecentSignIn(op) ? (['step_up_required'] as const) : []),
    ...(op.step_up ? (['mfa_required'] as const) : []),
    ...(op.feature ? (['plan_feature'] as const) : []),
    ...(op.needs === 'client_token' ? CLIENT_TOKEN : op.needs === 'anonymous' ? [] : AUTHENTICATED),
    ...(op.http.startsWith('GET ') ? [] : BODY),
    ...(takesIdempotencyKey(op) ? IDEMPOTENT : []),
  ];
}

const statusOf = (op: AnyOperation, type: ErrorType): number =>
  type === 'plan_limit' && /^(clients|environments)\./.test(op.id) ? 403 : ERROR_STATUS[type];

/** The error responses of an operation, as references; each distinct one goes into `responses` once. */
export function refusals(op: AnyOperation, responses: Record<string, Json>): Record<string, Json> {
  const byStatus = Map.groupBy(errorTypesOf(op), (type) => statusOf(op, type));
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, types]) => {
        const name = nameOf(op, status, types);
        responses[name] = errorResponse(status, types.sort());
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
  );
}

/** `NotFound`, `ConflictOnChange`: the status, who gets the pipeline's types of it, and the types that the operation adds. */
function nameOf(op: AnyOperation, status: number, types: readonly ErrorType[]): string {
  // Of the pipeline's, a confirmation or a sign-in is asked for by some operations and not by others of their kind.
  const common = pipelineTypes(op).filter(
    (type) => ERROR_STATUS[type] === status && type !== 'step_up_required' && type !== 'mfa_required',
  );
  const own = types.filter((type) => !common.includes(type)).sort();
  const who =
    common.length === 0
      ? ''
      : op.needs === 'anonymous'
        ? 'OnSignup'
        : op.needs === 'client_token'
          ? 'OnSpend'
          : op.http.startsWith('GET ')
            ? ''
            : takesIdempotencyKey(op)
              ? 'OnChange'
              : 'OnQuery';
  return [phraseOf(status).replaceAll(/\W/g, ''), who, ...own.map(pascal)].join('');
}

const pascal = (type: string) => type.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const errorResponse = (status: number, types: readonly ErrorType[]): Json => ({
  description: `${phraseOf(status)}: ${types.map((type) => `\`${type}\``).join(', ')}.`,
  headers: headersOf([
    'X-Request-Id',
    'Service-Version',
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ...(status === 429 ? RATE_LIMIT : []),
    ...(status === 401 ? ['WWW-Authenticate', 'DPoP-Nonce'] : []),
  ]),
  content: {
    'application/json': {
      schema: errorSchema({ enum: types }),
      example: { error: { type: types[0], message: 'Says what is wrong and how to fix it.', request_id: EXAMPLE_ID } },
    },
  },
});

export const RATE_LIMIT = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
