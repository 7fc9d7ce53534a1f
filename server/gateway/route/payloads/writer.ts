import type { Pool } from 'pg';
import type { Keyring } from '#server/crypto/keyring.ts';
import { KEPT_REQUEST, KEPT_RESPONSE, NO_ROOM, payloadPlace, type Side } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { newId } from '#server/kernel/ids.ts';
import { log } from '#server/platform/log.ts';
import type { Call } from '../../core/call.ts';
import type { Capture } from '../../core/capture.ts';
import { isDataFault } from '../../core/log/writer.ts';
import type { RouteCall } from '../route-call.ts';
import { maskedSide, type RawSide, rawSides } from './payload.ts';

export type PayloadWriter = {
  /** Decides whether the payloads of a finished call are kept, and takes them. Never waits, never throws; sets the flags of its log row. */
  take(call: Call): void;
  /** Masks, seals and writes what was taken. */
  flush(): Promise<void>;
  close(): Promise<void>;
  /** Calls whose payloads are in memory. */
  readonly waiting: number;
};

export type PayloadWriterOptions = {
  pool: Pool;
  keyring: Keyring;
  everyMs?: number;
  /** Sealed bytes that may wait for the database. */
  mostSealed?: number;
  /** What wasn't masked after this time is dropped: until then values of secrets are in memory. */
  mostAgeMs?: number;
};

type Taken = {
  request_id: string;
  tenant_id: string;
  sandbox: boolean;
  at: number;
  taken: number;
  sides: RawSide[];
  capture: Capture;
};
type SealedRow = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  request_id: string;
  side: Side;
  ts: string;
  content_type: string | null;
  body_bytes: number;
  truncated: boolean;
  body_withheld: string | null;
  value_ct: Uint8Array;
  cek_wrapped: Uint8Array;
  tmk_version: number;
};

const BATCH = 100;
const RETRY_MS = 2_000;
const MOST_WAITING = 2_000;

/**
 * The way of captured payloads from a finished call to the database (interface rule 13 §6): masked and sealed one after another in this process, so that
 * nothing readable ever leaves it, then written in batches. When the database is away the oldest are lost, and the log says so; calls never wait.
 */
export function createPayloadWriter({ pool, keyring, ...limits }: PayloadWriterOptions): PayloadWriter {
  const { everyMs = 250, mostSealed = 32 * 1024 * 1024, mostAgeMs = 5_000 } = limits;
  const taken: Taken[] = [];
  const sealed: SealedRow[] = [];
  let sealedBytes = 0;
  let lost = 0;
  let sealing: Promise<void> | undefined;
  let writing: Promise<void> | undefined;
  let retryAt = 0;
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();

  async function sealAll(): Promise<void> {
    for (let next = taken.shift(); next; next = taken.shift()) {
      // Calls go before payloads.
      await new Promise((resolve) => setImmediate(resolve));
      try {
        if (performance.now() - next.taken > mostAgeMs) lost++;
        else for (const side of next.sides) add(await sealSide(keyring, next, side));
      } catch (error) {
        // Nothing of the payload is in an error: it would be in the log then.
        log.warn({ err: error, request_id: next.request_id }, 'the payload of a call was not kept');
      } finally {
        next.sides = [];
        next.capture.release();
      }
    }
  }

  function add(row: SealedRow): void {
    sealed.push(row);
    sealedBytes += row.value_ct.length;
    while (sealedBytes > mostSealed) {
      sealedBytes -= sealed.shift()?.value_ct.length ?? sealedBytes;
      lost++;
    }
  }

  async function writeAll(): Promise<void> {
    if (Date.now() < retryAt) return;
    try {
      while (sealed.length > 0) {
        const batch = sealed.splice(0, BATCH);
        sealedBytes -= bytesOf(batch);
        try {
          await insertOrRefuse(pool, batch);
        } catch (error) {
          sealed.unshift(...batch);
          sealedBytes += bytesOf(batch);
          throw error;
        }
      }
      if (retryAt !== 0) log.info('payloads are being written again');
      retryAt = 0;
    } catch (error) {
      log.warn({ err: error, waiting: sealed.length }, 'cannot write payloads; keeping the newest in memory');
      retryAt = Date.now() + RETRY_MS;
    }
  }

  async function flush(): Promise<void> {
    sealing ??= sealAll().finally(() => {
      sealing = undefined;
    });
    await sealing;
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    await writing;
    if (lost > 0) log.warn({ lost }, 'payloads of calls were lost: there was no memory left for them, or no time');
    lost = 0;
  }

  return {
    take(call) {
      const { capture } = call;
      if (!capture) return;
      try {
        const kept = capture.wants(call.status) || call.refusal !== null;
        const crowded = capture.crowded || taken.length >= MOST_WAITING;
        if (!kept || crowded) {
          capture.flags = kept ? NO_ROOM : 0;
          if (kept) lost++;
          capture.release();
          return;
        }
        capture.flags = KEPT_REQUEST | KEPT_RESPONSE;
        const { requestId: request_id, snapshot, receivedAt: at } = call;
        const place = { tenant_id: snapshot.tenant.id, sandbox: snapshot.sandbox };
        taken.push({ request_id, ...place, at, taken: performance.now(), sides: rawSides(call as RouteCall, capture), capture });
        // Soon: values of secrets wait with it.
        sealing ??= sealAll().finally(() => {
          sealing = undefined;
        });
      } catch (error) {
        capture.flags = NO_ROOM;
        capture.release();
        log.error({ err: error, request_id: call.requestId }, 'the payload of a call was not kept');
      }
    },
    flush,
    async close() {
      clearInterval(timer);
      await sealing;
      await writing;
      retryAt = 0;
      await flush();
      if (sealed.length > 0) log.warn({ lost: sealed.length }, 'payloads of calls were lost: the database is away');
    },
    get waiting() {
      return taken.length + sealed.length;
    },
  };
}

const bytesOf = (rows: readonly SealedRow[]): number => rows.reduce((sum, row) => sum + row.value_ct.length, 0);

async function sealSide(keyring: Keyring, { request_id, tenant_id, sandbox, at, capture }: Taken, raw: RawSide): Promise<SealedRow> {
  const { side, payload, ...told } = await maskedSide(raw, capture.secrets);
  const id = newId();
  const plaintext = Buffer.from(JSON.stringify(payload));
  try {
    const value = await keyring.sealValue(payloadPlace({ id, tenant_id, sandbox }), plaintext);
    return { id, tenant_id, sandbox, request_id, side, ts: new Date(at).toISOString(), ...told, ...value };
  } finally {
    plaintext.fill(0);
  }
}

/** A row that is there already was written by this process before its connection broke. */
const INSERT = `insert into log_payloads (id, tenant_id, sandbox, request_id, side, ts, content_type, body_bytes, truncated, body_withheld, value_ct, cek_wrapped, tmk_version)
  select * from unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::uuid[], $5::text[], $6::timestamptz[], $7::text[], $8::bigint[], $9::boolean[], $10::text[], $11::bytea[], $12::bytea[], $13::int[])
  on conflict do nothing`;

/** One row the database will not take must not hold back its neighbours. */
async function insertOrRefuse(pool: Pool, rows: readonly SealedRow[]): Promise<void> {
  try {
    await insert(pool, rows);
  } catch (error) {
    if (!isDataFault(error)) throw error;
    for (const row of rows)
      await insert(pool, [row]).catch((cause: unknown) => {
        if (!isDataFault(cause)) throw cause;
        log.error({ err: cause, request_id: row.request_id }, 'the database rejected the payload of a call');
      });
  }
}

async function insert(pool: Pool, rows: readonly SealedRow[]): Promise<void> {
  const column = <K extends keyof SealedRow>(name: K) => rows.map((row) => row[name]);
  const bytes = (name: 'value_ct' | 'cek_wrapped') => rows.map((row) => Buffer.from(row[name]));
  await pool.query({
    name: 'payloads-insert',
    text: INSERT,
    values: [
      column('id'),
      column('tenant_id'),
      column('sandbox'),
      column('request_id'),
      column('side'),
      column('ts'),
      column('content_type'),
      column('body_bytes'),
      column('truncated'),
      column('body_withheld'),
      bytes('value_ct'),
      bytes('cek_wrapped'),
      column('tmk_version'),
    ],
  });
}
