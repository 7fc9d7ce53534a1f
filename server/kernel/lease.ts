import type { Tx } from './tx.ts';

/** Something that expires, and must be looked at: see `server/domain/leases`. */
export type Lease = {
  resource_id: string;
  /** Null for what belongs to no workspace, such as a sign-up. */
  tenant_id: string | null;
  sandbox: boolean;
  /** Failures in a row. */
  attempts: number;
  version: number;
};

/** What a family does when one of its leases is due. The family's `leases.ts` names it by its kind. */
export type LeaseHandler = {
  /**
   * `hour` for digests: what becomes due within an hour is one mail. `tick`, the default, is every few seconds. `apart` is as often, in a loop of its own:
   * work on servers of customers may take long, and delays nothing else.
   */
  every?: LeasePace;
  /** Leases of one transaction; 200. */
  batch?: number;
  /**
   * Work outside of the database, such as dropping a user of a customer's server; one call per lease, before `handle` and outside of its transaction.
   * It may run again after a crash. A rejection postpones that lease alone.
   */
  release?: (lease: Lease, signal: AbortSignal) => Promise<void>;
  /**
   * The same for the whole batch, where leases share connections or have a schedule of their own for what fails: it keeps to a minute, and answers which
   * of them it did not get to. Those are due again at once.
   */
  releaseAll?: (leases: readonly Lease[], run: { signal: AbortSignal; now: Date }) => Promise<ReadonlySet<string>>;
  /** Acts on what is due. Runs in one transaction for the batch, and again lease by lease if that fails. */
  handle: (tx: Tx, leases: readonly Lease[], now: Date) => Promise<LeaseOutcome>;
};

export type LeasePace = 'tick' | 'hour' | 'apart';

export type LeaseOutcome = {
  /** When each resource is due again, by its ID. A lease that isn't listed ends. */
  next: ReadonlyMap<string, Date>;
  /** How many of them something was done about, for the log. */
  acted: number;
  /** Runs after the commit. */
  committed?: () => void;
};

export type LeaseHandlers = Readonly<Record<string, LeaseHandler>>;
