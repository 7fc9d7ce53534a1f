import { withoutDashboardCookies } from '#server/kernel/dashboard-cookies.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import type { Runtime } from '../core/runtime.ts';
import { hidesAnswer, isOwnHeader, nominatedBy } from '../core/upstream-headers.ts';
import type { EphemeralCall } from './ephemeral-call.ts';

/**
 * The caller's headers that go on to the upstream, in their order and duplicates kept (interface rule 33 §2.2): none of its connection or of ours, none that
 * carried our credential, none that tells where the caller is. Nothing is added.
 */
export function* forwardedHeaders(
  call: EphemeralCall,
  { privateHeaders }: Runtime,
): Generator<{ index: number; name: string; raw: string; value: string }> {
  const raw = call.req.rawHeaders;
  const nominated = nominatedBy(call.connection);
  for (const [index, name] of call.names.entries()) {
    const meant = hyphenated(name);
    if (isOwnHeader(name) || DROPPED.has(meant) || nominated?.has(name) || privateHeaders.has(meant)) continue;
    if (hidesAnswer(call, name)) continue;
    if (meant === 'x-api-key' && call.stripApiKey) continue;
    const value = raw[index * 2 + 1] as string;
    const kept = name === 'cookie' ? withoutDashboardCookies(value) : value;
    if (kept !== undefined) yield { index, name, raw: raw[index * 2] as string, value: kept };
  }
}

const DROPPED = new Set(['authorization', 'dpop', 'via']);
