import type { ServedRoute } from './protocol.ts';

// What a route puts into a call, as the service renders it (interface rules 10 §7 and 30 §7.1). Pure.

/** The value of a secret, by name or by ID. Throws an `InjectionFault` when there is none that may go there. */
export type SecretReader = (by: { name: string } | { id: string }) => string;

export class InjectionFault extends Error {
  readonly status: number;
  readonly type: string;
  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

const PLACEHOLDER =
  /\{\{[ \t]*(?:(secret_id|secret)[ \t]*:[ \t]*([A-Za-z0-9_.-]{1,128})|(environment|route\.name|route\.slug|route\.id|tenant_id|request_id|timestamp))[ \t]*\}\}/g;

export type CallFacts = { tenant_id: string; request_id: string; timestamp: string };

/** One pass: what a placeholder is replaced by is never looked at again. */
export function renderedText(template: string, route: ServedRoute, facts: CallFacts, secret: SecretReader): string {
  const context: Record<string, string> = {
    ...facts,
    environment: route.environment,
    'route.name': route.name,
    'route.slug': route.slug ?? '',
    'route.id': route.id,
  };
  return template.replace(PLACEHOLDER, (_whole, kind: string | undefined, argument: string, name: string) => {
    if (kind === undefined) return context[name] ?? '';
    return secret(kind === 'secret' ? { name: argument } : { id: argument.toLowerCase() });
  });
}

/** Throws an `InjectionFault` for a value that no header can carry: it could say something of its own. */
export function headerValueOf(name: string, value: string): string {
  if (!/[^\t\x20-\x7e]/.test(value)) return value;
  throw new InjectionFault(424, 'secret_invalid_for_header', `The value for the header ${name} has characters that no header can carry.`);
}

/** The caller's query without the names that the route sets, and these behind it. `null`: the call has no query. */
export function injectedQuery(sent: string | null, set: readonly (readonly [string, string])[]): string | null {
  if (set.length === 0) return sent;
  const names = new Set(set.map(([name]) => name));
  const kept = (sent ?? '').split('&').filter((pair) => pair !== '' && !names.has(decodedName(pair)));
  return [...kept, ...set.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)].join('&');
}

function decodedName(pair: string): string {
  const name = (pair.split('=', 1)[0] ?? '').replaceAll('+', ' ');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Whether a secret with these pins may go to the target: hosts on HTTPS and its own port; `*.` stands for one label. */
export function isPinnedTo(pins: readonly string[] | null | undefined, target: URL): boolean {
  if (!pins) return true;
  if (target.protocol !== 'https:' || (target.port !== '' && target.port !== '443')) return false;
  const parent = target.hostname.slice(target.hostname.indexOf('.'));
  return pins.some((pin) => (pin.startsWith('*.') ? parent === pin.slice(1) : pin === target.hostname));
}
