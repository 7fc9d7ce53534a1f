import { initTRPC, TRPCError } from '@trpc/server';
import type { z } from 'zod';
import { procedureBody } from '#server/api/envelope.ts';
import { asFields } from '#server/api/free-json.ts';
import { perform } from '#server/api/perform.ts';
import { answeringRow } from '#server/api/reveal.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { asRefusal, type ErrorType, Refusal } from '#server/kernel/errors.ts';
import { type AnyOperation, isChange, type Operation } from '#server/kernel/operation.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { operationEnded } from '#server/platform/telemetry/operation-meter.ts';

/** What a dashboard call carries: the request's id and the way to the acting member, resolved only when a procedure asks. */
export type DashboardContext = {
  request_id: string;
  /** Several calls came in one request: none of them may show a secret. */
  batched?: boolean;
  /** Set by a call that showed a secret. */
  revealed?: boolean;
  /** The signed-in member in the addressed workspace and space. @throws Refusal not_authenticated, not_a_member, invalid */
  member: (needs: { space: boolean }) => Promise<Ctx>;
  /** Told after every mutation, so that the gateway refreshes before the answer is relayed. */
  changed: (ctx: Ctx) => void;
};

/** The error object of the dashboard plane (interface rule 22 §1), carried in `data` of tRPC errors. */
export type DashboardError = { error: string; code: ErrorType; message: string; request_id: string; status: number; retry_after?: number };

/** Of errors before there is a context: tRPC formats those with nothing but the error. */
const requestIds = new WeakMap<TRPCError, string>();

/** Says which request an error is of, before it is formatted. */
export const noteRequest = (error: TRPCError, requestId: string): void => void requestIds.set(error, requestId);

const t = initTRPC
  .context<DashboardContext>()
  .meta<{ operation: string }>()
  .create({
    errorFormatter: ({ shape, error, ctx }) => {
      const refusal = refusalOf(error);
      const data: DashboardError & Record<string, unknown> = {
        error: refusal.type,
        code: refusal.type,
        message: refusal.message,
        request_id: ctx?.request_id ?? requestIds.get(error) ?? '',
        status: refusal.status,
        ...(refusal.retryAfter === undefined ? {} : { retry_after: refusal.retryAfter }),
        ...refusal.extra,
      };
      return { ...shape, message: refusal.message, data };
    },
  });

export const router = t.router;
export const procedure = t.procedure;

type ListAnswer<Row> = {
  data: Row[];
  meta: { total: number; page: number; per_page: number; total_pages: number } & Record<string, unknown>;
};
/** Lists keep the envelope of /v1 (data and meta); everything else is the resource itself. */
export type Answer<O extends z.ZodType> =
  z.output<O> extends (infer Row)[] ? ListAnswer<Row> : z.output<O> & { warnings?: string[]; reveals_left?: number };

/** A read over GET as a tRPC query. */
export const query = <I extends z.ZodType, O extends z.ZodType>(op: Operation<I, O>) =>
  t.procedure
    .meta({ operation: op.id })
    .input(unparsed<I>(op))
    .query(({ ctx, input }) => carriedOut(op, ctx, input, { space: false }));

/** Any other operation as a tRPC mutation; it must say which space it addresses. */
export const mutation = <I extends z.ZodType, O extends z.ZodType>(op: Operation<I, O>) =>
  t.procedure
    .meta({ operation: op.id })
    .input(unparsed<I, Expecting>(op))
    .mutation(async ({ ctx, input }) => carriedOut(op, ctx, input, { space: true }));

/** The operation's own schema judges the input inside `perform`, once, as on REST; here only what no schema may be asked to walk is refused. */
const unparsed =
  <I extends z.ZodType, More = unknown>(op: Pick<AnyOperation, 'input' | 'body'>) =>
  (value: unknown) =>
    asFields(op, value ?? {}) as z.input<I> & More;

/**
 * Edits name the version of the row they started from; a call that edits no row is refused when it does. Reveals may say why, as X-Reveal-Reason does over
 * plain HTTP.
 */
type Expecting = { expected_updated_at?: string; reveal_reason?: string };

/** The reason in the spelling of the header. */
function reasonIn(raw: unknown): string | undefined {
  const { reveal_reason: reason } = raw as { reveal_reason?: unknown };
  if (reason === undefined) return undefined;
  if (typeof reason !== 'string' || !reason.isWellFormed()) throw new Refusal('invalid', 'reveal_reason: must be a text');
  return encodeURIComponent(reason);
}

async function carriedOut<I extends z.ZodType, O extends z.ZodType>(
  op: Operation<I, O>,
  context: DashboardContext,
  raw: unknown,
  needs: { space: boolean },
): Promise<Answer<O>> {
  const told = { surface: 'dashboard', began: performance.now(), request_id: context.request_id, operation: op.id } as const;
  try {
    if (op.kind === 'reveal' && context.batched)
      throw new Refusal('invalid', 'A call that shows a secret must be the only one of its request.');
    context.revealed = op.kind === 'reveal';
    const ctx = await context.member(needs);
    if (op.kind === 'reveal') ctx.reveal_reason = reasonIn(raw) ?? ctx.reveal_reason;
    const row = await answeringRow(op, ctx, raw);
    const { output, result } = await perform(row, ctx, raw);
    if (isChange(row) || ctx.changed_elsewhere) context.changed(ctx);
    const body = procedureBody(row, output, result, ctx.warnings);
    operationEnded({ ...told, status: 200, tenant_id: ctx.tenant_id });
    return (ctx.reveals_left === undefined ? body : { ...(body as object), reveals_left: ctx.reveals_left }) as Answer<O>;
  } catch (error) {
    const refusal = asRefusal(error);
    operationEnded({ ...told, status: refusal.status });
    throw asTrpc(refusal, context.request_id);
  }
}

const CODES: Record<number, TRPCError['code']> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

/** What tRPC refuses by itself, before any procedure runs, is the caller's doing and not a fault of ours. */
const PROTOCOL: Partial<Record<TRPCError['code'], readonly [ErrorType, string]>> = {
  PARSE_ERROR: ['invalid', 'The request body must be valid JSON.'],
  BAD_REQUEST: ['invalid', 'The request could not be parsed.'],
  NOT_FOUND: ['not_found', 'No such path.'],
  METHOD_NOT_SUPPORTED: ['method_not_allowed', 'Method not allowed.'],
  PAYLOAD_TOO_LARGE: ['payload_too_large', 'The request body is too large.'],
  UNSUPPORTED_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
};

function refusalOf(error: TRPCError): Refusal {
  if (error.cause instanceof Refusal) return error.cause;
  const own = PROTOCOL[error.code];
  return own ? new Refusal(...own) : asRefusal(error.cause ?? error);
}

/** A refusal in tRPC's clothes; our own faults are logged here, once. */
export function asTrpc(refusal: Refusal, requestId: string): TRPCError {
  logFailure(refusal, requestId, 'dashboard request failed');
  return new TRPCError({ code: CODES[refusal.status] ?? 'INTERNAL_SERVER_ERROR', message: refusal.message, cause: refusal });
}
