import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about:
    'OAuth clients are the applications that get access tokens at `/oauth/token`. A token carries at most the scopes of its client and works for an hour. Each API key is also listed here as a client, managed by the key.',
  operations: {
    'oauth_clients.list': {
      description:
        'Lists every OAuth client of this space, newest first, including those of API keys, the client of `service-cli` and revoked ones. The list is not paged.',
      success: 'All OAuth clients.',
    },
    'oauth_clients.get': {
      description: 'Returns one OAuth client by its `id` or `client_id`. The secret is never returned.',
      success: 'The OAuth client.',
    },
    'oauth_clients.create': {
      description:
        'Creates an OAuth client. The response is the only place where the secret of a confidential client is shown. You can only allow scopes that you have yourself.',
      success: 'The created OAuth client, with its secret if it is confidential.',
    },
    'oauth_clients.update': {
      description:
        "Changes an OAuth client. Removing scopes narrows its live tokens at once, and turning it off revokes them. The type and the grants of a client can't be changed.",
      success: 'The updated OAuth client.',
    },
    'oauth_clients.rotate_secret': {
      description:
        'Replaces the secret of a confidential client. By default this contains a leak: the old secret stops working, and every token that was obtained with it is revoked. With `overlap_seconds`, the old secret works that much longer and its tokens stay valid.',
      success: 'The new secret, shown once.',
    },
    'oauth_clients.revoke': {
      description:
        "Revokes an OAuth client permanently, together with its secrets and tokens. It stays listed with `revoked_at` and can't be activated again. Revoking it again returns the same response.",
      success: 'The OAuth client was revoked.',
    },
    'oauth_clients.list_grants': {
      description: 'Lists the people who granted the client access, with what they granted. The list is not paged.',
      success: 'The grants that are still valid.',
    },
    'oauth_clients.revoke_grant': {
      description: 'Ends a grant and all its tokens. The person is asked for consent again at the next login.',
      success: 'The grant was revoked.',
    },
  },
  fields: {
    id: 'ID of the client in this API.',
    client_id: 'Public ID of the client, sent to the OAuth endpoints. For the client of an API key, the `key_id` of the key.',
    client_secret: 'Secret of a confidential client. Shown only once and never stored. `null` for public clients.',
    name: 'What the client is for. People see it when they grant access.',
    type: '`confidential` for clients that can keep a secret, `public` for native applications, single-page applications and command-line tools.',
    'query.type': 'Only return clients of this type.',
    grant_types:
      'How the client gets tokens. Defaults to `client_credentials` for confidential clients, and to `authorization_code` with `refresh_token` for public ones. Public clients can only use `authorization_code`, `refresh_token` and the device flow.',
    allowed_scopes: 'Scopes that tokens of the client can have. Without any, its tokens are refused everywhere.',
    step_up_scopes:
      'Scopes of `allowed_scopes` for which people must confirm a second factor when they grant access. Operations that ask people to confirm refuse a login that was not confirmed whatever its scopes.',
    redirect_uris:
      'Where people are sent after they granted access: `https`, or for public clients also `http` on `127.0.0.1`, `[::1]` or `localhost` and private-use schemes that contain a dot. At most 20.',
    require_dpop: 'Whether every token must be bound to a key with DPoP (RFC 9449).',
    require_pkce: 'Always `true`: authorization codes are bound to a PKCE challenge (RFC 7636).',
    token_format: 'Always `opaque`.',
    active: 'Whether the client can get tokens and use them.',
    'query.active': 'Only return active (`true`) or inactive (`false`) clients.',
    revoked_at: "When the client was revoked. `null` if it wasn't.",
    last_used_at: 'When the client last got a token, to the minute. `null` if never.',
    source_api_key_id: 'ID of the API key that manages this client. `null` for other clients.',
    source_key_type: 'Type of that API key. `null` for other clients.',
    system_role: "`cli` for the client of `service-cli`, which can't be changed. `null` for other clients.",
    trust_binding_count: 'Number of trust bindings of the client.',
    consent_html_template:
      'Text shown to people who grant access, below the standard text. Only `p`, `ul`, `ol`, `li`, `strong`, `em`, `br` and `a` with `https` links are kept.',
    secret_created_at: 'When the current secret was created. `null` without a secret.',
    previous_secret_expires_at: 'Until when the previous secret also works. `null` if only one works.',
    overlap_seconds:
      'How long the old secret keeps working, up to 24 hours. Defaults to `0`, which also revokes the tokens that were obtained with it.',
    created_by: 'Actor that created the client. `null` for clients that the service created.',
    'created_by.kind': 'Type of the actor.',
    'created_by.id': 'ID of the actor.',
    'created_by.label': 'Name of the actor when the client was created.',
    revoked: 'Always `true`.',
    grant_id: 'ID of the grant.',
    'OAuthGrant.id': 'ID of the grant.',
    user: 'Person who granted access.',
    'user.id': 'ID of the person.',
    'user.name': 'Name of the person.',
    'user.email': 'Email address of the person.',
    scopes: 'Scopes that the person granted.',
    flow: '`code` for a login in the browser, `device` for a code that was entered on another device.',
    'OAuthGrant.last_used_at': 'When the grant was last used to get a token.',
    'OAuthGrant.created_at': 'When the person granted access.',
    'OAuthGrant.expires_at': 'When the grant ends, 90 days after it was made.',
  },
  examples: {
    name: 'deploy-bot',
    client_id: 'svc_client_EXAMPLEEXAMPLEEXAMP',
    client_secret: 'svcs_this-is-not-a-real-secret',
    type: 'confidential',
    grant_types: ['client_credentials'],
    allowed_scopes: ['routes:read', 'routes:write'],
    step_up_scopes: [],
    redirect_uris: [],
    require_dpop: false,
    require_pkce: true,
    token_format: 'opaque',
    revoked_at: null,
    last_used_at: '2026-01-31T09:12:00.000Z',
    source_api_key_id: null,
    source_key_type: null,
    system_role: null,
    trust_binding_count: 0,
    consent_html_template: null,
    secret_created_at: '2026-01-31T09:30:00.000Z',
    previous_secret_expires_at: null,
    created_by: { kind: 'user', id: '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f', label: 'ada@example.com' },
    user: { id: '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f', name: 'Ada Lovelace', email: 'ada@example.com' },
    scopes: ['routes:read'],
    flow: 'code',
    'OAuthGrant.expires_at': '2026-05-01T09:30:00.000Z',
    'request.name': 'deploy-bot',
    'request.allowed_scopes': ['routes:read', 'routes:write'],
    'request.overlap_seconds': 3600,
  },
};
