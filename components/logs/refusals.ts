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
export type RefusalAdvice = { why: string; next: string; fix?: Fix };

/** What to do about each refusal; apart from the reasons, which every list of calls shows. */
const STEPS: Readonly<Record<string, Omit<RefusalAdvice, 'why'>>> = {
  invalid_request: { next: 'Check how the caller builds the request. The path and headers below show what arrived.' },
  invalid_path: { next: 'Send a path without encoded slashes, dots and control characters.' },
  route_required: { next: 'Put the route slug first in the path, or send it in X-Svc-Route.' },
  invalid_body: { next: 'Send valid JSON or form data, or turn off the body rules.' },
  authentication_required: {
    next: 'Send a key in X-Svc-Key, or allow the caller’s IP address.',
    fix: { label: 'API keys', where: 'keys' },
  },
  invalid_api_key: { next: 'Check for a truncated key, or create a new one.', fix: { label: 'API keys', where: 'keys' } },
  signature_required: {
    next: 'Sign the request, or turn off the requirement.',
    fix: { label: 'Route security', where: 'route:security' },
  },
  signature_invalid: { next: 'Check the signing key and the signed content.' },
  signature_expired: { next: 'Check the caller’s clock.' },
  signature_replayed: { next: 'Create a new signature for every request.' },
  plan_limit: { next: 'The limit resets next month. Test calls are free.', fix: { label: 'Plan and usage', where: 'usage' } },
  wrong_key_type: {
    next: 'Test keys only work on the sandbox host, live keys only on the live host.',
    fix: { label: 'API keys', where: 'keys' },
  },
  forbidden: { next: 'Give the credential a role with proxy:invoke.', fix: { label: 'API keys', where: 'keys' } },
  subscription_inactive: { next: 'Ask an Owner to resume the subscription.', fix: { label: 'Plan and usage', where: 'usage' } },
  client_not_authorized: {
    next: 'Assign the caller’s client to the route, or add its IP address to an assigned client.',
    fix: { label: 'Route security', where: 'route:security' },
  },
  ip_not_allowed: {
    next: 'Add the IP address to the route’s or the key’s allow list.',
    fix: { label: 'Route security', where: 'route:security' },
  },
  secret_host_not_allowed: {
    next: 'Change the secret’s allowed hosts, or the upstream.',
    fix: { label: 'Secrets', where: 'secrets' },
  },
  upstream_not_allowed: {
    next: 'Private and reserved addresses are refused. Check what the host resolves to.',
    fix: { label: 'Route upstream', where: 'route:upstream' },
  },
  egress_denied: { next: 'Add the host to the egress list.' },
  tenant_not_found: { next: 'Check the first part of the host name.' },
  route_not_found: {
    next: 'Check the slug and that the route is enabled in this space.',
    fix: { label: 'Routes', where: 'routes' },
  },
  environment_not_configured: {
    next: 'Add the environment to the route, or use another one.',
    fix: { label: 'Route', where: 'route' },
  },
  environment_disabled: { next: 'Enable the route in this environment.', fix: { label: 'Route', where: 'route' } },
  method_not_allowed: { next: 'Add the method to the route.', fix: { label: 'Route methods', where: 'route:methods' } },
  payload_too_large: { next: 'Send a smaller body.' },
  uri_too_long: { next: 'Move long values to the body.' },
  unsupported_media_type: { next: 'Send JSON or form data.' },
  headers_too_large: { next: 'Send fewer or shorter headers.' },
  route_rate_limit_exceeded: {
    next: 'Wait for the window to reset, or raise the limit.',
    fix: { label: 'Route limits', where: 'route:limits' },
  },
  client_rate_limit_exceeded: { next: 'Wait for the window to reset, or raise the limit.', fix: { label: 'API keys', where: 'keys' } },
  tenant_rate_limit_exceeded: { next: 'Slow down, or upgrade the plan.', fix: { label: 'Plan and usage', where: 'usage' } },
  auth_throttled: { next: 'Correct the key and retry in a minute.' },
  concurrency_limit_exceeded: { next: 'Retry. The upstream may be slow.' },
  secret_not_found: { next: 'Create the secret, or correct the placeholder.', fix: { label: 'Route injection', where: 'route:config' } },
  secret_environment_missing: { next: 'Set the secret’s value for this environment.', fix: { label: 'Secrets', where: 'secrets' } },
  secret_expired: { next: 'Set a new value, or change the expiry date.', fix: { label: 'Secrets', where: 'secrets' } },
  secret_invalid_for_header: { next: 'Check for a line break at the end of the value.', fix: { label: 'Secrets', where: 'secrets' } },
  template_invalid: { next: 'Correct the placeholder.', fix: { label: 'Route injection', where: 'route:config' } },
  route_misconfigured: { next: 'Open the route. Missing settings are marked.', fix: { label: 'Route', where: 'route' } },
  internal_error: { next: 'Retry. If it keeps failing, contact support with the request ID.' },
  secret_decrypt_failed: { next: 'Contact support with the request ID.' },
  upstream_unreachable: {
    next: 'Check the upstream’s host and port, and that it is running.',
    fix: { label: 'Route upstream', where: 'route:upstream' },
  },
  upstream_tls_error: { next: 'Check the certificate’s name, chain and dates.', fix: { label: 'Route upstream', where: 'route:upstream' } },
  upstream_protocol_error: { next: 'Check the port and the scheme.', fix: { label: 'Route upstream', where: 'route:upstream' } },
  upstream_response_too_large: { next: 'Request less data, or turn off the response rules.' },
  upstream_timeout: {
    next: 'Raise the timeout, or check the upstream.',
    fix: { label: 'Route upstream', where: 'route:upstream' },
  },
  tenant_sealed: { next: 'Retry in a moment. If it keeps failing, contact the operator of this installation.' },
  dependency_unavailable: { next: 'Retry in a few seconds.' },
  circuit_open: {
    next: 'Check the upstream. One call tries it again when the pause is over.',
    fix: { label: 'Route upstream', where: 'route:upstream' },
  },
  loop_detected: {
    next: 'The route’s upstream points back to Sallyport.',
    fix: { label: 'Route upstream', where: 'route:upstream' },
  },
  client_closed: { next: 'The caller’s timeout may be shorter than the upstream needs.' },
  upstream_stream_failed: { next: 'Check the upstream. The caller received a truncated response.' },
};

/** A refusal with its next step; undefined for a call that was not refused. */
export const refusalAdvice = (code: string | null | undefined): RefusalAdvice | undefined =>
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
