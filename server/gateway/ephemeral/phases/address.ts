import { hostAllowed } from '#server/domain/secrets/hosts.ts';
import { parseUpstreamUrl } from '#server/kernel/upstream-url.ts';
import { REFUSED_PORTS } from '#server/platform/http-out/deny-list.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';
import { parseEncrypted } from '../templates/encrypted.ts';

const TIMEOUT_MS = { usual: 25_000, most: 30_000 };
/** How long an answer may be silent once it has begun. */
const IDLE_MS = 30_000;
const NOTHING: ReadonlySet<string> = new Set();

/** Steps 4 and 5: the control headers, then the URL. */
export function address(call: EphemeralCall, runtime: Runtime): Refused | undefined {
  const { state, snapshot } = call;
  const { own } = state;
  const mode = own.get('x-svc-proxy-mode');
  if (mode !== undefined && mode !== '' && mode !== 'transparent') return invalid('X-Svc-Proxy-Mode: must be transparent, or absent');
  state.mode = mode === 'transparent' ? 'transparent' : 'template';
  const timeoutMs = timeoutOf(own.get('x-svc-timeout-ms'));
  if (timeoutMs === undefined) return invalid(`X-Svc-Timeout-Ms: must be a whole number from 1 to ${TIMEOUT_MS.most}`);
  if (own.has('x-svc-upstream-authorization') && own.has('x-svc-upstream-auth-secret'))
    return invalid('X-Svc-Upstream-Authorization and X-Svc-Upstream-Auth-Secret exclude each other: send one of them');
  for (const name of ['x-svc-upstream-authorization', 'x-svc-upstream-auth-secret'])
    if (own.get(name) === '') return invalid(`${name}: must not be empty`);
  const scheme = own.get('x-svc-upstream-auth-scheme');
  if (scheme !== undefined && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/.test(scheme))
    return invalid('X-Svc-Upstream-Auth-Scheme: must be a token of at most 32 characters, or none');
  const encrypted = own.get('x-svc-encrypted');
  if (encrypted !== undefined) {
    const parsed = parseEncrypted(encrypted);
    if (!parsed) return invalid('X-Svc-Encrypted: must be base64 of a JSON value of at most 16 KiB');
    state.encrypted = parsed;
  }
  state.environmentName = own.get('x-svc-environment') || snapshot.defaultEnvironment;
  call.forwarding = { timeoutMs, ...FORWARDING };
  const url = own.get('x-svc-proxy-url');
  return url ? goTo(call, runtime, url) : invalid('X-Svc-Proxy-URL: is required');
}

/** Step 5, for both planes. */
export function goTo(call: EphemeralCall, { resolver }: Runtime, text: string): Refused | undefined {
  const { settings } = resolver;
  const verdict = parseUpstreamUrl(text, {
    ownHosts: settings.ownHosts,
    opensPort: (host, port) => opensPort(settings, host, port),
    placeholders: call.state.mode === 'template',
  });
  if (!verdict.ok) return refused(verdict.code, `X-Svc-Proxy-URL: ${verdict.message}.`);
  const { url } = verdict;
  call.state.url = url;
  call.upstream = { scheme: 'https', host: url.host, port: url.port, authority: url.authority, path: '' };
  const allowed = call.snapshot.tenant.settings.egress_allowlist;
  if (allowed !== null && !hostAllowed(allowed, url.host))
    return refused('egress_denied', `The workspace's egress allowlist doesn't contain ${url.host}.`);
  return undefined;
}

/** The operator's own networks may be on other ports; whether an address is in one of them is judged when it is connected to. */
const opensPort = ({ testHosts, privateAllow }: EgressSettings, host: string, port: number): boolean =>
  testHosts.has(`${host}:${port}`) ||
  privateAllow.some((entry) => (entry.port === undefined ? !REFUSED_PORTS.has(port) : entry.port === port));

/** Undefined when it is not one. */
export function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return TIMEOUT_MS.usual;
  const ms = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return ms >= 1 && ms <= TIMEOUT_MS.most ? ms : undefined;
}

export const FORWARDING = {
  retryAttempts: 0,
  sendsOnce: true,
  idleMs: IDLE_MS,
  bodyLimit: 10 * 1024 * 1024,
  droppedHeaders: NOTHING,
  forwardClientIp: false,
} as const;

const invalid = (message: string): Refused => refused('validation_error', `${message}.`);
