import { processState } from '#server/kernel/process-state.ts';
import { egress } from '#server/platform/egress.ts';

const KEPT_MS = 10 * 60_000;
const MOST_HOSTS = 500;

type Known = { at: number; address: string | null };
const state = processState('live-upstreams', () => ({ hosts: new Map<string, Known>() }));

/**
 * An address of an upstream, for its place on a map, as the gateway's own guarded resolver finds it; what it refuses has none. Nobody waits for a lookup:
 * the next who asks is told.
 * @param authority host and perhaps port, as the log has it
 */
export function addressOfUpstream(authority: string): string | null {
  const known = state.hosts.get(authority);
  if (known && Date.now() - known.at < KEPT_MS) return known.address;
  const entry: Known = { at: Date.now(), address: known?.address ?? null };
  state.hosts.delete(authority);
  state.hosts.set(authority, entry);
  for (const oldest of state.hosts.keys()) {
    if (state.hosts.size <= MOST_HOSTS) break;
    state.hosts.delete(oldest);
  }
  void findAddress(entry, authority);
  return entry.address;
}

async function findAddress(entry: Known, authority: string): Promise<void> {
  const url = URL.parse(`https://${authority}`);
  const found = url && (await egress().lookup(url.hostname, Number(url.port || 443)));
  entry.address = found?.ok ? (found.addresses[0]?.address ?? null) : null;
}
