import type { Words } from '#server/kernel/words.ts';

export const about = 'Your workspace, its plan and its usage.';

export const words: Words = {
  id: 'ID of the workspace.',
  name: 'Display name of the workspace.',
  slug: 'Slug of the workspace, used in hostnames: `{slug}.<host>`.',
  region: "Region where the workspace's data is stored.",
  subscription_plan: 'Plan of the workspace.',
  subscription_status: 'Subscription status. This API and the routes refuse calls for `past_due`, `paused` and `cancelled` workspaces.',
  trial_start_at: 'When the trial started. `null` if there was none.',
  trial_end_at: 'When the trial ends or ended. `null` if there was none.',
  subscription_current_period_start: 'Start of the current billing period. `null` if nothing is billed.',
  subscription_current_period_end: 'End of the current billing period. `null` if nothing is billed.',
  subscription_cancel_at: 'When the subscription ends, if it has been canceled. `null` otherwise.',
  billing_period: 'Month that the usage is for: the calendar month in UTC, unless a billing period is given.',
  year: 'Year.',
  month: 'Month, from 1 to 12.',
  start: 'Start of the billing period. `null` if usage is counted by calendar month.',
  end: 'End of the billing period. `null` if usage is counted by calendar month.',
  'Usage.api_calls': 'Proxied calls this month.',
  used: 'Amount used.',
  limit: 'Amount the plan allows. `null` if unlimited.',
  percentage: 'Percentage of the limit that is used. `0` if unlimited.',
  resources: 'Resources limited by the plan, by kind: how many exist and how many are allowed.',
  forecast: 'Projected usage for the month.',
  'forecast.api_calls': 'Calls expected by the end of the month. `null` if there is too little data.',
  log_retention_days: 'Number of days request logs are kept. `null` if kept forever.',
  audit_retention_days: 'Number of days audit log entries are kept. `null` if kept forever.',
  plan: 'Plan that the limits come from.',
  status: 'Subscription status.',
};
