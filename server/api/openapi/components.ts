import { NEWEST } from '../versions.ts';

// What every operation shares: how one shows who one is, the headers all understand, and the envelopes of rule 01 §3 and §6.

export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key (tk_live_, tk_test_, AKE) or an OAuth access token.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key.' },
};

export const parameters = {
  ServiceVersion: {
    name: 'Service-Version',
    in: 'header',
    required: false,
    schema: { type: 'string', format: 'date', examples: [NEWEST] },
    description: 'Dated minor version; left out means the newest.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: 'Repeating a call with the same key replays the first answer byte for byte for 24 hours.',
  },
};

export const envelopeSchemas = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['type', 'message', 'request_id'],
        properties: {
          type: { type: 'string', examples: ['validation_error'] },
          message: { type: 'string' },
          request_id: { type: 'string', format: 'uuid' },
        },
      },
    },
  },
  PageMeta: {
    type: 'object',
    required: ['total', 'page', 'per_page', 'total_pages', 'request_id'],
    properties: {
      total: { type: 'integer' },
      page: { type: 'integer' },
      per_page: { type: 'integer' },
      total_pages: { type: 'integer' },
      request_id: { type: 'string', format: 'uuid' },
      warnings: { type: 'array', items: { type: 'string' } },
    },
  },
  Meta: {
    type: 'object',
    required: ['request_id'],
    properties: { request_id: { type: 'string', format: 'uuid' }, warnings: { type: 'array', items: { type: 'string' } } },
  },
  FeedMeta: {
    type: 'object',
    required: ['next_cursor', 'limit', 'delivery', 'dedupe_on', 'watermark_seconds', 'request_id'],
    properties: {
      next_cursor: { type: ['string', 'null'] },
      limit: { type: 'integer' },
      delivery: { type: 'string', const: 'at_least_once' },
      dedupe_on: { type: 'string' },
      watermark_seconds: { type: 'integer' },
      request_id: { type: 'string', format: 'uuid' },
    },
  },
};
