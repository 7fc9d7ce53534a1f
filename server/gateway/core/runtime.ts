import type { MemoryCounters } from '#server/platform/counters/memory.ts';
import type { Counters } from '#server/platform/counters.ts';
import type { OriginPool } from '#server/platform/http-out/origin-pool.ts';
import type { Resolver } from '#server/platform/http-out/resolver.ts';
import type { UpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import type { AccessTokens } from '../credentials/access-tokens.ts';
import type { Snapshots } from '../snapshot/store.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Call } from './call.ts';
import type { LoggedPlane } from './log/logged-plane.ts';
import type { MonthlyCounters } from './monthly.ts';
import type { Quota } from './quota.ts';
import type { SecretValues } from './secret-values.ts';

/** What calls are served with; one per process. */
export type Runtime = {
  snapshots: Snapshots;
  counters: Counters;
  monthly: MonthlyCounters;
  /** Failed authentications per address and workspace. */
  failures: MemoryCounters;
  /** Running calls per workspace id. */
  inFlight: Map<string, number>;
  maxInFlight: number;
  bodies: BodyMemory;
  /** Bytes of bodies that are held for callers who are not admitted yet, per workspace id. */
  strangers: Quota;
  /** Bytes of payloads that are kept for the log, per workspace id. */
  captures: Quota;
  secrets: SecretValues;
  resolver: Resolver;
  pools: UpstreamPools;
  /** The built-in echo upstream of the demonstration route. */
  echo: OriginPool | null;
  /** Access tokens, remembered for moments. */
  tokens: Pick<AccessTokens, 'find'>;
  /** Lower-case names of load-balancer headers that are not for upstreams. */
  privateHeaders: ReadonlySet<string>;
  /** Logs a finished call. Never throws, never waits. */
  record(call: Call, plane: LoggedPlane): void;
};
