import { notifyUsage } from '#server/domain/account/service.ts';
import { pruneVersions } from '#server/domain/api-keys/versions/service.ts';
import { pruneAuditLogs } from '#server/domain/audit-logs/retention.ts';
import { signCheckpoints } from '#server/domain/audit-logs/signing.ts';
import { verifyAllChains } from '#server/domain/audit-logs/verify.ts';
import { pruneEvents } from '#server/domain/events/service.ts';
import { resumeRewraps, rewrap, rotateRootKey } from '#server/domain/keys/service.ts';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { pruneMails, retryUnsentMails } from '#server/domain/mail/service.ts';
import { pruneIdentityData } from '#server/domain/people/service.ts';
import { anchorAll } from '#server/domain/request-logs/anchors.ts';
import { downsampleRollups } from '#server/domain/request-logs/downsampling.ts';
import { maintainPartitions, pruneRequestLogs } from '#server/domain/request-logs/retention.ts';
import { deleteAllResetCalls, deleteResetCalls } from '#server/domain/request-logs/test-reset/service.ts';
import { pruneIdempotency, retentionWindows } from '#server/domain/retention/service.ts';
import { fetchDueIcons } from '#server/domain/routes/service.ts';
import { wipeSuperseded } from '#server/domain/secrets/service.ts';
import { db } from '#server/platform/db.ts';
import { leaseHandlers } from './leases.ts';

export type Run = { now: Date; payload: Record<string, unknown>; signal: AbortSignal };
/** A job calls one verb of the domain and its result is logged. It may be interrupted anywhere and run again. */
export type Job = (run: Run) => Promise<unknown>;

/** Cron jobs: [minute hour day month weekday] in UTC. Each runs once per deployment, however many workers there are. */
export const schedules = {
  retry_unsent_mails: ['* * * * *', ({ now }) => retryUnsentMails(db(), now)],
  fetch_route_icons: ['* * * * *', ({ now, signal }) => fetchDueIcons(now, signal)],
  sweep_hourly_leases: ['50 * * * *', ({ now, signal }) => sweepLeases(leaseHandlers('hour'), { db: db(), now, signal })],
  notify_usage: ['*/10 * * * *', ({ now }) => notifyUsage(db(), now)],
  resume_rewraps: ['* * * * *', ({ signal }) => resumeRewraps({ signal })],
  downsample_rollups: ['* * * * *', () => downsampleRollups()],
  anchor_request_logs: ['*/15 * * * *', ({ now }) => anchorAll(now)],
  rotate_root_key: ['*/10 * * * *', () => rotateRootKey()],
  prune_identity_data: ['20 * * * *', ({ now }) => pruneIdentityData(db(), now)],
  wipe_superseded_values: ['5 * * * *', ({ now }) => wipeSuperseded(db(), now)],
  prune_idempotency: ['10 * * * *', ({ now }) => pruneIdempotency(now)],
  rewrap_stragglers: ['25 * * * *', ({ signal }) => resumeRewraps({ signal, stragglers: true })],
  maintain_log_partitions: ['35 * * * *', async ({ now }) => maintainPartitions(await retentionWindows(now), now)],
  prune_request_logs: [
    '40 * * * *',
    async ({ now }) => (await deleteAllResetCalls(now)) + (await pruneRequestLogs(await retentionWindows(now), now)),
  ],
  sign_checkpoints: ['0 0 * * *', ({ now }) => signCheckpoints(now)],
  prune_audit_logs: ['30 1 * * *', async ({ now }) => pruneAuditLogs(await retentionWindows(now), now)],
  verify_chains: ['0 2 * * *', () => verifyAllChains()],
  prune_versions: ['50 1 * * *', ({ now }) => pruneVersions(now)],
  prune_events: ['55 * * * *', ({ now }) => pruneEvents(now)],
  prune_mails: ['45 2 * * *', ({ now }) => pruneMails(db(), now)],
} as const satisfies Record<string, readonly [string, Job]>;

/** Jobs queued by `addJob`. */
export const onDemand = {
  delete_reset_calls: ({ payload }) => deleteResetCalls(String(payload.tenant_id)),
  rewrap: ({ payload, signal }) => rewrap(Number(payload.lease_id), { signal }),
} as const satisfies Record<string, Job>;

/** Cron jobs that also run when a worker starts: a fresh installation should not wait an hour for them. */
export const atStart: readonly (keyof typeof schedules)[] = ['maintain_log_partitions', 'rotate_root_key', 'sweep_hourly_leases'];

/** Former names of jobs. graphile-worker keeps a job it has no task for waiting forever, so a starting worker removes these from the queue. */
export const retiredJobs = [
  'disable_ended_keys',
  'disable_expired_keys',
  'fold_log_minutes',
  'forget_test_calls',
  'notify_expiring_keys',
  'notify_expiring_secrets',
  'send_signup_mails',
  'sweep_mails',
  'sweep_sign_ups',
  'tell_of_ending_keys',
  'tell_of_ending_secrets',
  'tell_of_usage',
  'tend_log_partitions',
  'tidy_people',
] as const;

/** The schedules in graphile-worker's format: one queue per job, so that two runs of one job never overlap. */
export const crontab = (): string =>
  Object.entries(schedules)
    .map(([name, [time]]) => `${time} ${name} ?queue=${name}&jobKey=${name}&jobKeyMode=preserve_run_at&max=3`)
    .join('\n');
