import { retentionWindows } from '#server/domain/retention/service.ts';
import { family } from '#server/kernel/family.ts';
import { anchorAll } from './anchors.ts';
import { descriptions } from './descriptions.ts';
import { downsampleRollups } from './downsampling.ts';
import * as operations from './operations.ts';
import { maintainPartitions, pruneRequestLogs } from './retention.ts';
import { deleteAllResetCalls, deleteResetCalls } from './test-reset/service.ts';

export const requestLogs = family({
  name: 'request-logs',
  namespace: 'logs',
  router: 'requestLogs',
  tag: 'Logs',
  descriptions,
  operations,
  resources: [{ type: 'request', search: { needs: 'log:list', page: (id) => `/logs?peek=${id}` } }, { type: 'request_log' }],
  // The calls of a Test that was reset are removed by a job (`forget_test_calls`).
  tables: [
    { name: 'request_logs', reset: 'stay' },
    { name: 'log_payloads', reset: 'delete' },
    { name: 'request_rollups', reset: 'stay' },
    { name: 'request_quarters', reset: 'stay' },
    { name: 'request_blocks', reset: 'stay' },
    { name: 'caller_rollups', reset: 'stay' },
    { name: 'caller_quarters', reset: 'stay' },
    { name: 'caller_blocks', reset: 'stay' },
    { name: 'late_quarters', reset: 'stay' },
    { name: 'call_days', reset: 'stay' },
    { name: 'route_log_totals', reset: 'stay' },
    { name: 'request_log_anchors', reset: 'stay' },
    { name: 'request_log_floors', reset: 'stay' },
  ],
  savedViews: { logs: { see: 'log:list', share: 'route:update' }, analytics: { see: 'analytics:read', share: 'route:update' } },
  jobs: {
    downsample_rollups: { cron: '* * * * *', run: () => downsampleRollups() },
    anchor_request_logs: { cron: '*/15 * * * *', run: ({ now }) => anchorAll(now) },
    maintain_log_partitions: {
      cron: '35 * * * *',
      atStart: true,
      run: async ({ now }) => maintainPartitions(await retentionWindows(now), now),
    },
    prune_request_logs: {
      cron: '40 * * * *',
      run: async ({ now }) => (await deleteAllResetCalls(now)) + (await pruneRequestLogs(await retentionWindows(now), now)),
    },
    delete_reset_calls: { run: ({ payload }) => deleteResetCalls(String(payload.tenant_id)) },
  },
});
