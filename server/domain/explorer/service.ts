import { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { sanitiseDetails } from '#server/kernel/sanitise.ts';
import { secretFields } from '#server/kernel/secret-fields.ts';
import type { ExplorerCall } from './schema.ts';

const KEPT = 50;

type Call = {
  op: AnyOperation;
  method: string;
  path: string;
  query: string;
  body: Record<string, unknown> | undefined;
  status: number;
  error: string | null;
  duration_ms: number;
};

/** Keeps a call for its person, without what the operation marks as secret and without anything shaped like a credential. */
export async function recordCall(ctx: Ctx, { op, body, ...call }: Call): Promise<void> {
  const user_id = ctx.actor.type === 'member' ? ctx.actor.id : null;
  if (!user_id) return;
  const secret = secretFields(op.input);
  const { query } = sanitiseDetails({ query: call.query }) as { query: string };
  await read({ ...ctx, tx: undefined } as Ctx, async (tx) => {
    await tx.explorer_calls.create({
      data: {
        ...own(ctx),
        ...call,
        id: ctx.request_id,
        user_id,
        operation: op.id,
        path: String(sanitiseDetails({ path: call.path }).path).slice(0, 500),
        query: query.slice(0, 500),
        ...(body === undefined ? {} : { body: sanitiseDetails(without(known(op, body), secret) as Record<string, unknown>) }),
        created_at: ctx.now,
      },
    });
    await tx.$executeRaw`delete from explorer_calls where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and user_id = ${user_id}::uuid
      and id not in (select id from explorer_calls where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and user_id = ${user_id}::uuid order by created_at desc, id desc limit ${KEPT})`;
  });
}

/** One's own calls in this space, newest first. Nobody reads another's. */
export async function historyOf(ctx: Ctx): Promise<{ calls: z.input<typeof ExplorerCall>[] }> {
  if (ctx.actor.type !== 'member') return { calls: [] };
  const user_id = ctx.actor.id;
  const rows = await read(ctx, (tx) =>
    tx.explorer_calls.findMany({ where: { ...own(ctx), user_id }, orderBy: [{ created_at: 'desc' }, { id: 'desc' }], take: KEPT }),
  );
  return { calls: rows.map((row) => ({ ...row, body: row.body as Record<string, unknown> | null })) };
}

/** Forgets the calls of a person who leaves the workspace. @returns how many */
export async function forgetCallsOf(tx: Tx, ctx: Ctx, user_id: string): Promise<number> {
  return (await tx.explorer_calls.deleteMany({ where: { ...own(ctx), user_id } })).count;
}

/** The fields that the operation takes: a name mistyped by a letter is no reason to keep the value behind it. */
function known(op: AnyOperation, body: Record<string, unknown>): Record<string, unknown> {
  const { properties = {} } = z.toJSONSchema(op.input, { io: 'input', unrepresentable: 'any' });
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)));
}

function without(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, names));
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, child]) => (names.has(name) ? [] : [[name, without(child, names)]])));
}
