import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { type PageRequest, pageOf } from '#server/kernel/page.ts';
import { keyring } from '#server/platform/keys.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { log } from '#server/platform/log.ts';

// Tool calls that wait for a person (interface rule 52 §10).

/** An approval that comes after the call gave up lets the same call pass, once, for so long. */
const PASSES_MS = 10 * 60_000;
/** A list leaves longer arguments out; `getApproval` has them whole. */
const MOST_LISTED_BYTES = 64 * 1024;

const WITH_SERVER = { server: { select: { id: true, name: true, slug: true } } } as const;
type Row = Prisma.mcp_approvalsGetPayload<{ include: typeof WITH_SERVER }>;

/** Newest first. */
export async function listApprovals(ctx: Ctx, { status, ...asked }: PageRequest & { status?: 'pending' | 'decided' | undefined }) {
  const { rows, total, names } = await read(ctx, async (tx) => {
    const open = { status: 'pending', expires_at: { gt: ctx.now } };
    const where = { ...own(ctx), ...(status === 'pending' ? open : status === 'decided' ? { NOT: open } : {}) };
    const total = await tx.mcp_approvals.count({ where });
    const rows = await pagedRows(
      asked,
      total,
      [{ created_at: 'desc' }, { id: 'desc' }],
      (window) => tx.mcp_approvals.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.mcp_approvals.findMany({ where: { ...own(ctx), id: { in: ids } }, include: WITH_SERVER }),
    );
    return { rows, total, names: await namesOf(tx, rows) };
  });
  return pageOf(await Promise.all(rows.map((row) => shown(ctx, row, names, MOST_LISTED_BYTES))), total, asked);
}

/** One call with its arguments whole. @throws Refusal not_found */
export async function getApproval(ctx: Ctx, { id }: { id: string }) {
  const { row, names } = await read(ctx, async (tx) => {
    const row = isUuid(id) ? await tx.mcp_approvals.findFirst({ where: { ...own(ctx), id }, include: WITH_SERVER }) : null;
    if (!row) throw notFound();
    return { row, names: await namesOf(tx, [row]) };
  });
  return shown(ctx, row, names);
}

export const countApprovals = (ctx: Ctx) =>
  read(ctx, async (tx) => ({
    pending: await tx.mcp_approvals.count({ where: { ...own(ctx), status: 'pending', expires_at: { gt: ctx.now } } }),
  }));

/** @throws Refusal not_found, conflict when it was decided or ran out, step_up_required */
export const decideApproval = async (
  ctx: Ctx,
  { id, reason = null }: { id: string; reason?: string | null | undefined },
  decision: 'approved' | 'denied',
) => {
  const { actor } = ctx;
  if (actor.type !== 'member') throw new Refusal('forbidden', 'Only a signed-in person can decide about a call.');
  const { row, names } = await mutate(ctx, async (tx) => {
    const before = isUuid(id) ? await tx.mcp_approvals.findFirst({ where: { ...own(ctx), id } }) : null;
    if (!before) throw notFound();
    if (decision === 'approved' && (await argumentsOf(ctx, before)).state === 'unreadable')
      throw new Refusal(
        'conflict',
        "The arguments of this call can't be read, so it can't be approved. Deny it; the caller can send it again.",
      );
    const { count } = await tx.mcp_approvals.updateMany({
      where: { ...own(ctx), id: before.id, status: 'pending', expires_at: { gt: ctx.now } },
      data: {
        status: decision,
        decided_by: actor.id,
        decided_at: ctx.now,
        reason,
        passes_until: decision === 'approved' ? new Date(ctx.now.getTime() + PASSES_MS) : null,
      },
    });
    if (count === 0)
      throw new Refusal('conflict', 'Somebody has decided about this call already, or it waited too long. The caller can send it again.');
    const row = await tx.mcp_approvals.findUniqueOrThrow({ where: { id: before.id }, include: WITH_SERVER });
    const details = {
      change: `call.${decision}`,
      approval_id: row.id,
      tool: row.tool_name,
      token_id: row.token_id,
      call_request_id: row.request_id,
    };
    return audited(
      { row, names: await namesOf(tx, [row]) },
      {
        action: 'execute',
        resource_type: 'mcp_server',
        resource_id: row.server.id,
        name: row.server.name,
        ...(reason === null ? {} : { reason }),
        details,
      },
    );
  });
  return shown(ctx, row, names);
};

async function namesOf(tx: Tx, rows: readonly Row[]): Promise<Map<string, string>> {
  const ids = [...new Set(rows.flatMap((row) => row.decided_by ?? []))];
  if (ids.length === 0) return new Map();
  const people = await tx.users.findMany({ where: { id: { in: ids } }, select: { id: true, full_name: true, email: true } });
  return new Map(people.map((person) => [person.id, person.full_name || person.email]));
}

async function shown(ctx: Ctx, row: Row, names: ReadonlyMap<string, string>, most?: number) {
  const { server, ...rest } = row;
  const expired = row.status === 'pending' && row.expires_at <= ctx.now;
  return {
    ...rest,
    server_name: server.name,
    server_slug: server.slug,
    status: (expired ? 'expired' : row.status) as 'pending' | 'approved' | 'denied' | 'expired',
    decided_by_name: row.decided_by === null ? null : (names.get(row.decided_by) ?? null),
    ...argumentFields(await argumentsOf(ctx, row, most)),
  };
}

const argumentFields = ({ state, bytes, value }: Arguments) => ({ arguments: value, arguments_state: state, arguments_bytes: bytes });

type Sealed = Pick<Row, 'id' | 'value_ct' | 'cek_wrapped' | 'tmk_version'>;
type Arguments = { state: 'whole' | 'left_out' | 'unreadable'; bytes: number; value: unknown };

/** What a person may see of the arguments: they were redacted before they were kept. Unreadable when the workspace's key is away. */
async function argumentsOf(ctx: Ctx, { id, value_ct, cek_wrapped, tmk_version }: Sealed, most = Infinity): Promise<Arguments> {
  const unreadable = { state: 'unreadable', bytes: 0, value: null } as const;
  if (!value_ct || !cek_wrapped || tmk_version === null) return unreadable;
  const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'ai_payload', row_id: id } as const;
  try {
    const bytes = await keyring().openValue(place, { value_ct, cek_wrapped, tmk_version });
    return bytes.length > most
      ? { state: 'left_out', bytes: bytes.length, value: null }
      : { state: 'whole', bytes: bytes.length, value: parseExact(bytes.toString('utf8')) };
  } catch (error) {
    log.error({ err: error, approval_id: id }, 'the arguments of an approval can not be read');
    return unreadable;
  }
}

const KEPT_DAYS = 30;

/** Decisions stay in the audit log; the arguments go. @returns rows deleted */
export async function pruneApprovals(
  db: { mcp_approvals: { deleteMany(args: { where: { created_at: { lt: Date } } }): Promise<{ count: number }> } },
  now: Date,
): Promise<number> {
  const { count } = await db.mcp_approvals.deleteMany({ where: { created_at: { lt: new Date(now.getTime() - KEPT_DAYS * 86_400_000) } } });
  return count;
}
