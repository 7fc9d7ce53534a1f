import { tellOfUsage } from '#server/domain/account/service.ts';
import { disableEndedKeys } from '#server/domain/api-keys/expiry.ts';
import { tellOfEndingKeys } from '#server/domain/api-keys/notices.ts';
import { pruneVersions } from '#server/domain/api-keys/versions/service.ts';
import { pruneAuditLogs } from '#server/domain/audit-logs/retention.ts';
import { signCheckpoints } from '#server/domain/audit-logs/signing.ts';
import { verifyAllChains } from '#server/domain/audit-logs/verify.ts';
import { resumeRewraps, rewrap, rotateRootKey } from '#server/domain/keys/service.ts';
import { pruneMails, sweepMails } from '#server/domain/mail/service.ts';
import { tidyPeople } from '#server/domain/people/service.ts';
import { anchorAll } from '#server/domain/request-logs/anchors.ts';
import { foldMinutes } from '#server/domain/request-logs/folding.ts';
import { forgetResetTest, forgetResetTests } from '#server/domain/request-logs/forgetting/service.ts';
import { pruneRequestLogs, tendPartitions } from '#server/domain/request-logs/retention.ts';
import { pruneIdempotency, retentionWindows } from '#server/domain/retention/service.ts';
import { fetchDueIcons } from '#server/domain/routes/service.ts';
import { tellOfEndingSecrets, wipeSuperseded } from '#server/domain/secrets/service.ts';
import { sweepSignUps } from '#server/domain/signup/service.ts';
import { db } from '#server/platform/db.ts';

export type Run = { now: Date; payload: Record<string, unknown>; signal: AbortSignal };
/** A job is one verb of the domain; whatever it returns is logged. Every one may be cut off anywhere and run again. */
export type Job = (run: Run) => Promise<unknown>;

/** Jobs with a time: [minute hour day month weekday] in UTC. Each runs once in the deployment, however many workers there are. */
export const schedules = {
  sweep_mails: ['* * * * *', ({ now }) => sweepMails(db(), now)],
  sweep_sign_ups: ['* * * * *', ({ now }) => sweepSignUps(db(), now)],
  fetch_route_icons: ['* * * * *', ({ now, signal }) => fetchDueIcons(now, signal)],
  disable_ended_keys: ['* * * * *', ({ now }) => disableEndedKeys(db(), now)],
  tell_of_ending_keys: ['15 * * * *', ({ now }) => tellOfEndingKeys(db(), now)],
  tell_of_ending_secrets: ['50 * * * *', ({ now }) => tellOfEndingSecrets(db(), now)],
  tell_of_usage: ['*/10 * * * *', ({ now }) => tellOfUsage(db(), now)],
  resume_rewraps: ['* * * * *', ({ signal }) => resumeRewraps({ signal })],
  fold_log_minutes: ['* * * * *', () => foldMinutes()],
  anchor_request_logs: ['*/15 * * * *', ({ now }) => anchorAll(now)],
  rotate_root_key: ['*/10 * * * *', () => rotateRootKey()],
  tidy_people: ['20 * * * *', ({ now }) => tidyPeople(db(), now)],
  wipe_superseded_values: ['5 * * * *', ({ now }) => wipeSuperseded(db(), now)],
  prune_idempotency: ['10 * * * *', ({ now }) => pruneIdempotency(now)],
  rewrap_stragglers: ['25 * * * *', ({ signal }) => resumeRewraps({ signal, stragglers: true })],
  tend_log_partitions: ['35 * * * *', async ({ now }) => tendPartitions(await retentionWindows(now), now)],
  prune_request_logs: [
    '40 * * * *',
    async ({ now }) => (await forgetResetTests(now)) + (await pruneRequestLogs(await retentionWindows(now), now)),
  ],
  sign_checkpoints: ['0 0 * * *', ({ now }) => signCheckpoints(now)],
  prune_audit_logs: ['30 1 * * *', async ({ now }) => pruneAuditLogs(await retentionWindows(now), now)],
  verify_chains: ['0 2 * * *', () => verifyAllChains()],
  prune_versions: ['50 1 * * *', ({ now }) => pruneVersions(now)],
  prune_mails: ['45 2 * * *', ({ now }) => pruneMails(db(), now)],
} as const satisfies Record<string, readonly [string, Job]>;

/** Jobs somebody asks for. */
export const onDemand = {
  forget_test_calls: ({ payload }) => forgetResetTest(String(payload.tenant_id)),
  rewrap: ({ payload, signal }) => rewrap(Number(payload.lease_id), { signal }),
} as const satisfies Record<string, Job>;

/** What a fresh installation should not wait an hour for. */
export const atStart: readonly (keyof typeof schedules)[] = ['tend_log_partitions', 'rotate_root_key'];

/** The schedules as graphile-worker reads them: one queue per job, so that a slow run is not overtaken by the next one. */
export const crontab = (): string =>
  Object.entries(schedules)
    .map(([name, [time]]) => `${time} ${name} ?queue=${name}&jobKey=${name}&jobKeyMode=preserve_run_at&max=3`)
    .join('\n');
