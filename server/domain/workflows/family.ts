import { stopDeliveries } from '#server/domain/deliveries/service.ts';
import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { pruneExecutions } from './pruning.ts';

export const workflows = family({
  name: 'workflows',
  namespace: 'workflows',
  router: 'workflows',
  tag: 'Workflows',
  descriptions,
  operations,
  resources: [
    {
      type: 'workflow',
      limit: 'workflows',
      search: { needs: 'workflow:read', page: (id) => `/workflows/${id}` },
    },
    {
      type: 'workflow_execution',
      inspect: {
        needs: 'workflow:read',
        find: async (tx, ctx, id) => {
          const row = isUuid(id)
            ? await tx.workflow_executions.findFirst({
                where: { ...own(ctx), id },
                select: { status: true, workflow: { select: { name: true } } },
              })
            : null;
          return row && { title: row.workflow.name, subtitle: row.status, path: `/runs/${id}` };
        },
      },
    },
  ],
  tables: [
    { name: 'workflows', reset: 'delete' },
    { name: 'workflow_versions', reset: 'cascade' },
    { name: 'workflow_executions', reset: 'cascade' },
    { name: 'workflow_node_executions', reset: 'cascade' },
    { name: 'workflow_timers', reset: 'cascade' },
    { name: 'workflow_schedules', reset: 'cascade' },
    { name: 'workflow_hooks', reset: 'cascade' },
  ],
  actions: [{ id: 'create-workflow', title: 'Create workflow', path: '/workflows?open=new', needs: 'workflow:create' }],
  jobs: {
    prune_workflow_executions: { cron: '35 * * * *', run: ({ now }) => pruneExecutions(now) },
  },
  made: [
    {
      // It starts by itself, or by an address that they have seen.
      type: 'workflow',
      table: 'workflows',
      label: ['workflow', 'workflows'],
      name: `r.name || coalesce(' (' || r.trigger_type || ')', '')`,
      works: `r.enabled and r.trigger_type is distinct from 'manual'`,
      by: 'r.made_by = any($2::uuid[]) or r.id = any(array(select h.workflow_id from workflow_hooks h where h.tenant_id = $1::uuid and h.made_by = any($2::uuid[])))',
      end: { set: `enabled = false, disabled_reason = 'manual', updated_at = $3`, action: 'disable', needs: 'workflow:update' },
      ended: async (tx, ctx, ids) => {
        await tx.workflow_schedules.deleteMany({ where: { ...own(ctx), workflow_id: { in: [...ids] } } });
        await stopDeliveries(tx, ctx, ids);
      },
    },
  ],
});
