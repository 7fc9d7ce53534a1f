import { DPOP_ALGORITHMS } from '#server/crypto/dpop.ts';
import { SCOPE_CATALOGUE } from '#server/kernel/scopes.ts';
import { NEWEST, VERSIONS } from '#server/kernel/versions.ts';
import { IDEMPOTENCY_KEY } from '../idempotency.ts';

// What every operation shares: how one shows who one is, the headers all understand, and the envelopes of rule 01 §3 and §6.

const scopesOf = (of: 'machines' | 'people') =>
  Object.fromEntries(
    Object.entries(SCOPE_CATALOGUE)
      .filter(([, { capabilities, people }]) => capabilities.length > 0 && (of === 'machines' || people === 'role' || people === 'admin'))
      .map(([name, { sentence }]) => [name, sentence]),
  );

export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'API key (`tk_live_`, `tk_test_` or `AKE`) or OAuth access token.' },
  clientToken: { type: 'http', scheme: 'bearer', description: 'Client token (`kct_`), or in the field `token` of the body. Works once.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'API key.' },
  oauth2: {
    type: 'oauth2',
    description:
      'OAuth access token (`svc_live_` or `svc_test_`), sent as `Authorization: Bearer <token>`. A token that was requested with a DPoP proof (RFC 9449) is ' +
      'bound to that key: send it as `Authorization: DPoP <token>`, with a new proof in the `DPoP` header of every request. The proof is a JWT of type ' +
      `\`dpop+jwt\`, signed with ${DPOP_ALGORITHMS.join(' or ')}, with \`jti\`, \`htm\`, \`htu\`, \`iat\` and \`ath\`. Scopes never give more than the client, ` +
      'and the person or API key behind it, may do at the time of the request. An API key works as client ID and secret.',
    flows: {
      clientCredentials: { tokenUrl: '/oauth/token', scopes: scopesOf('machines') },
      authorizationCode: {
        authorizationUrl: '/oauth/authorize',
        tokenUrl: '/oauth/token',
        refreshUrl: '/oauth/token',
        scopes: scopesOf('people'),
      },
    },
  },
};

export const parameters = {
  ServiceVersion: {
    name: 'Service-Version',
    in: 'header',
    required: false,
    schema: { type: 'string', enum: VERSIONS.map(({ version }) => version), examples: [NEWEST] },
    description: 'API version to use, as a date. Defaults to the newest.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
    description: 'Makes the request safe to retry. Repeating it with the same key within 24 hours returns the original response.',
  },
};

const header = (description: string, schema: object) => ({ description, schema });
const COUNT = { type: 'integer', minimum: 0 };
/** Response headers. */
export const headers: Readonly<Record<string, object>> = {
  'X-Request-Id': header('ID of the request. A replayed response carries the ID of the original request.', {
    type: 'string',
    format: 'uuid',
  }),
  'Service-Version': header('API version the request was handled with.', { type: 'string' }),
  'X-RateLimit-Limit': header('Requests allowed per window. Only for API keys with a rate limit.', COUNT),
  'X-RateLimit-Remaining': header('Requests left in the current window. Only for API keys with a rate limit.', COUNT),
  'X-RateLimit-Reset': header('When the window ends, in seconds since 1970-01-01 UTC. Only for API keys with a rate limit.', COUNT),
  'X-Idempotent-Replay': header('`true` when this is the stored response to an earlier request with the same idempotency key.', {
    type: 'string',
    const: 'true',
  }),
  'WWW-Authenticate': header('How to authenticate, and what is wrong with the credential (RFC 6750, RFC 9449).', { type: 'string' }),
  'DPoP-Nonce': header('Nonce for the next DPoP proof. Only on responses to requests with a proof.', { type: 'string' }),
  'Retry-After': header('Seconds to wait before you retry.', { type: 'integer', minimum: 1 }),
};
export const headersOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const REQUEST_ID = {
  type: 'string',
  format: 'uuid',
  description: 'ID of the request, also sent in `X-Request-Id`. Include it when you contact support.',
};
const WARNINGS = {
  type: 'array',
  items: { type: 'string' },
  description: "Problems that didn't stop the request, such as unknown fields that were ignored.",
};

/** The error envelope of one status, with the error types it can carry there. */
export const errorSchema = (types: { enum: readonly string[] }) => ({
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'Details of the error.',
      required: ['type', 'message', 'request_id'],
      properties: {
        type: { type: 'string', ...types, description: 'Machine-readable error type. Branch on this.' },
        message: { type: 'string', description: 'Human-readable description of the error and how to fix it.' },
        request_id: REQUEST_ID,
      },
    },
  },
});

export const envelopeSchemas = {
  PageMeta: {
    type: 'object',
    required: ['total', 'page', 'per_page', 'total_pages', 'request_id'],
    properties: {
      total: { type: 'integer', description: 'Total number of results across all pages.' },
      page: { type: 'integer', description: 'Current page number, starting at 1.' },
      per_page: { type: 'integer', description: 'Number of results per page.' },
      total_pages: { type: 'integer', description: 'Number of pages that can be requested.' },
      request_id: REQUEST_ID,
      warnings: WARNINGS,
    },
  },
  Meta: {
    type: 'object',
    required: ['request_id'],
    properties: { request_id: REQUEST_ID, warnings: WARNINGS },
  },
  FeedMeta: {
    type: 'object',
    required: ['next_cursor', 'limit', 'delivery', 'dedupe_on', 'watermark_seconds', 'request_id'],
    properties: {
      next_cursor: {
        type: ['string', 'null'],
        description: 'Cursor for the next page. `null` when there are no more rows yet: poll again with the last cursor.',
      },
      limit: { type: 'integer', description: 'Maximum number of rows per response.' },
      delivery: { type: 'string', const: 'at_least_once', description: 'The same row can be delivered more than once.' },
      dedupe_on: { type: 'string', description: 'Field that identifies duplicate rows.' },
      watermark_seconds: { type: 'integer', description: "How many seconds the feed stays behind real time so that it doesn't skip rows." },
      request_id: REQUEST_ID,
    },
  },
};
