import { NEWEST, VERSIONS } from '../versions.ts';

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
    schema: { type: 'string', enum: VERSIONS.map(({ version }) => version), examples: [NEWEST] },
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

const REQUEST_ID = {
  type: 'string',
  format: 'uuid',
  description: 'The id of this call, also in X-Request-Id. Name it when you ask for help.',
};
const WARNINGS = { type: 'array', items: { type: 'string' }, description: 'What was done, but perhaps not as it was meant.' };

export const envelopeSchemas = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        description: 'What went wrong.',
        required: ['type', 'message', 'request_id'],
        properties: {
          type: { type: 'string', examples: ['validation_error'], description: 'What is wrong, for programs: branch on this.' },
          message: { type: 'string', description: 'What is wrong, for people, and what to do about it.' },
          request_id: REQUEST_ID,
        },
      },
    },
  },
  PageMeta: {
    type: 'object',
    required: ['total', 'page', 'per_page', 'total_pages', 'request_id'],
    properties: {
      total: { type: 'integer', description: 'Rows of all pages.' },
      page: { type: 'integer', description: 'The page this is, from 1.' },
      per_page: { type: 'integer', description: 'Rows a page.' },
      total_pages: { type: 'integer', description: 'Pages that can be read.' },
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
        description: 'Where to go on; null when nothing more is there yet: ask again later with the last cursor.',
      },
      limit: { type: 'integer', description: 'Rows in one answer.' },
      delivery: { type: 'string', const: 'at_least_once', description: 'A row may come twice.' },
      dedupe_on: { type: 'string', description: 'The field that tells a row that came twice.' },
      watermark_seconds: { type: 'integer', description: 'How far the feed trails behind, so that no row is passed over.' },
      request_id: REQUEST_ID,
    },
  },
};
