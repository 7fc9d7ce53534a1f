import type { PoolClient } from 'pg';

/** One attempt: an event on its way to a destination. */
export type Attempt = {
  delivery_id: string;
  destination_id: string;
  tenant_id: string;
  sandbox: boolean;
  /** 1 for the first. */
  number: number;
  trigger: 'event' | 'test' | 'redelivery' | 'recover';
  event: {
    id: string;
    type: string;
    occurred_at: Date;
    data: Record<string, unknown> /** W3C trace context of what caused it. */;
    trace?: string;
  };
};

/** How a delivery stands after an attempt. `next_attempt_at` is null unless it is tried again. */
export type Ended = { state: 'pending' | 'succeeded' | 'exhausted'; next_attempt_at: Date | null };

/** What a destination keeps of an attempt; its channel's `record` knows what it is. */
export type Keeping = { kept?: unknown };

export type Outcome =
  | ({ result: 'delivered'; status?: number } & Keeping)
  | ({
      result: 'failed';
      /** A stable code such as `timeout` or `http_status`. */
      error: string;
      status?: number;
      /** The receiver asked to wait this long. */
      retryAfterMs?: number;
      /** Trying again cannot help. */
      final?: boolean;
    } & Keeping)
  /** The destination is gone or turned off. */
  | { result: 'dropped' };

/** How deliveries reach one kind of destination. A call ends by itself or when `signal` aborts; what it throws counts as a failed attempt. */
export type Channel = {
  deliver(attempt: Attempt, signal: AbortSignal): Promise<Outcome>;
  /** Writes what is kept of attempts, in the transaction that ends them: both are there or neither. */
  record?(client: PoolClient, entries: readonly { ended: Ended; kept: unknown }[]): Promise<void>;
};

/** By the name in `event_subscriptions.channel`. */
export type Channels = Readonly<Record<string, Channel>>;
