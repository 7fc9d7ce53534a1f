import { reasonOf } from './refusal-reasons.ts';

/** Where the cause of a refusal is mended. */
export type Fix = {
  label: string;
  where:
    | 'route:security'
    | 'route:limits'
    | 'route:methods'
    | 'route:config'
    | 'route:upstream'
    | 'route'
    | 'routes'
    | 'secrets'
    | 'keys'
    | 'usage';
};
/** Why a call ended as it did, what to do, and where. */
export type Told = { why: string; next: string; fix?: Fix };

/** What to do about each refusal; apart from the reasons, which every list of calls shows. */
const STEPS: Readonly<Record<string, Omit<Told, 'why'>>> = {
  invalid_request: { next: 'Look at how the caller builds it; the path and the headers below show what arrived.' },
  invalid_path: { next: 'Send a path without encoded slashes, dots and control characters.' },
  route_required: { next: 'Put the slug first in the path, or name it in X-Svc-Route.' },
  invalid_body: { next: 'Send valid JSON or form data, or switch body rules off.' },
  authentication_required: {
    next: 'Send a key in X-Svc-Key, or allow the caller by its address.',
    fix: { label: 'API keys', where: 'keys' },
  },
  invalid_api_key: { next: 'Check for a truncated key, or make a new one.', fix: { label: 'API keys', where: 'keys' } },
  signature_required: {
    next: 'Sign the request, or switch the rule off.',
    fix: { label: 'Security of the route', where: 'route:security' },
  },
  signature_invalid: { next: 'Check the signing key and what is signed.' },
  signature_expired: { next: "Check the caller's clock." },
  signature_replayed: { next: 'Sign every request anew.' },
  plan_limit: { next: 'Test calls are free. The counter starts again next month.', fix: { label: 'Plan and usage', where: 'usage' } },
  wrong_key_type: {
    next: 'Test keys work on the sandbox host only, live keys on the live host only.',
    fix: { label: 'API keys', where: 'keys' },
  },
  forbidden: { next: 'Give it a role with proxy:invoke.', fix: { label: 'API keys', where: 'keys' } },
  subscription_inactive: { next: 'An Owner can resume it.', fix: { label: 'Plan and usage', where: 'usage' } },
  client_not_authorized: {
    next: 'Assign its client, or add its address to one.',
    fix: { label: 'Security of the route', where: 'route:security' },
  },
  ip_not_allowed: {
    next: 'Add the address to the list of the route or the key, or call from an address on it.',
    fix: { label: 'Security of the route', where: 'route:security' },
  },
  secret_host_not_allowed: {
    next: 'Change the allowed hosts of the secret, or the upstream.',
    fix: { label: 'Secrets', where: 'secrets' },
  },
  upstream_not_allowed: {
    next: 'Private and reserved addresses are refused. Check where the host resolves to.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  egress_denied: { next: 'Add it to the egress list.' },
  tenant_not_found: { next: 'Check the first part of the host name.' },
  route_not_found: {
    next: 'Check the slug, and whether the route is switched on in this space.',
    fix: { label: 'Routes', where: 'routes' },
  },
  environment_not_configured: {
    next: 'Add the environment to the route, or name another one.',
    fix: { label: 'The route', where: 'route' },
  },
  environment_disabled: { next: 'Let it serve there again.', fix: { label: 'The route', where: 'route' } },
  method_not_allowed: { next: 'Add the method to the route.', fix: { label: 'Methods of the route', where: 'route:methods' } },
  payload_too_large: { next: 'Send less at once.' },
  uri_too_long: { next: 'Send long values in the body.' },
  unsupported_media_type: { next: 'Send JSON or form data.' },
  headers_too_large: { next: 'Send fewer or shorter headers.' },
  route_rate_limit_exceeded: { next: 'Wait for its window, or raise it.', fix: { label: 'Limits of the route', where: 'route:limits' } },
  client_rate_limit_exceeded: { next: 'Wait for its window, or raise it.', fix: { label: 'API keys', where: 'keys' } },
  tenant_rate_limit_exceeded: { next: 'Slow down, or move to a larger plan.', fix: { label: 'Plan and usage', where: 'usage' } },
  auth_throttled: { next: 'Correct the key and wait a minute.' },
  concurrency_limit_exceeded: { next: 'Try again; the upstream may be slow.' },
  secret_not_found: { next: 'Create it, or correct the placeholder.', fix: { label: 'Injection of the route', where: 'route:config' } },
  secret_environment_missing: { next: 'Set the value for this environment.', fix: { label: 'Secrets', where: 'secrets' } },
  secret_expired: { next: 'Set a new value, or move the date.', fix: { label: 'Secrets', where: 'secrets' } },
  secret_invalid_for_header: { next: 'Look for a line break at the end of the value.', fix: { label: 'Secrets', where: 'secrets' } },
  template_invalid: { next: 'Correct it.', fix: { label: 'Injection of the route', where: 'route:config' } },
  route_misconfigured: { next: 'Open it; what is missing is marked.', fix: { label: 'The route', where: 'route' } },
  internal_error: { next: 'Try again. If it stays, send us the request id.' },
  secret_decrypt_failed: { next: 'Send us the request id.' },
  upstream_unreachable: {
    next: 'Check its host and port and whether it is up.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  upstream_tls_error: { next: 'Check its name, chain and dates.', fix: { label: 'Upstream of the route', where: 'route:upstream' } },
  upstream_protocol_error: { next: 'Check the port and the scheme.', fix: { label: 'Upstream of the route', where: 'route:upstream' } },
  upstream_response_too_large: { next: 'Ask for less, or switch the response rules off.' },
  upstream_timeout: {
    next: 'Raise the timeout, or look at the upstream.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  tenant_sealed: { next: 'Try again in a moment. If it stays, whoever runs this installation can help.' },
  dependency_unavailable: { next: 'Try again in a few seconds.' },
  loop_detected: {
    next: 'The upstream of the route leads to Sallyport itself.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  client_closed: { next: 'Its timeout may be shorter than the upstream needs.' },
  upstream_stream_failed: { next: 'Look at the upstream; the caller saw a cut answer.' },
};

/** A refusal with its next step; undefined for a call that was not refused. */
export const toldOf = (code: string | null | undefined): Told | undefined =>
  code ? { why: reasonOf(code), ...(STEPS[code] ?? { next: '' }) } : undefined;

/** The page on which a refusal can be mended; undefined when the route is not known. */
export function fixHref(fix: Fix, routeId: string | null, path: (path: string) => string, slug: string): string | undefined {
  if (fix.where === 'usage') return `/${slug}/settings/usage`;
  if (fix.where === 'keys') return path('/api-keys');
  if (fix.where === 'secrets' || fix.where === 'routes') return path(`/${fix.where}`);
  if (!routeId) return path('/routes');
  const tab = fix.where.split(':')[1];
  return path(`/routes/${routeId}${tab ? `?tab=${tab}` : ''}`);
}
