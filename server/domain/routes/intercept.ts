import { parseTemplate } from '#server/domain/templates/grammar.ts';
import { canonicalHost } from '#server/kernel/upstream-url.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';

// Which hosts of outbound calls a route covers (interface rules 34 §2 and §4). Pure, because the manifest and the gateway must agree.

export type Intercepted = { readonly host: string; readonly base_path: string };

/** The value of a variable of type value; undefined for a secret and for one that doesn't exist. */
export type VariableValue = (collection: string | null, key: string) => string | undefined;

/**
 * The host and path that a target URL stands for, or undefined when no call can be matched against it: a host that isn't a DNS name, a port other than the
 * default, the service itself, a variable that holds a secret.
 */
export function interceptedTarget(url: string, variable: VariableValue, settings: EgressSettings): Intercepted | undefined {
  const text = withValues(url, variable);
  if (text === undefined) return undefined;
  const verdict = parseTarget(text, settings);
  if (!verdict.ok || verdict.hasVariables) return undefined;
  const { scheme, port, path } = verdict.target;
  const host = canonicalHost(verdict.target.host);
  if (host === undefined || port !== (scheme === 'http' ? 80 : 443)) return undefined;
  const [plain = ''] = path.split('?', 1);
  return { host, base_path: plain.replace(/\/$/, '') || '/' };
}

function withValues(url: string, variable: VariableValue): string | undefined {
  if (!url.includes('{{')) return url;
  const parsed = parseTemplate(url);
  if (!parsed.ok) return undefined;
  let text = '';
  for (const part of parsed.template) {
    const value = part.kind === 'literal' ? part.text : part.kind === 'var' ? variable(part.collection, part.key) : undefined;
    if (value === undefined) return undefined;
    text += value;
  }
  return text;
}

/** Whether a base path covers the path of a call: `/crm/v3` covers `/crm/v3` and `/crm/v3/x`, and not `/crm/v30`. */
export const coversPath = (base: string, path: string): boolean => base === '/' || path === base || path.startsWith(`${base}/`);

type Ordered = Intercepted & { readonly slug: string };

/** Host, then the longest base path, then base path and slug by bytes: the first that covers a call is the one to take. */
export const byPrecedence = (a: Ordered, b: Ordered): number =>
  compare(a.host, b.host) || b.base_path.length - a.base_path.length || compare(a.base_path, b.base_path) || compare(a.slug, b.slug);

/** All of it is ASCII, where code units are bytes. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
