import type { Words } from '#server/kernel/words.ts';

export const about = 'The workspace itself, its plan, and what it has used of it.';

export const words: Words = {
  id: "The workspace's id.",
  name: "The workspace's name, as people read it.",
  slug: "The workspace's name in host names: `{slug}.<host>`.",
  region: 'Where its data is kept.',
  subscription_plan: 'The plan the workspace is on.',
  subscription_status:
    'Whether the plan is in force. `past_due`, `paused` and `cancelled` workspaces are refused on this API and at their routes.',
  trial_start_at: 'When the trial began; null without one.',
  trial_end_at: 'When the trial ends or ended; null without one.',
  subscription_current_period_start: 'When the period that is paid for began; null when nothing is billed.',
  subscription_current_period_end: 'When the period that is paid for ends; null when nothing is billed.',
  subscription_cancel_at: 'When the subscription ends by a cancellation that is already made; null without one.',
  billing_period: 'The month the figures are of, by the calendar in UTC unless a billing period is given.',
  year: 'The year of the month.',
  month: 'The month, 1 to 12.',
  start: 'When the billing period began; null when it is the month.',
  end: 'When the billing period ends; null when it is the month.',
  'Usage.api_calls': 'Proxied calls of this month.',
  used: 'How many are used.',
  limit: 'How many the plan allows; null for any number.',
  percentage: 'Used of the limit, in percent; 0 without a limit.',
  resources: 'What the plan limits, by kind: how many there are, and how many there may be.',
  forecast: 'What the month comes to when it goes on as it does.',
  'forecast.api_calls': 'Calls expected by the end of the month; null while there is too little to tell from.',
  log_retention_days: 'Days that request logs are kept; null for ever.',
  audit_retention_days: 'Days that audit entries are kept; null for ever.',
  plan: 'The plan the figures are held against.',
  status: 'Whether the plan is in force.',
};
