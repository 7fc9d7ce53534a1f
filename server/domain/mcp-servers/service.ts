import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { revokeAllGrants } from './grants.ts';
import { probeSoon } from './probing.ts';
import { MCP_SERVER_PROTECTIONS } from './protections.ts';
import {
  checkAddress,
  checkHeaders,
  checkReferences,
  checkType,
  forgetReferences,
  mayUseSecrets,
  movesSecrets,
  saveReferences,
} from './rules.ts';
import type { CreateMcpServer, ListMcpServers, UpdateMcpServer } from './schema.ts';
import { answerOf, entryOf, lockedServer, type ServerRow, withAddresses } from './store.ts';

export { lockedServer } from './store.ts';

const TAKEN = 'An MCP server or toolset with this slug already exists in this space.';
const NO_TOOLS = 'No tools are allowed yet, so clients see none. Add their names to allowed_tools.';

/** Those of a gateway; archived ones only when they are asked for. @throws Refusal not_found */
export const listServers = (ctx: Ctx, { id: gatewayId, status, ...asked }: z.output<typeof ListMcpServers>) =>
  read(ctx, async (tx) => {
    await gatewayById(tx, ctx, gatewayId);
    const { ids, total } = await listIds(tx, ctx, {
      ...asked,
      table: 'mcp_servers',
      filters: [
        { where: (bind) => `gateway_id = ${bind(gatewayId, 'uuid')}` },
        status === undefined ? { where: () => "status <> 'archived'" } : { where: (bind) => `status = ${bind(status, 'text')}` },
      ],
    });
    const rows = await tx.mcp_servers.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(await withAddresses(tx, ctx, inOrder(ids, rows)), total, asked);
  });

/** One server, an archived one too: it stays readable. @throws Refusal not_found */
export const getServer = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = isUuid(id) ? await tx.mcp_servers.findFirst({ where: { ...own(ctx), id } }) : null;
    if (!row) throw notFound();
    return answerOf(tx, ctx, row as unknown as ServerRow);
  });

/** @throws Refusal not_found for the gateway, validation_error, forbidden, plan_limit, conflict */
export async function createServer(ctx: Ctx, { id: gatewayId, ...input }: z.output<typeof CreateMcpServer>) {
  checkHeaders(input.auth ?? {});
  await mayUseSecrets(ctx, { auth: input.auth ?? {}, guardrail_webhook_secret_id: input.guardrail_webhook_secret_id ?? null });
  const upstream = input.server_type === 'upstream';
  const given = {
    ...input,
    transport: input.transport ?? (upstream ? ('streamable_http' as const) : null),
    auth: input.auth ?? {},
    members: input.members ?? [],
  };
  checkType({ ...given, upstream_url: given.upstream_url ?? null, signed_identity: given.signed_identity ?? false });
  await checkAddress(ctx, 'upstream_url', input.upstream_url);
  await checkAddress(ctx, 'guardrail_webhook_url', input.guardrail_webhook_url);
  const made = await mutate(ctx, async (tx) => {
    const gateway = await gatewayById(tx, ctx, gatewayId);
    await withinPlan(tx, ctx, 'mcp_servers');
    const row = (await tx.mcp_servers
      .create({
        data: {
          ...own(ctx),
          ...given,
          id: newId(),
          gateway_id: gateway.id,
          auth: given.auth as Prisma.InputJsonObject,
          created_by: ctx.actor.type === 'member' ? ctx.actor.id : null,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique(TAKEN))) as unknown as ServerRow;
    await checkReferences(tx, ctx, row);
    await saveReferences(tx, ctx, row);
    return audited(
      await answerOf(tx, ctx, row),
      entryOf('create', row, { server_type: row.server_type, slug: row.slug, gateway_id: gateway.id }),
    );
  });
  probeSoon(ctx, made);
  return made.server_type === 'toolset' || made.allowed_tools.length > 0 ? made : { ...made, warning: NO_TOOLS };
}

/** Judged as it will be. @throws Refusal not_found, validation_error, forbidden */
export async function updateServer(ctx: Ctx, { id, ...input }: z.output<typeof UpdateMcpServer>) {
  if (input.auth) checkHeaders(input.auth);
  await checkAddress(ctx, 'upstream_url', input.upstream_url);
  await checkAddress(ctx, 'guardrail_webhook_url', input.guardrail_webhook_url);
  const after = await mutate(ctx, async (tx) => {
    const before = await lockedServer(tx, ctx, id);
    checkType({ ...before, ...input });
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, MCP_SERVER_PROTECTIONS));
    const { auth, members, ...columns } = input;
    const row = (await tx.mcp_servers.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        ...columns,
        ...(auth === undefined ? {} : { auth: auth as Prisma.InputJsonObject }),
        ...(members === undefined ? {} : { members }),
        updated_at: ctx.now,
      },
    })) as unknown as ServerRow;
    if (movesSecrets(before, row)) await mayUseSecrets(ctx, row);
    await checkReferences(tx, ctx, row);
    if (auth !== undefined || input.guardrail_webhook_secret_id !== undefined) await saveReferences(tx, ctx, row);
    // Whoever consented did so for that upstream.
    const moved = before.upstream_url !== row.upstream_url || JSON.stringify(before.auth.oauth) !== JSON.stringify(row.auth.oauth);
    const revoked = moved ? await revokeAllGrants(tx, ctx, row.id) : 0;
    const entries = entriesOf(before, row, Object.keys(input), revoked);
    const [first, ...more] = entries;
    const answer = await answerOf(tx, ctx, row);
    return first ? audited(answer, first, more) : unchanged(answer);
  });
  if ([input.upstream_url, input.transport, input.auth, input.signed_identity].some((given) => given !== undefined)) probeSoon(ctx, after);
  return after;
}

function entriesOf(before: ServerRow, row: ServerRow, fields: readonly string[], revoked: number): AuditEntry[] {
  const changes = changesOf(
    before,
    row,
    fields.filter((field) => field !== 'status'),
  );
  return [
    ...(row.status === before.status ? [] : [entryOf(row.status === 'active' ? 'enable' : 'disable', row)]),
    ...(changes.length > 0 ? [{ ...entryOf('update', row, revoked > 0 ? { grants_revoked: revoked } : undefined), changes }] : []),
  ];
}

/** Clients are refused from now on; the row stays, and its slug is free. Everybody's tokens at the upstream are destroyed. @throws Refusal not_found */
export function archiveServer(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedServer(tx, ctx, id);
    const revoked = await revokeAllGrants(tx, ctx, row.id);
    await forgetReferences(tx, ctx, row.id);
    await tx.mcp_registrations.deleteMany({ where: { ...own(ctx), mcp_server_id: row.id } });
    await tx.mcp_approvals.updateMany({ where: { ...own(ctx), mcp_server_id: row.id, status: 'pending' }, data: { status: 'expired' } });
    await tx.mcp_servers.update({
      where: { id: row.id, ...own(ctx) },
      // What it referred to may go now.
      data: {
        status: 'archived',
        auth: {},
        pii_redact_policy_id: null,
        firewall_policy_id: null,
        guardrail_webhook_secret_id: null,
        updated_at: ctx.now,
      },
      select: { id: true },
    });
    const answer = { deleted: true as const, id: row.id, status: 'archived' as const };
    return audited(answer, entryOf('delete', row, revoked > 0 ? { grants_revoked: revoked } : undefined));
  });
}

/** A gateway that isn't archived. @throws Refusal not_found */
export async function gatewayById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id)
    ? await tx.ai_gateways.findFirst({ where: { ...own(ctx), id, status: { not: 'archived' } }, select: { id: true, name: true } })
    : null;
  if (!row) throw notFound();
  return row;
}
