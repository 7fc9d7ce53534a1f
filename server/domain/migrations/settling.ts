import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { migrationAwaitsReview } from '#server/domain/mail/templates.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { endGrant } from './credentials.ts';
import { PROVIDER_LABELS, type ProviderName } from './register.shared.ts';

/**
 * Nothing more is looked for: people decide now, or the migration is over when there is nothing to decide. The caller holds its row.
 * @returns its status now
 */
export async function settle(tx: Tx, ctx: Ctx, migrationId: string): Promise<'awaiting_review' | 'completed'> {
  const row = await tx.secret_migrations.findFirstOrThrow({ where: { ...own(ctx), id: migrationId } });
  const open = row.pending_count + row.approved_count;
  const status = open > 0 ? 'awaiting_review' : 'completed';
  await tx.secret_migrations.update({
    where: { id: row.id },
    data: { status, updated_at: ctx.now, ...(status === 'completed' ? { completed_at: ctx.now } : {}) },
    select: { id: true },
  });
  if (status === 'completed') {
    await endGrant(tx, ctx, row.id);
    await raise(tx, ctx, [{ type: 'migration.completed', source_id: row.id, data: { migration_id: row.id } }]);
    return status;
  }
  const data = { migration_id: row.id, items: row.discovered_count };
  await raise(tx, ctx, [{ type: 'migration.awaiting_review', source_id: row.id, data }]);
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const store = PROVIDER_LABELS[row.provider as ProviderName];
  const url = `${env.PUBLIC_ADMIN_URL}/${tenant.slug}/${ctx.sandbox ? 'test' : 'live'}/migrations/${row.id}`;
  const letter = migrationAwaitsReview({ workspace: tenant.name, store, items: open }, url);
  await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'migration_awaits_review', to: ['owner', 'admin'], letter, now: ctx.now });
  return status;
}
