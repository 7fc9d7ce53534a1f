import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { batching } from '#server/platform/batching.ts';
import { log } from '#server/platform/log.ts';
import { type AuditRow, auditRow, insertAuditRows } from './audit-rows.ts';

// Audit entries of uses: those that must be durable before anything leaves, and those that may follow.

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;

/**
 * Writes entries and resolves when they are durable: before plaintext leaves. Entries of one workspace and space that arrive together share a commit.
 * @throws Refusal audit_unavailable
 */
export async function auditFirst(ctx: HotCtx, entries: readonly AuditEntry[]): Promise<void> {
  const rows = entries.map((entry) => auditRow(ctx, entry));
  await write(laneOf(ctx), { space: ctx, rows }).catch(async (error: unknown) => {
    // One entry that the database refuses must not take along those which shared its statement.
    await insertAuditRows(ctx, rows).catch(() => {
      throw unavailable(error);
    });
  });
}

const write = batching<{ space: Space; rows: readonly AuditRow[] }, void>('audit-first', {
  most: 200,
  async run(batch) {
    const { space } = batch[0] as { space: Space };
    await insertAuditRows(
      space,
      batch.flatMap(({ rows }) => rows),
    );
    return [];
  },
});

const laneOf = ({ tenant_id, sandbox }: Space) => `${tenant_id}:${sandbox}`;

const unavailable = (cause?: unknown) =>
  new Refusal('audit_unavailable', "The audit log can't be written, so the request was refused. Try again.", { retryAfter: 5, cause });

/** Entries of one key and credential in a second that are written one by one; more are merged into counts (interface rule 40 §8). */
const MOST_EACH = 100;
const FLUSH_MS = 100;
const RETRY_MS = 1_000;
/** Bounds what a process that is killed can lose, and what it holds while the audit log can't be written: then uses are refused. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 30_000;
const MOST_AT_ONCE = 500;

type Waiting = { space: Space; row: AuditRow; since: number };
type State = {
  waiting: Waiting[];
  /** Rows that further uses of this second are merged into. */
  merging: Map<string, AuditRow>;
  /** How many entries a key and credential wrote in this second. */
  each: Map<string, number>;
  second: number;
  timer: NodeJS.Timeout | undefined;
  flushing: Promise<void> | undefined;
};
const state = processState(
  'recorded-uses',
  (): State => ({ waiting: [], merging: new Map(), each: new Map(), second: 0, timer: undefined, flushing: undefined }),
);

/**
 * Notes a use; its entry is written within a fraction of a second and retried until it is there. Above a hundred a second of one key and credential,
 * entries are merged: `count` says how many, `bytes` and `items` are sums, and a detail that differs is left out. A process that is killed loses what it
 * noted in its last `FLUSH_MS`, and the statement under way. @throws Refusal audit_unavailable when too much waits to be written
 */
export function recordUse(ctx: HotCtx, entry: AuditEntry): void {
  const now = performance.now();
  const oldest = state.waiting[0];
  if (state.waiting.length >= MOST_WAITING || (oldest && now - oldest.since > LONGEST_WAIT_MS)) throw unavailable();
  const second = Math.floor(now / 1_000);
  if (second !== state.second) {
    state.second = second;
    state.each.clear();
    state.merging.clear();
  }
  const user = `${entry.resource_id} ${ctx.tenant_id} ${ctx.sandbox} ${ctx.actor.type} ${ctx.actor.id}`;
  const count = (state.each.get(user) ?? 0) + 1;
  state.each.set(user, count);
  if (count <= MOST_EACH) {
    push(ctx, auditRow(ctx, entry), now);
    return;
  }
  const same = `${user} ${entry.action} ${entry.details?.operation}`;
  const row = state.merging.get(same);
  if (row) {
    merge(row, entry.details ?? {});
    return;
  }
  const merged = auditRow(ctx, { ...entry, details: { ...entry.details, count: 1 } });
  state.merging.set(same, merged);
  push(ctx, merged, now);
}

/** Entries that were noted and aren't written yet, and how long the oldest of them has waited. */
export function usesWaiting(): { count: number; oldestMs: number } {
  const [oldest] = state.waiting;
  return { count: state.waiting.length, oldestMs: oldest ? performance.now() - oldest.since : 0 };
}

function push(ctx: HotCtx, row: AuditRow, since: number): void {
  state.waiting.push({ space: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox }, row, since });
  expectFlush(FLUSH_MS);
}

const SUMS = new Set(['bytes', 'items']);

function merge({ details }: AuditRow, more: Record<string, unknown>): void {
  details.count = Number(details.count) + 1;
  for (const name in more) {
    if (SUMS.has(name)) details[name] = Number(details[name]) + Number(more[name]);
    else if (name in details && details[name] !== more[name]) delete details[name];
  }
}

function expectFlush(ms: number): void {
  state.timer ??= setTimeout(() => void flushUses(), ms).unref();
}

/** Writes what was noted so far; resolves when it is there, or could not be written now. For an orderly stop, and for tests. */
export async function flushUses(): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  while (state.flushing !== undefined) await state.flushing;
  if (state.waiting.length === 0) return;
  state.flushing = flush().finally(() => {
    state.flushing = undefined;
  });
  await state.flushing;
}

async function flush(): Promise<void> {
  const batch = state.waiting;
  state.waiting = [];
  // What is being written no longer changes.
  state.merging.clear();
  const bySpace = Map.groupBy(batch, ({ space }) => laneOf(space));
  const left = (await Promise.all([...bySpace.values()].map(writeSpace))).flat();
  if (left.length === 0) return;
  state.waiting = [...left, ...state.waiting];
  expectFlush(RETRY_MS);
}

/** @returns what must be tried again */
async function writeSpace(waiting: Waiting[]): Promise<Waiting[]> {
  for (let at = 0; at < waiting.length; at += MOST_AT_ONCE) {
    const part = waiting.slice(at, at + MOST_AT_ONCE);
    const [{ space }] = part as [Waiting];
    try {
      await insertAuditRows(
        space,
        part.map(({ row }) => row),
      );
    } catch (error) {
      if (!isRefusedForGood(error)) {
        log.warn(
          { err: error, waiting: state.waiting.length + waiting.length - at },
          'cannot write the audit entries of uses; trying again',
        );
        return waiting.slice(at);
      }
      for (const one of part)
        await insertAuditRows(space, [one.row]).catch((cause: unknown) => log.error({ err: cause }, 'an audit entry of a use was refused'));
    }
  }
  return [];
}

/** The database answered, and would answer the same again: what is written is at fault, or its workspace is gone. */
const isRefusedForGood = (error: unknown): boolean => /^2[23]/.test(String((error as { code?: unknown } | null)?.code ?? ''));
