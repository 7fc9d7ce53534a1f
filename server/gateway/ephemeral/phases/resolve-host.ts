import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/**
 * Step 8, for calls that open vault tokens: nothing is audited or opened for a host that is refused. Every other call is judged when it connects, on the
 * addresses that it connects to; so is this one, again.
 */
export function resolveHost(call: EphemeralCall, { resolver }: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { upstream, state } = call;
  const opens = state.scanned?.expressions.some(({ kind }) => kind === 'token') ?? false;
  // A port that the private allowlist opened holds for addresses of that list alone.
  const elsewhere = upstream !== null && upstream.port !== 443 && !resolver.settings.testHosts.has(`${upstream.host}:${upstream.port}`);
  if (!upstream || !(opens || elsewhere)) return undefined;
  return resolver.lookup(upstream.host, upstream.port).then((lookup) => {
    if (!lookup.ok) return refused(lookup.reason === 'blocked' ? 'upstream_not_allowed' : 'upstream_unreachable', lookup.message);
    return elsewhere && !lookup.exempt
      ? refused('upstream_not_allowed', `The host ${upstream.host} is not allowed as an upstream.`)
      : undefined;
  });
}
