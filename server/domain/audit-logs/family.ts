import { retentionWindows } from '#server/domain/retention/service.ts';
import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { sealChains } from './baseline.ts';
import { descriptions } from './descriptions.ts';
import { verifyAllChains } from './failures.ts';
import * as operations from './operations.ts';
import { pruneAuditLogs } from './retention.ts';
import { signCheckpoints } from './signing.ts';

export const auditLogs = family({
  name: 'audit-logs',
  namespace: 'audit_logs',
  router: 'auditLogs',
  tag: 'Audit logs',
  descriptions,
  operations,
  resources: [
    { type: 'audit_log' },
    { type: 'audit_chain' },
    {
      type: 'audit_entry',
      inspect: {
        needs: 'audit_log:list',
        find: async (tx, ctx, id) => {
          const row = await tx.audit_logs.findFirst({
            where: { ...own(ctx), id },
            select: { action: true, resource_type: true, actor_label: true },
          });
          return row && { title: `${row.action} ${row.resource_type}`, subtitle: row.actor_label, path: `/audit?peek=${id}` };
        },
      },
    },
  ],
  tables: [
    { name: 'audit_logs', reset: 'stay' },
    { name: 'audit_log_critical', reset: 'stay' },
    { name: 'audit_chain_heads', reset: 'stay' },
  ],
  savedViews: { audit: { see: 'audit_log:list', share: 'audit_log:read_details' } },
  jobs: {
    seal_chains: { cron: '*/10 * * * *', atStart: true, run: ({ now }) => sealChains(now) },
    sign_checkpoints: { cron: '0 0 * * *', run: ({ now }) => signCheckpoints(now) },
    prune_audit_logs: { cron: '30 1 * * *', run: async ({ now }) => pruneAuditLogs(await retentionWindows(now), now) },
    verify_chains: { cron: '0 2 * * *', run: ({ now }) => verifyAllChains(now) },
  },
});
