import { setTimeout as sleep } from 'node:timers/promises';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import { idsAfter, type LogFields, newestId, rowsByIds } from './store.ts';

/** What a live view shows next: the newest rows since the last batch, and how many more there were. `last_id` resumes after them. */
export type TailBatch = { rows: LogFields[]; held_back: number; last_id: bigint };

const FLUSH_MS = 500;
/** 25 every half second: at most 50 rows a second reach the reader. */
const ROWS_A_FLUSH = 25;
/** Ids looked at in one flush; more than that counts as "at least". */
const MOST_IDS = 5_000;
/** A row may be committed behind a newer one; so far back a flush looks again. */
const LOOK_BACK_MS = 2_000;

/**
 * Rows of the space as they are written, newest known first to be shown, until `signal` aborts. Fed by one LISTEN connection per process; between
 * announcements nothing is asked of the database. Starts after `afterId`, or at this moment: when it resolves, no later row is missed.
 */
export async function subscribe(ctx: Ctx, afterId: bigint | null, signal: AbortSignal): Promise<AsyncGenerator<TailBatch>> {
  return batches(ctx, afterId ?? (await read(ctx, (tx) => newestId(tx, ctx))), signal);
}

async function* batches(ctx: Ctx, start: bigint, signal: AbortSignal): AsyncGenerator<TailBatch> {
  const alarm = join(`${ctx.tenant_id}:${spaceOf(ctx.sandbox)}`, signal);
  try {
    let last = start;
    const seen = new Set<bigint>();
    const marks: { at: number; id: bigint }[] = [{ at: Date.now(), id: start }];
    while (await alarm.rings()) {
      while (marks.length > 1 && (marks[1]?.at ?? 0) < Date.now() - LOOK_BACK_MS) marks.shift();
      const floor = marks[0]?.id ?? start;
      const { fresh, rows } = await read(ctx, async (tx) => {
        const unseen = (await idsAfter(tx, ctx, floor, MOST_IDS)).filter((id) => !seen.has(id));
        return { fresh: unseen, rows: await rowsByIds(tx, ctx, unseen.slice(0, ROWS_A_FLUSH)) };
      });
      for (const id of seen) if (id <= floor) seen.delete(id);
      for (const id of fresh) seen.add(id);
      last = fresh.reduce((max, id) => (id > max ? id : max), last);
      marks.push({ at: Date.now(), id: last });
      if (rows.length === 0) continue;
      yield { rows, held_back: Math.max(0, fresh.length - ROWS_A_FLUSH), last_id: last };
      await sleep(FLUSH_MS, undefined, { signal }).catch(() => {}); // aborted: the next ring says so
    }
  } finally {
    alarm.leave();
  }
}

type Alarm = { rings: () => Promise<boolean>; leave: () => void };

const tail = processState('tail', (): { rooms: Map<string, Set<() => void>>; listener?: Listener | undefined } => ({ rooms: new Map() }));

/** Waits for announcements of one space; true when something may be new, false when the signal aborted. */
function join(space: string, signal: AbortSignal): Alarm {
  let ringing = true; // what was written while we were joining
  let wake = () => {};
  const ring = () => {
    ringing = true;
    wake();
  };
  signal.addEventListener('abort', ring, { once: true });
  const room = tail.rooms.get(space) ?? new Set();
  tail.rooms.set(space, room.add(ring));
  tail.listener ??= listen({
    channels: ['request_logged'],
    onMessage: (_, payload) => ringAll(tail.rooms.get(payload)),
    onConnect: () => [...tail.rooms.values()].forEach(ringAll), // announcements of the time between were lost
  });
  return {
    async rings() {
      if (!ringing && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      ringing = false;
      return !signal.aborted;
    },
    leave() {
      signal.removeEventListener('abort', ring);
      room.delete(ring);
      if (room.size === 0 && tail.rooms.get(space) === room) tail.rooms.delete(space);
      if (tail.rooms.size > 0) return;
      void tail.listener?.close();
      tail.listener = undefined;
    },
  };
}

function ringAll(room: Iterable<() => void> = []): void {
  for (const ring of room) ring();
}
