import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { sweepOAuth } from './sweeping.ts';

export const oauthGrants = family({
  name: 'oauth-grants',
  namespace: 'connected-apps',
  operations,
  resources: [{ type: 'oauth_grant' }],
  tables: [
    { name: 'oauth_auth_requests', reset: 'cascade' },
    { name: 'oauth_codes', reset: 'cascade' },
    { name: 'oauth_device_codes', reset: 'cascade' },
    { name: 'oauth_families', reset: 'cascade' },
    { name: 'oauth_refresh', reset: 'cascade' },
    { name: 'oauth_consents', reset: 'cascade' },
    { name: 'oauth_access', reset: 'delete' },
    { name: 'oauth_assertion_uses', reset: 'delete' },
  ],
  jobs: {
    sweep_oauth: { cron: '10 * * * *', run: ({ now, signal }) => sweepOAuth(now, signal) },
  },
});
