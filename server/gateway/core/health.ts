import type { PlaneMatch, PortPlane } from './hosts.ts';

// What /readyz says. Public: it names parts and times, and nothing of workspaces, addresses or errors.

/** A part that isn't as it should be. `since`: when this gateway noticed. */
export type Trouble = {
  part: 'configuration' | 'database' | 'request_log' | 'counters' | 'web' | 'dashboard';
  since: Date | null;
  effect: string;
};

export type Health = {
  /** Whether calls can be served; `starting` before anything was ever loaded. */
  calls: 'ok' | 'starting' | 'unavailable';
  /** What doesn't work although calls are served. */
  degraded: readonly Trouble[];
  /** Why calls aren't served. */
  down: readonly Trouble[];
};

/** What an address serves: calls alone, also what web answers, or also pages. */
export type Needs = 'calls' | 'api' | 'pages';

export type Web = { api: Trouble | null; pages: Trouble | null };

export type HealthAnswer = { status: number; body: Record<string, unknown> };

/**
 * Addresses of workspaces need no web, so that a load balancer goes on sending calls while it is away; those of the API need it, and the dashboard's and
 * unknown ones need its pages. `?only=calls` is for probes that can't name a host.
 */
export function needsOf(port: PortPlane, { plane }: PlaneMatch, target: string): Needs {
  if (target.endsWith('?only=calls') || port === 'proxy' || plane === 'tenant' || plane === 'wrap') return 'calls';
  return plane === 'api' || plane === 'hooks' ? 'api' : 'pages';
}

/** `leaving` and a gateway that serves no calls come first: nothing else matters then. */
export function readiness({ calls, degraded, down }: Health, needs: Needs, web: Web, leaving: boolean): HealthAnswer {
  if (leaving) return { status: 503, body: { status: 'stopping' } };
  if (calls === 'starting') return { status: 503, body: { status: 'starting', ...listed(down) } };
  const missing = [web.api, needs === 'pages' ? web.pages : null].filter((one) => one !== null);
  const reasons = [...down, ...(needs === 'calls' ? [] : missing)];
  if (reasons.length > 0) return { status: 503, body: { status: 'unavailable', ...listed([...reasons, ...degraded]) } };
  const lesser = [...degraded, ...(needs === 'calls' ? missing : [])];
  return { status: 200, body: lesser.length === 0 ? { status: 'ok' } : { status: 'degraded', ...listed(lesser) } };
}

function listed(troubles: readonly Trouble[]): { since?: string; parts?: Record<string, { since: string | null; effect: string }> } {
  if (troubles.length === 0) return {};
  const times = troubles.flatMap(({ since }) => (since ? [since.getTime()] : []));
  return {
    ...(times.length > 0 && { since: new Date(Math.min(...times)).toISOString() }),
    parts: Object.fromEntries(troubles.map(({ part, since, effect }) => [part, { since: since?.toISOString() ?? null, effect }])),
  };
}
