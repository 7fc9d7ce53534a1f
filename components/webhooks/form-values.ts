import { z } from 'zod';
import { EVENT_TYPE_NAMES } from '#server/domain/events/catalogue.shared.ts';
import { AUTH_TYPES, HMAC_FORMATS, METHODS } from '#server/domain/webhooks/options.shared.ts';
import type { Detail } from './webhook-labels.ts';

const listed = (text: string) => text.split(/[\s,]+/).filter(Boolean);
const number = (least: number, most: number) =>
  z
    .string()
    .regex(/^[0-9]{1,3}$/, 'must be a whole number')
    .refine((text) => Number(text) >= least && Number(text) <= most, `must be ${least} to ${most}`);

/** The form of a webhook, made anew and edited: texts as people type them. */
export const WebhookForm = z.object({
  name: z.string().trim().min(1, 'is required').max(200),
  url: z.string().trim().min(1, 'is required').max(2_048),
  description: z.string().max(1_000),
  event_types: z.enum(EVENT_TYPE_NAMES).array().min(1, 'Choose at least one event.'),
  method: z.enum(METHODS),
  auth_type: z.enum(AUTH_TYPES),
  username: z.string(),
  password: z.string(),
  token: z.string(),
  header_name: z.string(),
  header_value: z.string(),
  secret: z.string(),
  request_headers: z.string().refine((text) => headersOf(text) !== undefined, 'must have a line “Name: value” for each header'),
  hmac_format: z.enum(HMAC_FORMATS),
  hmac_header_name: z.string(),
  hmac_key_id: z.string(),
  route_filter: z.string().array(),
  status_codes: z.string(),
  methods: z.string(),
  environments: z.string(),
  audit: z.string(),
  include_request_body: z.boolean(),
  include_response_body: z.boolean(),
  include_headers: z.boolean(),
  timeout_seconds: number(1, 60),
  retry_on_failure: z.boolean(),
  max_retries: number(0, 10),
});
export type Values = z.output<typeof WebhookForm>;

export const EMPTY: Values = {
  ...{ name: '', url: '', description: '', event_types: [], method: 'POST', auth_type: 'none', username: '', password: '', token: '' },
  ...{ header_name: '', header_value: '', secret: '', request_headers: '', hmac_format: 'legacy', hmac_header_name: '', hmac_key_id: '' },
  ...{
    route_filter: [],
    status_codes: '',
    methods: '',
    environments: '',
    audit: '',
    include_request_body: false,
    include_response_body: false,
    include_headers: false,
  },
  ...{ timeout_seconds: '30', retry_on_failure: true, max_retries: '3' },
};

/** What of a webhook can be shown; credentials and headers start empty, and stay as they are unless something is typed. */
export const valuesOf = (row: Detail): Values => ({
  ...EMPTY,
  ...{ name: row.name, url: row.url, description: row.description ?? '', event_types: row.event_types as Values['event_types'] },
  ...{
    method: row.method as Values['method'],
    auth_type: row.auth_type,
    hmac_format: row.hmac_format,
    hmac_header_name: row.hmac_header_name ?? '',
  },
  ...{ hmac_key_id: row.hmac_key_id ?? '', route_filter: row.route_filter ?? [] },
  ...{ status_codes: (row.filters.status_codes ?? []).join(', '), methods: (row.filters.methods ?? []).join(', ') },
  ...{ environments: (row.filters.environments ?? []).join(', '), audit: (row.filters.audit ?? []).join(', ') },
  ...{
    include_request_body: row.include_request_body,
    include_response_body: row.include_response_body,
    include_headers: row.include_headers,
  },
  ...{ timeout_seconds: String(row.timeout_seconds), retry_on_failure: row.retry_on_failure, max_retries: String(row.max_retries) },
});

function headersOf(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const colon = line.indexOf(':');
    if (colon < 1 || line.slice(colon + 1).trim() === '') return undefined;
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** The credentials that were typed; undefined when none were. */
function authOf(value: Values) {
  const { username, password, token, header_name, header_value, secret } = value;
  switch (value.auth_type) {
    case 'basic':
      return username || password ? { username, password } : undefined;
    case 'bearer':
      return token ? { token } : undefined;
    case 'header':
      return header_name || header_value ? { name: header_name, value: header_value } : undefined;
    case 'hmac':
      return secret ? { secret } : undefined;
    default:
      return undefined;
  }
}

const FILTERS = ['status_codes', 'methods', 'environments', 'audit'] as const;
/** Methods are in capitals, however they were typed. */
const filterText = (name: (typeof FILTERS)[number], value: Values) => (name === 'methods' ? value.methods.toUpperCase() : value[name]);

/** The body of a call: all that is set to something else than `from`. */
export function inputOf(value: Values, from: Values = EMPTY) {
  const differs = (...fields: (keyof Values)[]) => fields.some((field) => JSON.stringify(value[field]) !== JSON.stringify(from[field]));
  const auth_config = authOf(value);
  const headers = headersOf(value.request_headers) ?? {};
  const filters = Object.fromEntries(
    FILTERS.map((name) => [name, listed(filterText(name, value))]).filter(([, list]) => list?.length !== 0),
  );
  return {
    ...(differs('description') ? { description: value.description || null } : {}),
    ...(differs('method') ? { method: value.method } : {}),
    ...(differs('auth_type') ? { auth_type: value.auth_type } : {}),
    ...(auth_config ? { auth_config } : {}),
    ...(Object.keys(headers).length > 0 ? { request_headers: headers } : {}),
    ...(differs('hmac_format') ? { hmac_format: value.hmac_format } : {}),
    ...(value.hmac_format === 'custom' && differs('hmac_header_name', 'hmac_format') ? { hmac_header_name: value.hmac_header_name } : {}),
    ...(differs('hmac_key_id') ? { hmac_key_id: value.hmac_key_id || null } : {}),
    ...(differs('route_filter') ? { route_filter: value.route_filter } : {}),
    ...(differs(...FILTERS) ? { filters: filters as Detail['filters'] } : {}),
    ...(differs('include_request_body') ? { include_request_body: value.include_request_body } : {}),
    ...(differs('include_response_body') ? { include_response_body: value.include_response_body } : {}),
    ...(differs('include_headers') ? { include_headers: value.include_headers } : {}),
    ...(differs('timeout_seconds') ? { timeout_seconds: Number(value.timeout_seconds) } : {}),
    ...(differs('retry_on_failure') ? { retry_on_failure: value.retry_on_failure } : {}),
    ...(differs('max_retries') ? { max_retries: Number(value.max_retries) } : {}),
  };
}

/** The same of a webhook that exists, with what a new one always has. */
export const changesOf = (value: Values, from: Values) => ({
  ...(value.name === from.name ? {} : { name: value.name }),
  ...(value.url === from.url ? {} : { url: value.url }),
  ...(JSON.stringify(value.event_types) === JSON.stringify(from.event_types) ? {} : { event_types: value.event_types }),
  ...inputOf(value, from),
});

/** A call as it may be shown: credentials and header values as marks. */
export function shownInput<T extends { auth_config?: object; request_headers?: object }>(input: T) {
  const marked = (some: object) => Object.fromEntries(Object.keys(some).map((name) => [name, '…']));
  return {
    ...input,
    ...(input.auth_config ? { auth_config: marked(input.auth_config) } : {}),
    ...(input.request_headers ? { request_headers: marked(input.request_headers) } : {}),
  };
}
