import type { MemoryCounters } from '#server/platform/counters/memory.ts';
import type { Counters } from '#server/platform/counters.ts';
import type { OriginPool } from '#server/platform/http-out/origin-pool.ts';
import type { Resolver } from '#server/platform/http-out/resolver.ts';
import type { UpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import type { Snapshots } from '../snapshot/store.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Call } from './call.ts';
import type { MonthlyCounters } from './monthly.ts';
import type { Refused } from './refusal.ts';
import type { SecretValues } from './secret-values.ts';

/** What the phases work with; one per process. */
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
  secrets: SecretValues;
  resolver: Resolver;
  pools: UpstreamPools;
  /** The built-in echo upstream of the demonstration route. */
  echo: OriginPool | null;
  /** Lower-case names of load-balancer headers that are not for upstreams. */
  privateHeaders: ReadonlySet<string>;
  /** Takes the finished call; never throws, never waits. */
  record(call: Call): void;
};

/**
 * One step of a call. Returns nothing to go on, a refusal to answer and stop, or a promise of either when it must wait. A phase that
 * waits although everything is in memory costs every call a turn of the event loop.
 */
export type Phase = (call: Call, runtime: Runtime) => Refused | undefined | Promise<Refused | undefined>;
