import { families } from '#server/domain/families.ts';
import { sweepLeases } from '#server/domain/leases/service.ts';
import type { Family, Job } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { leaseHandlers } from './leases.ts';

/** Every job that families declare, and the sweeper over the leases of all of them. */
export const jobs: Readonly<Record<string, Job>> = {
  ...Object.assign({}, ...(families as readonly Family[]).map((family) => family.jobs)),
  sweep_hourly_leases: {
    cron: '50 * * * *',
    atStart: true,
    run: ({ now, signal }) => sweepLeases(leaseHandlers('hour'), { db: db(), now, signal }),
  },
};

/** Former names of jobs. graphile-worker keeps a job it has no task for waiting forever, so a starting worker removes these from the queue. */
export const retiredJobs = [
  'disable_ended_keys',
  'fold_log_minutes',
  'forget_test_calls',
  'sweep_mails',
  'sweep_sign_ups',
  'tell_of_ending_keys',
  'tell_of_ending_secrets',
  'tell_of_usage',
  'tend_log_partitions',
  'tidy_people',
] as const;

/** The jobs with a time in graphile-worker's format: one queue per job, so that two runs of one job never overlap. */
export const crontab = (): string =>
  Object.entries(jobs)
    .filter(([, { cron }]) => cron !== undefined)
    .map(([name, { cron }]) => `${cron} ${name} ?queue=${name}&jobKey=${name}&jobKeyMode=preserve_run_at&max=3`)
    .join('\n');
