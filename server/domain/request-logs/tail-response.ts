import { isStillMember } from '#server/domain/people/service.ts';
import { denyingPolicy } from '#server/domain/policies/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { asView } from './browse.ts';
import { placesFor } from './countries.ts';
import { subscribe, type TailBatch } from './tail.ts';

/** Open views of one workspace in this process. */
const MOST_PER_TENANT = 20;
/** Of them one person's, so that nobody keeps the others out. */
const MOST_PER_PERSON = 8;
const HEARTBEAT_MS = 15_000;
/** Whoever loses the right to look gets no further row, and loses the open view within this time. */
const CHECK_MS = 600;
/** Then the browser connects again by itself. */
const LIFETIME_MS = 10 * 60_000;

const open = processState('open-tails', () => new Map<string, number>());

/**
 * Server-sent events of the space's calls (WHATWG HTML §9.2) for GET /admin/logs/tail: `rows` events {logs, held_back}, newest first, with the id
 * to resume after (Last-Event-ID or ?after=). Ends when the reader leaves, and with an `ended` event when they sign out or stop being a member with
 * that right: connecting again would be refused.
 * @throws Refusal role_denied without log:list, rate_limited beyond 20 views of a workspace or 8 of one person
 */
export async function tailResponse(ctx: Ctx, request: Request): Promise<Response> {
  if (!(await mayList(ctx))) throw new Refusal('role_denied', 'Your role lacks the capability log:list.');
  const leave = enter(ctx);
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, request.signal, AbortSignal.timeout(LIFETIME_MS)]);
  // Who left while we asked for their right has aborted already: an event of that would never come.
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  const batches = await subscribe(ctx, resumeAfter(request), signal).catch((error: unknown) => {
    gone.abort();
    throw error;
  });
  return new Response(eventStream(ctx, batches, signal, gone), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** Takes a place of the workspace's and of the person's views; the answer gives it back. @throws Refusal rate_limited */
function enter({ tenant_id, actor }: Ctx): () => void {
  const places = [
    [tenant_id, MOST_PER_TENANT],
    [`${tenant_id}:${actor.id}`, MOST_PER_PERSON],
  ] as const;
  if (places.some(([place, most]) => (open.get(place) ?? 0) >= most))
    throw new Refusal('rate_limited', 'This workspace has too many live views open. Close one and try again.', { retryAfter: 30 });
  for (const [place] of places) open.set(place, (open.get(place) ?? 0) + 1);
  return () => {
    for (const [place] of places) {
      const left = (open.get(place) ?? 1) - 1;
      if (left > 0) open.set(place, left);
      else open.delete(place);
    }
  };
}

const mayList = async (ctx: Ctx): Promise<boolean> => ctx.actor.capabilities.has('log:list') && !(await denyingPolicy(ctx, 'log:list'));

/** The right of the beginning, asked again: a membership, a session or a policy may have changed since. */
async function mayStillList(ctx: Ctx): Promise<boolean> {
  const { actor, tenant_id } = ctx;
  if (actor.type !== 'member') return false;
  return (
    (await isStillMember({ user_id: actor.id, session_id: actor.session_id, tenant_id, role: actor.role }, new Date())) &&
    (await mayList(ctx))
  );
}

function resumeAfter(request: Request): bigint | null {
  const id = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('after') ?? '';
  return /^(?:\d{1,18}|[1-8]\d{18})$/.test(id) ? BigInt(id) : null;
}

function eventStream(ctx: Ctx, batches: AsyncGenerator<TailBatch>, signal: AbortSignal, gone: AbortController): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => {
        if (!signal.aborted) controller.enqueue(utf8.encode(text));
      };
      send('retry: 2000\n\n');
      const heartbeat = setInterval(() => send(': alive\n\n'), HEARTBEAT_MS);
      const check = async () => {
        if (await mayStillList(ctx)) return;
        send('event: ended\ndata: {}\n\n');
        gone.abort();
      };
      // A lost database ends the stream; the browser comes back after `retry`.
      const checks = setInterval(() => void check().catch(() => gone.abort()), CHECK_MS);
      const pump = async () => {
        for await (const { rows, held_back, last_id } of batches) {
          const known = await placesFor(ctx);
          await check(); // after it `send` is silent
          send(`event: rows\nid: ${last_id}\ndata: ${JSON.stringify({ logs: rows.map((row) => asView(row, known)), held_back })}\n\n`);
        }
      };
      void pump()
        .catch(() => gone.abort())
        .finally(() => {
          clearInterval(heartbeat);
          clearInterval(checks);
          gone.abort();
          try {
            controller.close();
          } catch {} // the reader has cancelled it
        });
    },
    cancel() {
      gone.abort();
    },
  });
}
