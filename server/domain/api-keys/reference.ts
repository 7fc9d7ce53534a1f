import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  name: 'ci-deploy',
  key_id: 'tk_live_EXAMPLEEXAMP',
  key_prefix: 'tk_live_EXA...',
  api_key: 'tk_live_EXAMPLEEXAMP_this-is-not-a-real-key',
  last_used_ip: '203.0.113.7',
  ip_allowlist: ['203.0.113.0/24'],
  'request.name': 'ci-deploy',
  'request.expires_in_days': 90,
  'request.rate_limit_requests': 600,
  'request.rate_limit_window_sec': 60,
  'request.revoke_old_after_sec': 86400,
  rate_limit_requests: 600,
  rate_limit_window_sec: 60,
  expires_at: '2026-05-01T09:30:00.000Z',
  created_by: { kind: 'user', id: '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f', label: 'ada@example.com' },
  oauth_client_id: 'tk_live_EXAMPLEEXAMP',
  message: 'Store this API key now; it is not shown again.',
  revoke_at: null,
  replaces_key_id: 'tk_live_OLDEXAMPLEXX',
  revoked_at: null,
  revoked_by: null,
  scopes: null,
  'ApiKey.replaces_key_id': null,
};

export const operations: Described = {
  'api_keys.list': {
    description: 'Lists the API keys of this space. The keys themselves are never returned.',
    success: 'A page of API keys.',
  },
  'api_keys.get': {
    description: 'Returns one API key by its `id` or `key_id`. The key itself is never returned.',
    success: 'The API key.',
  },
  'api_keys.create': {
    description:
      'Creates an API key. The response is the only place where the key is shown. Every kind of key can expire: send at most one of `expires_at`, `expires_in_days` and `never_expires`.',
    success: 'The created API key, shown once.',
  },
  'api_keys.update': {
    description: 'Changes the name, roles, rate limit, allowed addresses or expiry of an API key. The change applies to the next request.',
    success: 'The updated API key.',
  },
  'api_keys.rotate': {
    description:
      'Creates a replacement with the same roles, limits and expiry. The old key keeps working until `revoke_old_after_sec` has passed or you revoke it.',
    success: 'The new API key, shown once.',
  },
  'api_keys.revoke': {
    description: 'Revokes an API key permanently. The next request with it is refused. Revoking it again returns the same response.',
    success: 'The API key was revoked.',
  },
};
