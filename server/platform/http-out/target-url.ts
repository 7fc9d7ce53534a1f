import { REFUSED_PORTS } from './deny-list.ts';
import { checkHost } from './guard.ts';
import type { Resolver } from './resolver.ts';
import type { EgressSettings } from './settings.ts';

export type Target = {
  scheme: 'https' | 'http';
  /** Lower-case; addresses canonical, IPv6 without brackets. With a variable inside, as written. */
  host: string;
  port: number;
  /** Host header value: brackets and a non-default port included. */
  authority: string;
  /** Byte for byte as written, '' when absent. */
  path: string;
};

export type TargetRefusal = {
  ok: false;
  reason: 'syntax' | 'scheme' | 'credentials' | 'query' | 'path' | 'template' | 'port' | 'host' | 'own_host' | 'not_allowed';
  /** Continues a field name: `target_base_url: must be …`. */
  message: string;
};
export type TargetVerdict = { ok: true; target: Target; hasVariables: boolean } | TargetRefusal;
export type SavedTargetVerdict = { ok: true; target: Target; hasVariables: boolean; warnings: string[] } | TargetRefusal;

/**
 * Judges a caller-given base URL when it is saved: syntax, scheme, port, host and, when it resolves, every address
 * (interface rules 10 §4.3 and 12 §9). A name that does not resolve is accepted with a warning. Never rejects.
 */
export async function checkTargetUrl(url: string, resolver: Resolver): Promise<SavedTargetVerdict> {
  const verdict = parseTarget(url, resolver.settings);
  if (!verdict.ok) return verdict;
  const { target, hasVariables } = verdict;
  const insecure = target.scheme === 'http' && !resolver.settings.allowHttp;
  if (target.host.includes('{{')) {
    if (insecure) return refuse('scheme', 'must use https');
    return { ...verdict, warnings: ['The host contains variables, so it is checked when the route is called.'] };
  }
  const lookup = await resolver.lookup(target.host, target.port);
  if (!lookup.ok && lookup.reason === 'blocked')
    return refuse('not_allowed', `points to an address that is not public; ${PRIVATE_OPENED_BY}`);
  if (insecure && !(lookup.ok && lookup.exempt))
    return refuse('scheme', 'must use https; http is only allowed for hosts that the operator lists in UPSTREAM_PRIVATE_ALLOWLIST');
  const warnings = lookup.ok ? [] : [`The host ${target.host} doesn't resolve at the moment.`];
  return { ok: true, target, hasVariables, warnings };
}

/**
 * Takes a base URL apart without normalising its path, and judges everything that needs no DNS. Used at save and again on the
 * call after variables were put in. `{{var:key}}` may stand in host labels and path; other templates are refused.
 */
export function parseTarget(url: string, settings: EgressSettings): TargetVerdict {
  if (url.length === 0 || url.length > 2048) return refuse('syntax', 'must have 1 to 2048 characters');
  if (/[^\x21-\x7e]|[\\"<>^`|]/.test(url)) return refuse('syntax', 'must be an ASCII URL without spaces or backslashes');
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(url) ?? [];
  if (!scheme || rest === undefined) return refuse('syntax', 'must be an absolute URL such as https://api.example.com');
  const lowerScheme = scheme.toLowerCase();
  if (lowerScheme !== 'https' && lowerScheme !== 'http') return refuse('scheme', 'must use https');
  if (rest.includes('?')) return refuse('query', 'must not contain a query string');
  if (rest.includes('#')) return refuse('query', 'must not contain a fragment');
  const slash = rest.indexOf('/');
  const authority = slash === -1 ? rest : rest.slice(0, slash);
  const path = slash === -1 ? '' : rest.slice(slash);
  if (authority.includes('@')) return refuse('credentials', 'must not contain a user name or password');
  const templates = url.replaceAll(VARIABLE, '');
  if (templates.includes('{{') || templates.includes('}}'))
    return refuse('template', 'can contain {{var:key}} in the host and path, but no other template');
  if (/[{}]/.test(templates)) return refuse('syntax', 'must not contain curly braces');
  if (hasDotSegment(path.replaceAll(VARIABLE, 'x'))) return refuse('path', 'must not contain . or .. path segments');
  if (/%(?![0-9a-f]{2})|%0[0ad]/i.test(path)) return refuse('path', 'must use valid percent-encoding');

  const hasVariables = templates.length !== url.length;
  const split = /^(\[[^\]]*\]|(?:\{\{[^}]*\}\}|[^:{])+)(?::(\d{0,5}))?$/.exec(authority);
  const rawHost = split?.[1];
  if (!rawHost) return refuse('syntax', 'must have a host');
  const port = split[2] === undefined || split[2] === '' ? (lowerScheme === 'https' ? 443 : 80) : Number(split[2]);
  if (port < 1 || port > 65_535) return refuse('port', 'must have a port from 1 to 65535');
  const opened = settings.privateAllow.some((entry) => entry.port === port);
  if (REFUSED_PORTS.has(port) && !opened) return refuse('port', `must not use port ${port}`);

  // A variable stands for part of a label, so a letter in its place lets the fixed part of the name be judged now.
  const verdict = checkHost(rawHost.replaceAll(VARIABLE, 'x'), port, settings);
  const variableHost = rawHost.includes('{{');
  const wholly = variableHost && !verdict.ok && verdict.reason === 'name' && /^\{\{[^}]*\}\}$/.test(rawHost);
  if (!verdict.ok && !wholly)
    return refuse(
      verdict.reason === 'own_host' ? 'own_host' : verdict.reason === 'address' ? 'not_allowed' : 'host',
      `must use a public host: the host ${verdict.message}${verdict.openable ? `; ${PRIVATE_OPENED_BY}` : ''}`,
    );
  const host = variableHost || !verdict.ok ? rawHost.toLowerCase() : verdict.host;
  const bracketed = host.includes(':') && !variableHost ? `[${host}]` : host;
  const isDefault = port === (lowerScheme === 'https' ? 443 : 80);
  return {
    ok: true,
    hasVariables,
    target: { scheme: lowerScheme, host, port, authority: isDefault ? bracketed : `${bracketed}:${port}`, path },
  };
}

/** The next step of whoever has an upstream of their own on a private network, which is everybody at first. The same words for every address: they say nothing of it. */
export const PRIVATE_OPENED_BY = 'the operator can allow private hosts with UPSTREAM_PRIVATE_ALLOWLIST';

const VARIABLE = /\{\{\s*var:[A-Za-z0-9_.-]{1,128}\s*\}\}/g;

/** Encoded spellings count: `%2e%2e` is `..` to most servers (RFC 3986 §6.2.2.2). */
function hasDotSegment(path: string): boolean {
  return path.split('/').some((segment) => /^\.\.?$/.test(segment.replace(/%2e/gi, '.')));
}

function refuse(reason: TargetRefusal['reason'], message: string): TargetRefusal {
  return { ok: false, reason, message };
}
