import { storedAddress } from './addresses.ts';
import { mapTexts, type Note, named } from './kind.ts';
import type { Remote } from './remote.ts';

/** What a route is configured with when nothing is said; a test compares it with the service's. The target has no default. */
export const SETTING_DEFAULTS: Readonly<Record<string, unknown>> = {
  inject_headers_json: {},
  inject_body_json: {},
  inject_query_json: {},
  require_signature: false,
  signature_tolerance_sec: 300,
  signature_require_nonce: false,
  signature_scheme: 'v1',
  rate_limit_enabled: false,
  rate_limit_requests: null,
  rate_limit_window_sec: null,
  rate_limit_burst: null,
  rate_limit_per_client: false,
  allowed_methods: null,
  http_method_restrictions_enabled: false,
  method_configs: null,
  use_method_specific_configs: false,
  requires_clients: false,
  mtls_certificate: null,
  upstream_ca_certificate: null,
  ip_allowlist: [],
  intercept_enabled: false,
  timeout_ms: 30_000,
  retry_attempts: 0,
  circuit_breaker_failures: 0,
  circuit_breaker_open_sec: 30,
  upstream_protocol: 'http1',
  body_placeholders: 'same_collection',
  forward_client_ip: false,
  log_payloads: null,
  upstream_auth: null,
};
export const SETTINGS: readonly string[] = ['target_base_url', ...Object.keys(SETTING_DEFAULTS)];

type Values = Record<string, unknown>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const byMethod = (a: string, b: string) => METHODS.indexOf(a) - METHODS.indexOf(b);
/** A list that is given switches its flag along, as the service does. */
const FLAGS = [
  ['allowed_methods', 'http_method_restrictions_enabled'],
  ['method_configs', 'use_method_specific_configs'],
] as const;
const JWT_DEFAULTS = { ttl_seconds: 300, extra_claims: {}, header_name: 'Authorization', value_prefix: 'Bearer ' };

/** Settings of a file in the one spelling that compares. On an override null is left out: it inherits. */
export async function wholeSettings(given: Values, remote: Remote, { override }: { override: boolean }): Promise<Values> {
  const settings: Values = {};
  for (const field of SETTINGS) {
    const value = given[field];
    if (value === undefined || (override && value === null)) continue;
    settings[field] = oneSpelling(field, mapTexts(value, await secretNames(remote)), override);
  }
  for (const [list, flag] of FLAGS) {
    const value = given[list];
    if (value === undefined || value === null || given[flag] !== undefined) continue;
    settings[flag] = Object.keys(value).length > 0;
  }
  return settings;
}

function oneSpelling(field: string, value: unknown, override: boolean): unknown {
  const none = override ? [] : null;
  if (field === 'ip_allowlist') return [...new Set((value as string[]).map(storedAddress))].sort();
  if (field === 'allowed_methods')
    return filled([...new Set(((value ?? []) as string[]).map((one) => one.toUpperCase()))].sort(byMethod), none);
  if (field === 'method_configs')
    return filled(
      entriesOf(value).sort((a, b) => byMethod(a.method, b.method)),
      none,
    );
  if (field === 'upstream_auth') return signing(value as Values | null, override);
  return value;
}

const filled = (list: readonly unknown[], none: unknown) => (list.length > 0 ? list : none);

type MethodEntry = { method: string } & Values;
const entriesOf = (value: unknown): MethodEntry[] =>
  Array.isArray(value)
    ? value.map((one: MethodEntry) => ({ ...one, method: one.method.toUpperCase() }))
    : Object.entries((value ?? {}) as Record<string, Values>).map(([method, one]) => ({ method: method.toUpperCase(), ...one }));

function signing(value: Values | null, override: boolean): unknown {
  if (value === null || value.type === 'none') return override ? { type: 'none' } : null;
  return value.type === 'jwt_bearer' ? { ...JWT_DEFAULTS, ...value } : value;
}

/** Settings as they are answered, of the base whole and of an override those of `fields`, in the same spelling. */
export async function readSettings(
  answer: Values,
  fields: readonly string[],
  remote: Remote,
  note: Note,
  { override }: { override: boolean },
): Promise<Values> {
  const settings: Values = {};
  for (const field of fields) {
    const wire = WIRE[field] ?? field;
    let value = answer[wire];
    if (wire !== field) value = await named(remote, 'secrets', value, note, `Its ${field}`);
    else value = mapTexts(value, await secretNames(remote));
    if (field === 'upstream_auth') value = await namedSigner(value as Values | null, remote, note);
    // An override that says null inherits, as far as the API can tell; lists and signing have an own word for nothing.
    if (override && value === null && !['allowed_methods', 'method_configs', 'upstream_auth'].includes(field)) continue;
    settings[field] = oneSpelling(field, value, override);
  }
  return settings;
}

/** Members that are IDs on the wire. */
const WIRE: Readonly<Record<string, string>> = {
  mtls_certificate: 'mtls_certificate_id',
  upstream_ca_certificate: 'upstream_ca_certificate_id',
};
const FIELD_OF_WIRE = new Map(Object.entries(WIRE).map(([field, wire]) => [wire, field]));
/** `mtls_certificate_id` is called `mtls_certificate` in a file. */
export const fieldOf = (wire: string): string => FIELD_OF_WIRE.get(wire) ?? wire;

async function namedSigner(value: Values | null, remote: Remote, note: Note): Promise<Values | null> {
  if (value === null || value.secret_id === undefined) return value;
  const { secret_id, ...rest } = value;
  return { ...rest, secret: await named(remote, 'secrets', secret_id, note, 'The secret of its upstream_auth') };
}

/** `{{secret_id:…}}` becomes `{{secret:NAME}}`: the ID means nothing in another workspace. */
async function secretNames(remote: Remote): Promise<(text: string) => string> {
  const rows = await remote.rows('secrets');
  return (text) =>
    text.replace(/\{\{[ \t]*secret_id[ \t]*:[ \t]*([0-9a-fA-F-]{36})[ \t]*\}\}/g, (whole, id: string) => {
      const found = rows.find((row) => row.id === id.toLowerCase());
      return found ? `{{secret:${found.name}}}` : whole;
    });
}

/** The body that writes settings, with IDs in place of names. `undefined` reverts an override. */
export async function settingsBody(settings: Values, fields: readonly string[], remote: Remote): Promise<Values> {
  const body: Values = {};
  for (const field of fields) {
    const value = settings[field] ?? null;
    if (WIRE[field]) body[WIRE[field]] = typeof value === 'string' ? await remote.idOf('secrets', value) : null;
    else if (field === 'upstream_auth' && value !== null) {
      const { secret, ...rest } = value as Values;
      body[field] = typeof secret === 'string' ? { ...rest, secret_id: await remote.idOf('secrets', secret) } : rest;
    } else body[field] = value;
  }
  return body;
}

/** Names of the secrets that settings refer to, and where. */
export function secretsOf(settings: Values): { name: string; at: string }[] {
  const found: { name: string; at: string }[] = [];
  for (const [field, value] of Object.entries(settings)) {
    if (WIRE[field] && typeof value === 'string') found.push({ name: value, at: field });
    if (field === 'upstream_auth' && typeof (value as Values | null)?.secret === 'string')
      found.push({ name: String((value as Values).secret), at: `${field}.secret` });
    mapTexts(value, (text) => {
      for (const match of text.matchAll(/\{\{[ \t]*secret[ \t]*:[ \t]*([A-Za-z0-9_.-]{1,128})[ \t]*\}\}/g))
        found.push({ name: match[1] ?? '', at: field });
      return text;
    });
  }
  return found;
}
