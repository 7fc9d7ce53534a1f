import type { Feature, LimitKey } from '#server/domain/plans/schema.ts';

/** What the limits of this release count, in the plural. A limit enters here with the thing it counts. */
export const LIMIT_WORDS: Partial<Record<LimitKey, string>> = {
  api_calls: 'Live calls this month',
  routes: 'Routes',
  secrets: 'Secrets',
  clients: 'Clients',
  environments: 'Environments',
  collections: 'Collections',
  members: 'Members',
  api_keys: 'Active API keys',
};

/** What a plan includes and this release has: ticking off what cannot be used yet would promise it. A feature enters here with its code. */
export const FEATURE_WORDS: Partial<Record<Feature, string>> = {
  log_export: 'Request log export',
  audit_export: 'Audit log export',
  access_key: 'Access keys',
};

/** Where a thing that is counted can be looked through. */
export const LIMIT_PAGES: Partial<Record<LimitKey, string>> = {
  api_calls: '/logs',
  routes: '/routes',
  secrets: '/secrets',
  clients: '/clients',
  environments: '/environments',
  collections: '/collections',
  api_keys: '/api-keys',
};

export const REGIONS: Record<string, string> = { us: 'United States', eu: 'European Union', au: 'Australia' };
