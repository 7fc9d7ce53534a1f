import type { Pool } from 'pg';
import { log } from '#server/platform/log.ts';
import { counter } from '#server/platform/telemetry/meters.ts';
import type { Call } from '../call.ts';
import { networkOf } from '../client-address.ts';
import { afterTurn } from '../event-loop-turn.ts';
import type { GatewayResponse } from '../gateway-response.ts';
import { batchOf, type LogBatch, memoryFor, newBatch } from './batch.ts';
import { insertBatch, insertRows } from './insert.ts';
import type { FollowedBatch, Journal } from './journal.ts';
import type { LoggedPlane } from './logged-plane.ts';
import { type LogRow, logRow } from './row.ts';
import { type Spill, spilled } from './spill.ts';
import type { UsageStamps } from './usage-stamps.ts';

export type LogWriter = {
  /** Takes a finished call of a plane, and lets its answer end once its row is in the journal. Never waits, never throws. */
  record(call: Call, plane: LoggedPlane): void;
  /** Takes the row of a call that another process served. Never waits, never throws. */
  take(row: LogRow): void;
  /** Writes what is queued, to the database or to the disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
  readonly queued: number;
  /** Since when the database takes no rows; null while it does. */
  readonly failingSince: Date | null;
};

export type LogWriterOptions = {
  pool: Pool;
  spill: Spill;
  /** Without one, a process that is killed loses its queue. */
  journal?: Journal | undefined;
  stamps: UsageStamps;
  nodeId: string;
  maxQueue?: number;
  maxBatch?: number;
  everyMs?: number;
};

const written = counter({ name: 'sallyport_request_log_rows', help: 'Rows of the request log that the database took' });
const rejected = counter({ name: 'sallyport_request_log_rejected', help: 'Rows of the request log that the database refused' });

const RETRY_MS = 2_000;
const UNAUTHENTICATED_PER_MINUTE = 60;
const MAX_NETWORKS = 10_000;
const MOST_SPARE = 4;

/** A batch, and its lines in the journal. */
type Queued = LogBatch & { followed?: FollowedBatch | undefined };

/**
 * The request log's way to the database (interface rule 13 §10): in the journal before its call is answered, queued in memory, written in batches, and left
 * on the disk when the database is away or the queue is full.
 */
export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { pool, spill, journal, stamps, nodeId, maxQueue = 10_000, maxBatch = 500, everyMs = 250 } = options;
  /** Memory of batches that are written: fresh memory for each is what wakes the collector. */
  const spare: Buffer[] = [];
  let open = followed(newBatch(memoryFor(maxBatch)));
  /** Full, the oldest first. While it is written the first stays here. */
  const full: Queued[] = [];
  /** Answers that end when the rows of their calls are in the journal. */
  let answers: GatewayResponse[] = [];
  let committing = false;
  let queued = 0;
  let writing: Promise<void> | undefined;
  let retryAt = 0;
  let failingSince: Date | null = null;
  const flood = floodGate();
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();

  function followed(batch: LogBatch): Queued {
    return Object.assign(batch, { followed: journal?.follow(batch) });
  }

  /** All rows of a turn of the event loop go to the disk at once. */
  function commit(): void {
    committing = false;
    const ending = answers;
    answers = [];
    open.followed?.append();
    if (journal?.mode !== 'fsync') for (const res of ending) res.letEnd('log');
    else
      void journal.synced().then(() => {
        for (const res of ending) res.letEnd('log');
      });
  }

  const write = async (batch: LogBatch) => {
    try {
      await insertBatch(pool, batch);
      // The connection has answered to what was sent after the batch.
      if (spare.length < MOST_SPARE) spare.push(batch.release());
    } catch (error) {
      if (!isDataFault(error) || batch.size === 1) throw error;
      // One row the database will not take must not hold back its neighbours.
      for (const row of batch.rows()) {
        await insertRows(pool, [row]).catch((cause: unknown) => {
          if (!isDataFault(cause)) throw cause;
          rejected.cells[0] = (rejected.cells[0] as number) + 1;
          log.error({ err: cause, request_id: row.request_id }, 'the database rejected a request log row');
        });
      }
    }
  };

  /** Closes the batch that is being filled. */
  function seal(): void {
    if (open.size === 0) return;
    open.followed?.append();
    full.push(open);
    open = followed(newBatch(spare.pop() ?? memoryFor(maxBatch)));
  }

  function add(row: LogRow): void {
    open.add(row);
    queued++;
    if (open.size >= maxBatch) seal();
  }

  /** Moves batches to the disk until no more than `most` rows are queued, but not the one that is being written. */
  function spillDown(most: number): void {
    seal();
    const beingWritten = writing === undefined ? 0 : 1;
    while (queued > most && full.length > beingWritten) {
      const [batch] = full.splice(beingWritten, 1) as [Queued];
      queued -= batch.size;
      leave(batch);
    }
  }

  function leave(batch: Queued): void {
    if (batch.followed?.whole) {
      batch.followed.leave();
      spilled.cells[0] = (spilled.cells[0] as number) + batch.size;
    } else if (spill.push(batch.rows())) batch.followed?.drop();
    else batch.followed?.leave();
  }

  async function flushOnce(): Promise<void> {
    if (Date.now() < retryAt) return;
    try {
      seal();
      for (let batch = full[0]; batch; batch = full[0]) {
        await write(batch);
        batch.followed?.drop();
        full.shift();
        written.cells[0] = (written.cells[0] as number) + batch.size;
        queued -= batch.size;
      }
      if (spill.holds) await spill.drain((rows) => write(batchOf(rows)));
      journal?.look();
      if (journal?.holds) await journal.drain((rows) => write(batchOf(rows)));
      await stamps.flush();
    } catch (error) {
      log.warn({ err: error, queued }, 'cannot write request logs; keeping them locally');
      retryAt = Date.now() + RETRY_MS;
      failingSince ??= new Date();
      return;
    }
    if (retryAt !== 0) log.info('request logs are being written again');
    retryAt = 0;
    failingSince = null;
  }

  /** A write that is under way doesn't include rows that were queued after it began: waits for it, then writes those. */
  async function flush(): Promise<void> {
    await writing;
    writing ??= flushOnce().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  function settle(): void {
    // A write that is under way may just be slow.
    if (queued >= (writing === undefined ? maxQueue : maxQueue * 2)) spillDown(maxQueue);
    else if (full.length === 1 && open.size === 0) void flush();
  }

  function note(call: Call, plane: LoggedPlane): void {
    try {
      if (!call.admitted && !flood.lets(call, plane, (row) => add({ ...row, node_id: nodeId }))) return;
      add(logRow(call, plane, nodeId));
      if (call.admitted) stamps.note(call);
    } catch (error) {
      log.error({ err: error, request_id: call.requestId }, 'failed to log a call');
      return;
    }
    settle();
  }

  return {
    record(call, plane) {
      note(call, plane);
      if (!journal) return;
      answers.push(call.res);
      if (committing) return;
      committing = true;
      afterTurn(commit);
    },
    take(row) {
      add(row);
      settle();
      if (journal) commit();
    },
    flush,
    async close() {
      clearInterval(timer);
      await writing;
      retryAt = 0;
      await flush();
      spillDown(0);
      commit();
      journal?.close();
    },
    get failingSince() {
      return failingSince;
    },
    get queued() {
      return queued;
    },
  };
}

/** SQLSTATE classes 22, 23 and 54 (a value larger than an index takes): the row is at fault, not the database. */
export function isDataFault(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^(?:22|23|54)/.test(code);
}

/**
 * At most 60 rows a minute per network and workspace for callers who were not let in; then one row that counts the rest. It forgets every minute, and
 * beyond 10,000 networks counts the others of a workspace as one, so that many addresses can't fill memory.
 */
function floodGate() {
  let minute = 0;
  let seen = new Map<string, { n: number; last: LogRow | null }>();
  return {
    lets(call: Call, plane: LoggedPlane, summary: (row: LogRow) => void): boolean {
      const now = Math.floor(call.receivedAt / 60_000);
      if (now !== minute) {
        for (const { n, last } of seen.values()) if (last) summary({ ...last, warnings: [`suppressed:${n - UNAUTHENTICATED_PER_MINUTE}`] });
        seen = new Map();
        minute = now;
      }
      const place = `${call.snapshot.tenant.id} ${call.snapshot.space}`;
      const own = `${place} ${networkOf(call.sourceAddress)}`;
      const key = seen.size < MAX_NETWORKS || seen.has(own) ? own : place;
      const entry = seen.get(key) ?? { n: 0, last: null };
      seen.set(key, entry);
      entry.n++;
      if (entry.n <= UNAUTHENTICATED_PER_MINUTE) return true;
      entry.last ??= logRow(call, plane, '');
      return false;
    },
  };
}
