import type { z } from 'zod';
import { apiUrl, proxyUrl } from '#server/domain/tenants/addresses.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { McpAuth, McpProtocol, McpServer } from './schema.ts';

type Stored = Prisma.mcp_serversGetPayload<object>;
/** A server as PostgreSQL has it, with the shapes of its JSON columns. */
export type ServerRow = Omit<Stored, keyof Shapes> & Shapes;
type Shapes = Pick<
  z.output<typeof McpServer>,
  'members' | 'server_type' | 'transport' | 'guardrail_webhook_mode' | 'guardrail_webhook_failure_action' | 'status'
> & { auth: McpAuth; protocol: Partial<McpProtocol> };

/** A server that isn't archived. @throws Refusal not_found */
export async function serverById(tx: Tx, ctx: Ctx, id: string): Promise<ServerRow> {
  const row = isUuid(id) ? await tx.mcp_servers.findFirst({ where: { ...own(ctx), id, status: { not: 'archived' } } }) : null;
  if (!row) throw notFound();
  return row as unknown as ServerRow;
}

/** The same, held until the transaction ends. */
export async function lockedServer(tx: Tx, ctx: Ctx, id: string): Promise<ServerRow> {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from mcp_servers where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return serverById(tx, ctx, id);
}

/** Servers with the addresses under which clients reach them. */
export async function withAddresses<Row extends Stored | ServerRow>(tx: Tx, ctx: Ctx, rows: readonly Row[]) {
  if (rows.length === 0) return [];
  const { slug } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
  return rows.map((row) => withAddress(ctx, slug, row));
}

export const answerOf = async (tx: Tx, ctx: Ctx, row: ServerRow) => (await withAddresses(tx, ctx, [row]))[0] as Answer;
type Answer = ReturnType<typeof withAddress<ServerRow>>;

const withAddress = <Row extends Stored | ServerRow>(ctx: Ctx, tenantSlug: string, row: Row) => ({
  ...(row as unknown as ServerRow),
  ...addressesOf(ctx, tenantSlug, row.slug),
  protocol: { ...NEVER_PROBED, ...(row.protocol as Partial<McpProtocol>) },
});

/** Where clients connect, and the name of the server that tokens are bound to (interface rule 52 §1). */
export const addressesOf = (ctx: Pick<Ctx, 'sandbox'>, tenantSlug: string, slug: string) => ({
  connect_url: `${proxyUrl(tenantSlug, spaceOf(ctx.sandbox))}/v1/mcp/${slug}`,
  resource: `${apiUrl(spaceOf(ctx.sandbox))}/mcp/${slug}`,
});

const NEVER_PROBED: McpProtocol = { era: 'unknown', versions: [], server_name: '', probed_at: null };

/** The server of an operation on a part of it. @throws Refusal not_found */
export const readServer = <T>(ctx: Ctx, id: string, work: (tx: Tx, row: ServerRow) => Promise<T>): Promise<T> =>
  read(ctx, async (tx) => work(tx, await serverById(tx, ctx, id)));

export const entryOf = (action: string, { id, name }: Pick<ServerRow, 'id' | 'name'>, details?: Record<string, unknown>): AuditEntry => ({
  action,
  resource_type: 'mcp_server',
  resource_id: id,
  name,
  ...(details ? { details } : {}),
});
