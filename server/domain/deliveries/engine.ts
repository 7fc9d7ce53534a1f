import type pg from 'pg';
import { eventData } from '#server/domain/events/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { batching } from '#server/platform/batching.ts';
import { openPool } from '#server/platform/healing-pool.ts';
import { log } from '#server/platform/log.ts';
import { startLoop } from '#server/platform/loop.ts';
import { connection } from '#server/platform/sql.ts';
import { tally } from '#server/platform/telemetry/meters.ts';
import { watchPool } from '#server/platform/telemetry/pool-meters.ts';
import { idsOf, spanSink } from '#server/platform/telemetry/spans.ts';
import type { Attempt, Channels, Outcome } from './channel.ts';
import { type DispatchPoint, dispatchEvents } from './dispatch.ts';
import { type Claimed, claim, type Finished, finish, giveBack, LOCK_SECONDS } from './store.ts';

export type Deliveries = { /** Ends running attempts; they are made again later. */ stop(): Promise<void> };

type Options = {
  /** Attempts at a time in this process: each holds a socket and its payload, no connection of the database. */
  concurrency?: number;
  /** Milliseconds between looks at an empty queue. */
  pauseMs?: number;
  /** Called at each point between an event and its deliveries. */
  mark?: (point: DispatchPoint) => void;
};

const attempts = tally(
  { name: 'sallyport_delivery_attempts', help: 'Attempts of deliveries that ended, by channel and outcome' },
  'channel',
  'outcome',
);

const ATTEMPT_MS = (LOCK_SECONDS - 30) * 1_000;

type Ending = { pool: pg.Pool; channels: Channels; item: Finished };

/** Attempts that end while others are being written share the next transaction; a lane is one engine. */
const ended = batching<Ending, Error | null>('ends of deliveries', {
  most: 100,
  run: (endings) =>
    finish(
      (endings[0] as Ending).pool,
      (endings[0] as Ending).channels,
      endings.map(({ item }) => item),
    ),
});

/**
 * Delivers events until stopped, at least once each. It has its own loop and its own connections, apart from the job queue: receivers that hang delay
 * other deliveries at most, never mail or expiry. An attempt holds no connection.
 */
export function startDeliveries(channels: Channels, { concurrency = 500, pauseMs = 1_000, mark }: Options = {}): Deliveries {
  const names = Object.keys(channels);
  const owner = newId();
  const pool = watchPool('deliveries', openPool({ ...connection(), max: 4, application_name: 'sallyport-deliveries' }));
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  const attempt = async (delivery: Claimed): Promise<void> => {
    const began = performance.now();
    const outcome = await makeAttempt(channels, delivery, stopping.signal);
    if (!outcome) return giveBack(pool, delivery, owner);
    attempts.add([delivery.channel, outcome.result]);
    tellSpan(delivery, outcome, began);
    const refused = await ended(owner, { pool, channels, item: { delivery, owner, outcome } });
    if (refused) throw refused;
  };
  const loop = startLoop('delivering events', pauseMs, async () => {
    const more = await dispatchEvents(pool, mark);
    const free = concurrency - running.size;
    const due = free > 0 && names.length > 0 ? await claim(pool, names, owner, free) : [];
    for (const delivery of due) {
      // A failed write leaves the delivery locked: it is made again when the lock has run out.
      const task = attempt(delivery).catch((error: unknown) =>
        log.warn({ err: error, delivery_id: delivery.id }, 'a delivery was not recorded'),
      );
      running.add(task);
      void task.finally(() => {
        running.delete(task);
        loop.wake();
      });
    }
    return more || (due.length > 0 && due.length === free);
  });

  return {
    async stop() {
      stopping.abort();
      await loop.stop();
      await Promise.all(running);
      await pool.end();
    },
  };
}

/** In the trace of the call that it tells of; else in one of its own, by the IDs that its receiver is told. */
function tellSpan({ id, channel, event, tenant_id }: Claimed, outcome: Outcome, began: number): void {
  const sink = spanSink();
  if (sink === null) return;
  const { trace } = traceOf(event.facts);
  sink({
    ...{ name: `deliver ${channel}`, kind: 'client', began, ended: performance.now(), parent: trace, trusted: true },
    ids: { trace: idsOf(event.id).trace, span: idsOf(id).span },
    attributes: {
      ...{
        'sallyport.channel': channel,
        'sallyport.delivery_id': id,
        'sallyport.tenant_id': tenant_id,
        'sallyport.outcome': outcome.result,
      },
      ...('status' in outcome && typeof outcome.status === 'number' && { 'http.response.status_code': outcome.status }),
    },
    error: outcome.result === 'failed' ? outcome.error : undefined,
  });
}

/** Undefined if the attempt was cut off by a stop. */
async function makeAttempt(channels: Channels, delivery: Claimed, stopping: AbortSignal): Promise<Outcome | undefined> {
  const { id, destination_id, tenant_id, sandbox, trigger, event, attempts } = delivery;
  if (event.expires_at.getTime() <= Date.now() || (!delivery.wanted && trigger !== 'test')) return { result: 'dropped' };
  const timeout = AbortSignal.timeout(ATTEMPT_MS);
  try {
    const { id: event_id, type, occurred_at } = event;
    const data = await eventData(event);
    const attempt: Attempt = {
      ...{ delivery_id: id, destination_id, tenant_id, sandbox, trigger },
      number: attempts + 1,
      event: { id: event_id, type, occurred_at, data, ...traceOf(event.facts) },
    };
    if (stopping.aborted) return undefined;
    return await channels[delivery.channel]?.deliver(attempt, AbortSignal.any([stopping, timeout]));
  } catch (error) {
    if (stopping.aborted) return undefined;
    log.warn({ err: error, delivery_id: id, destination_id }, 'an attempt of a delivery failed');
    return { result: 'failed', error: timeout.aborted ? 'timeout' : 'internal_error' };
  }
}

const traceOf = (facts: unknown): { trace?: string } => {
  const { trace } = (facts ?? {}) as { trace?: unknown };
  return typeof trace === 'string' ? { trace } : {};
};
