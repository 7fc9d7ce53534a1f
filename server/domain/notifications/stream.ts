import { isStillMember } from '#server/domain/people/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import { countUnread, personIn } from './inbox.ts';

/** Open streams of one person in this process: one for each tab that is looked at. */
const MOST_PER_PERSON = 4;
const HEARTBEAT_MS = 15_000;
/** How long somebody who was removed or signed out keeps the stream, which tells them nothing but a number. */
const CHECK_MS = 5_000;
/** Then the browser connects again by itself. */
const LIFETIME_MS = 10 * 60_000;

type Ring = () => void;
const state = processState('notification-streams', (): { rooms: Map<string, Set<Ring>>; listener?: Listener | undefined } => ({
  rooms: new Map(),
}));

/**
 * Server-sent events for GET /admin/notifications/stream: `unread` events {unread, newest}, the first at once and then one for each change of the
 * person's inbox in this workspace. Ends with `ended` when they are signed out or no longer a member: connecting again would be refused.
 * @throws Refusal role_denied, rate_limited beyond 4 streams of one person
 */
export async function notificationStream(ctx: Ctx, request: Request): Promise<Response> {
  const room = `${ctx.tenant_id}:${personIn(ctx).id}`;
  const first = await countUnread(ctx);
  if ((state.rooms.get(room)?.size ?? 0) >= MOST_PER_PERSON)
    throw new Refusal('rate_limited', 'Too many tabs of yours follow the notifications. They are asked for once a minute instead.', {
      retryAfter: 60,
    });
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, request.signal, AbortSignal.timeout(LIFETIME_MS)]);
  const stream = eventStream(ctx, first, room, signal, gone);
  return new Response(stream, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

type Count = Awaited<ReturnType<typeof countUnread>>;

function eventStream(ctx: Ctx, first: Count, room: string, signal: AbortSignal, gone: AbortController): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => {
        if (!signal.aborted) controller.enqueue(utf8.encode(text));
      };
      let sent = '';
      const tell = (count: Count) => {
        const data = JSON.stringify(count);
        if (data !== sent) send(`event: unread\ndata: ${data}\n\n`);
        sent = data;
      };
      // One count at a time: of two that run at once the older number could be told last, and stay.
      let counting = false;
      let missed = false;
      const again = () => {
        missed = counting;
        if (counting) return;
        counting = true;
        void countUnread(ctx)
          .then(tell, () => gone.abort())
          .finally(() => {
            counting = false;
            if (missed) again();
          });
      };
      const check = async () => {
        if (await isStill(ctx)) return;
        send('event: ended\ndata: {}\n\n');
        gone.abort();
      };
      const heartbeat = setInterval(() => send(': alive\n\n'), HEARTBEAT_MS);
      // A lost database ends the stream; the browser comes back after `retry`.
      const checks = setInterval(() => void check().catch(() => gone.abort()), CHECK_MS);
      const leave = enter(room, again);
      const end = () => {
        leave();
        clearInterval(heartbeat);
        clearInterval(checks);
        try {
          controller.close();
        } catch {} // the reader has cancelled it
      };
      send('retry: 5000\n\n');
      tell(first);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    },
    cancel() {
      gone.abort();
    },
  });
}

const isStill = ({ actor, tenant_id }: Ctx) =>
  actor.type === 'member'
    ? isStillMember({ user_id: actor.id, session_id: actor.session_id, tenant_id, role: actor.role }, new Date())
    : Promise.resolve(false);

/** Rings at changes of one inbox, by one LISTEN connection of the process. @returns what leaves again */
function enter(name: string, ring: Ring): () => void {
  const room = state.rooms.get(name) ?? new Set();
  state.rooms.set(name, room.add(ring));
  state.listener ??= listen({
    channels: ['notified'],
    onMessage: (_, payload) => ringAll(state.rooms.get(payload)),
    onConnect: () => [...state.rooms.values()].forEach(ringAll), // announcements of the time between were lost
  });
  return () => {
    room.delete(ring);
    if (room.size === 0 && state.rooms.get(name) === room) state.rooms.delete(name);
    if (state.rooms.size > 0) return;
    void state.listener?.close();
    state.listener = undefined;
  };
}

function ringAll(room: Iterable<Ring> = []): void {
  for (const ring of room) ring();
}
