import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  name: 'Acme',
  slug: 'acme',
  region: 'eu',
  subscription_plan: 'pro',
  plan: 'pro',
  status: 'active',
  subscription_status: 'active',
  percentage: 12.85,
  used: 12847,
  year: 2026,
  month: 1,
  'api_calls.limit': 100000,
  resources: { routes: { used: 12, limit: 50 }, secrets: { used: 31, limit: 100 } },
  forecast: { api_calls: 41000 },
  'request.name': 'Acme',
};

export const operations: Described = {
  'account.get': { description: 'Returns the workspace that the credential belongs to.', success: 'The workspace.' },
  'account.update': {
    description: 'Changes the name of the workspace. Its slug and URLs stay the same.',
    success: 'The updated workspace.',
  },
  'account.usage': {
    description:
      'Returns how much of each plan limit is used in this space, and a forecast for the month. `limit` is `null` where the plan sets none.',
    success: 'Usage against the plan.',
  },
};
