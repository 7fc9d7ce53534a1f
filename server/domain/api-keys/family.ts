import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { pruneVersions } from './versions/service.ts';

export const apiKeys = family({
  name: 'api-keys',
  namespace: 'api_keys',
  router: 'apiKeys',
  tag: 'API keys',
  descriptions,
  operations,
  resources: [
    {
      type: 'api_key',
      limit: 'api_keys',
      search: { needs: 'api_key:list', page: (id) => `/api-keys?peek=${id}` },
      actions: [
        {
          verb: /^(?:rotate|revoke)(?:\s+(?:api\s+)?keys?)?(?:\s+|$)/i,
          title: (name) => `Rotate or revoke key ${name}`,
          needs: 'api_key:create',
        },
      ],
    },
  ],
  tables: [
    { name: 'api_keys', reset: 'delete' },
    { name: 'credential_usage', reset: 'delete' },
    { name: 'api_key_uses', reset: 'stay' },
    { name: 'api_version_days', reset: 'stay' },
  ],
  actions: [{ id: 'create-key', title: 'Create API key', path: '/api-keys?open=new', needs: 'api_key:create' }],
  savedViews: { api_keys: { see: 'api_key:list', share: 'api_key:update' } },
  jobs: {
    prune_versions: { cron: '50 1 * * *', run: ({ now }) => pruneVersions(now) },
  },
  leases,
  made: [
    {
      type: 'api_key',
      table: 'api_keys',
      label: ['API key', 'API keys'],
      name: `r.name || ' (' || r.key_prefix || ')'`,
      works: 'r.active and r.revoked_at is null and coalesce(r.expires_at > $3, true) and coalesce(r.revoke_at > $3, true)',
      end: { set: 'active = false, revoked_at = $3, updated_at = $3', action: 'revoke', needs: 'api_key:revoke' },
    },
  ],
});
