import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { bodyOf } from '#server/api/input.ts';
import { REVEAL_HEADERS, secured } from '#server/api/respond.ts';
import { assertJsonShape, BODY_SHAPE } from '#server/kernel/bounded-text.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { callOf, dashboardContext, type TrackedContext } from './context.ts';
import { refused } from './dashboard.ts';
import { asTrpc, noteRequest } from './from-operation.ts';
import { appRouter } from './root.ts';

/** Calls of one request; the dashboard's own client asks for no more at once. */
export const MOST_IN_BATCH = 50;

/** The tRPC plane of the dashboard as one function. */
export const handleTrpc = (req: Request): Promise<Response> => trpcResponse(req, appRouter);

/** The answer of a router to one request, which may carry several calls. */
export async function trpcResponse(req: Request, router: AnyTRPCRouter): Promise<Response> {
  let context: TrackedContext;
  try {
    context = dashboardContext(callOf(req));
  } catch (error) {
    return refused(asRefusal(error), newId());
  }
  const bounded = await withBoundedBody(req).catch(asRefusal);
  const response = await fetchRequestHandler({
    endpoint: '/admin/trpc',
    req: bounded instanceof Refusal ? withBody(req, null) : bounded,
    router,
    createContext: ({ info }) => {
      // Said in the words of tRPC, which its clients read.
      if (bounded instanceof Refusal) throw asTrpc(bounded, context.request_id);
      return Object.assign(context, { batched: info.calls.length > 1 });
    },
    onError: ({ error }) => noteRequest(error, context.request_id),
    allowMethodOverride: true,
    maxBatchSize: MOST_IN_BATCH,
    responseMeta: ({ errors, data }) => ({ headers: waitOf(errors), status: statusOf(errors, data.length) }),
  });
  const headers = new Headers(response.headers);
  if (context.changes.size > 0) headers.set('x-sallyport-changed', [...context.changes].join(','));
  if (context.revealed) for (const [name, value] of Object.entries(REVEAL_HEADERS)) headers.set(name, value);
  return secured(new Response(response.body, { status: response.status, headers }), context.request_id);
}

/** tRPC takes what `json` of the request gives. The calls of a batch are members of one more object. */
async function withBoundedBody(req: Request): Promise<Request> {
  if (!req.body) return req;
  const body = await bodyOf(req);
  const text = new TextDecoder().decode(body);
  assertJsonShape(text, { ...BODY_SHAPE, levels: BODY_SHAPE.levels + 1 });
  return Object.assign(withBody(req, new Uint8Array(body)), { json: async () => parseExact(text) });
}

const withBody = ({ url, method, headers, signal }: Request, body: Uint8Array<ArrayBuffer> | null): Request =>
  new Request(url, { method, headers, signal, body });

/** Each refused call of a batch says for itself how long; the header says the longest. */
const waitOf = (errors: readonly TRPCError[]): Record<string, string> => {
  const longest = Math.max(0, ...errors.map(({ cause }) => (cause instanceof Refusal ? (cause.retryAfter ?? 0) : 0)));
  return longest > 0 ? { 'retry-after': String(Math.ceil(longest)) } : {};
};

/** Of a request all of whose calls were refused alike. tRPC knows one status for everything of 500 and more, and none for some below. */
const statusOf = (errors: readonly TRPCError[], calls: number): number | undefined => {
  const statuses = new Set(errors.map(({ cause }) => (cause instanceof Refusal ? cause.status : undefined)));
  return errors.length === calls && statuses.size === 1 ? [...statuses][0] : undefined;
};
