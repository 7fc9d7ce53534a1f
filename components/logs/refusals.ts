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
    | 'usage'
    | 'environments';
};
/** Why a call ended as it did, what to do, and where. */
export type Told = { why: string; next: string; fix?: Fix };

/** The refusals of the route plane and the two ways a stream ends early (interface rule 12 §14). */
export const REFUSALS: Record<string, Told> = {
  invalid_request: {
    why: 'the request was not well formed',
    next: 'Look at how the caller builds it; the path and the headers below show what arrived.',
  },
  invalid_path: {
    why: 'the path holds something two readers could understand differently',
    next: 'Send a path without encoded slashes, dots and control characters.',
  },
  route_required: { why: 'no route was named', next: 'Put the slug first in the path, or name it in X-Svc-Route.' },
  invalid_body: { why: 'the body is not what its Content-Type says', next: 'Send valid JSON or form data, or switch body rules off.' },
  authentication_required: {
    why: 'no credential was sent',
    next: 'Send a key in X-Svc-Key, or allow the caller by its address.',
    fix: { label: 'API keys', where: 'keys' },
  },
  invalid_api_key: {
    why: 'the key is unknown, revoked or expired',
    next: 'Check for a truncated key, or make a new one.',
    fix: { label: 'API keys', where: 'keys' },
  },
  signature_required: {
    why: 'this route wants signed requests and no signature came',
    next: 'Sign the request, or switch the rule off.',
    fix: { label: 'Security of the route', where: 'route:security' },
  },
  signature_invalid: { why: 'the signature does not match', next: 'Check the signing key and what is signed.' },
  signature_expired: { why: 'the signature is too old', next: "Check the caller's clock." },
  signature_replayed: { why: 'the signature was used before', next: 'Sign every request anew.' },
  plan_limit: {
    why: 'the monthly calls of the plan are used up',
    next: 'Test calls are free. The counter starts again next month.',
    fix: { label: 'Plan and usage', where: 'usage' },
  },
  wrong_key_type: {
    why: 'the key belongs to the other space',
    next: 'Test keys work on the sandbox host only, live keys on the live host only.',
    fix: { label: 'API keys', where: 'keys' },
  },
  forbidden: {
    why: 'the credential may not call routes',
    next: 'Give it a role with proxy:invoke.',
    fix: { label: 'API keys', where: 'keys' },
  },
  subscription_inactive: {
    why: 'the subscription of the workspace is not active',
    next: 'An Owner can resume it.',
    fix: { label: 'Plan and usage', where: 'usage' },
  },
  client_not_authorized: {
    why: 'the caller is not among the clients of this route',
    next: 'Assign its client, or add its address to one.',
    fix: { label: 'Security of the route', where: 'route:security' },
  },
  ip_not_allowed: {
    why: "the caller's address is not on the list",
    next: 'Add the address to the list of the route or the key, or call from an address on it.',
    fix: { label: 'Security of the route', where: 'route:security' },
  },
  secret_host_not_allowed: {
    why: 'a secret is pinned to other hosts than this upstream',
    next: 'Change the allowed hosts of the secret, or the upstream.',
    fix: { label: 'Secrets', where: 'secrets' },
  },
  upstream_not_allowed: {
    why: 'the upstream address is not one we may call',
    next: 'Private and reserved addresses are refused. Check where the host resolves to.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  egress_denied: { why: 'the upstream host is not on the list of this workspace', next: 'Add it to the egress list.' },
  tenant_not_found: { why: 'the host names no workspace', next: 'Check the first part of the host name.' },
  route_not_found: {
    why: 'no route that is switched on has this name',
    next: 'Check the slug, and whether the route is switched on in this space.',
    fix: { label: 'Routes', where: 'routes' },
  },
  environment_not_configured: {
    why: 'the route is not configured for this environment',
    next: 'Add the environment to the route, or name another one.',
    fix: { label: 'The route', where: 'route' },
  },
  environment_disabled: {
    why: 'the route is paused in this environment',
    next: 'Let it serve there again.',
    fix: { label: 'The route', where: 'route' },
  },
  method_not_allowed: {
    why: 'this route does not take this method',
    next: 'Add the method to the route.',
    fix: { label: 'Methods of the route', where: 'route:methods' },
  },
  payload_too_large: {
    why: 'the body is larger than the route allows',
    next: 'Send less, or raise the limit.',
    fix: { label: 'Limits of the route', where: 'route:limits' },
  },
  uri_too_long: { why: 'the path is too long', next: 'Send long values in the body.' },
  unsupported_media_type: { why: 'the body has a type the route cannot rewrite', next: 'Send JSON or form data.' },
  headers_too_large: { why: 'the headers are too large', next: 'Send fewer or shorter headers.' },
  route_rate_limit_exceeded: {
    why: 'the limit of the route was reached',
    next: 'Wait for its window, or raise it.',
    fix: { label: 'Limits of the route', where: 'route:limits' },
  },
  client_rate_limit_exceeded: {
    why: 'the limit of the key or client was reached',
    next: 'Wait for its window, or raise it.',
    fix: { label: 'API keys', where: 'keys' },
  },
  tenant_rate_limit_exceeded: {
    why: 'the workspace makes more calls a second than its plan allows',
    next: 'Slow down, or move to a larger plan.',
    fix: { label: 'Plan and usage', where: 'usage' },
  },
  auth_throttled: { why: 'too many wrong credentials came from this address', next: 'Correct the key and wait a minute.' },
  concurrency_limit_exceeded: { why: 'too many calls were open at once', next: 'Try again; the upstream may be slow.' },
  secret_not_found: {
    why: 'a secret the route names does not exist',
    next: 'Create it, or correct the placeholder.',
    fix: { label: 'Injection of the route', where: 'route:config' },
  },
  secret_environment_missing: {
    why: 'a secret has no value in this environment',
    next: 'Set the value for this environment.',
    fix: { label: 'Secrets', where: 'secrets' },
  },
  secret_expired: {
    why: 'a secret has expired and is enforced strictly',
    next: 'Set a new value, or move the date.',
    fix: { label: 'Secrets', where: 'secrets' },
  },
  secret_invalid_for_header: {
    why: 'a secret holds characters a header cannot carry',
    next: 'Look for a line break at the end of the value.',
    fix: { label: 'Secrets', where: 'secrets' },
  },
  template_invalid: {
    why: 'a placeholder of the route is not well formed',
    next: 'Correct it.',
    fix: { label: 'Injection of the route', where: 'route:config' },
  },
  route_misconfigured: {
    why: 'the route lacks something it needs',
    next: 'Open it; what is missing is marked.',
    fix: { label: 'The route', where: 'route' },
  },
  internal_error: { why: 'something failed on our side', next: 'Try again. If it stays, send us the request id.' },
  secret_decrypt_failed: { why: 'a secret could not be opened', next: 'Send us the request id.' },
  upstream_unreachable: {
    why: 'the upstream could not be reached',
    next: 'Check its host and port and whether it is up.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  upstream_tls_error: {
    why: 'the upstream showed a certificate we cannot trust',
    next: 'Check its name, chain and dates.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  upstream_protocol_error: {
    why: 'the upstream answered something that is not HTTP',
    next: 'Check the port and the scheme.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  upstream_response_too_large: {
    why: "the upstream's answer is too large to rewrite",
    next: 'Ask for less, or switch the response rules off.',
  },
  upstream_timeout: {
    why: 'the upstream took too long',
    next: 'Raise the timeout, or look at the upstream.',
    fix: { label: 'Limits of the route', where: 'route:limits' },
  },
  tenant_sealed: { why: 'the workspace key is sealed', next: 'An Owner or Admin can unseal it.' },
  dependency_unavailable: { why: 'we could not reach something we need', next: 'Try again in a few seconds.' },
  loop_detected: {
    why: 'the call came back to us in a circle',
    next: 'The upstream of the route leads to Sallyport itself.',
    fix: { label: 'Upstream of the route', where: 'route:upstream' },
  },
  client_closed: { why: 'the caller went away before the answer', next: 'Its timeout may be shorter than the upstream needs.' },
  upstream_stream_failed: {
    why: 'the upstream broke off in the middle of its answer',
    next: 'Look at the upstream; the caller saw a cut answer.',
  },
};
