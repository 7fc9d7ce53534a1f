import { type Descriptions, EXAMPLE_ID, EXAMPLE_TIME } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about:
    'Let workloads such as GitHub Actions jobs call the Management API without a stored secret. A trust binding of an OAuth client says whose signed tokens the client accepts; `POST /oauth/token` with the token exchange grant (RFC 8693) turns one into a short-lived access token. Only access tokens may call these endpoints, not API keys.',
  operations: {
    'trust_bindings.list': { description: 'Lists the trust bindings of a client, newest first.', success: 'The trust bindings.' },
    'trust_bindings.get': { description: 'Returns one trust binding.', success: 'The trust binding.' },
    'trust_bindings.create': {
      description:
        "Trusts the tokens of an issuer that meet every condition. Part of the conditions must say literally whose tokens those are, such as the repository of a GitHub Actions job; `*` and `**` may stand for the rest. The scopes must be the client's and the caller's own. The client needs the token exchange grant, and has at most 20 bindings. Read the warnings in `meta.warnings`.",
      success: 'The created trust binding.',
    },
    'trust_bindings.update': {
      description:
        "Changes a trust binding. Disabling it ends its tokens at once. Other changes than a new name take the caller's own grants for all of the binding's scopes, because they change who gets them.",
      success: 'The updated trust binding.',
    },
    'trust_bindings.delete': {
      description: 'Deletes a trust binding and ends its tokens at once.',
      success: 'The trust binding was deleted.',
    },
    'trust_bindings.test': {
      description:
        'Shows what an exchange of a workload token would do, condition by condition. Nothing is issued, a token for single use stays unused, and the token is neither stored nor logged.',
      success: 'What holds of the token, and which conditions of each binding it meets.',
    },
  },
  fields: {
    id: 'ID of the trust binding.',
    'path.id': 'ID or client ID of the OAuth client.',
    binding_id: 'ID of the trust binding.',
    'TrustBindingsTest.binding_id': 'The binding that an exchange would use. `null` if none.',
    name: 'Display name.',
    provider:
      'Platform of the workload. It decides which part of the conditions must be literal, and presets the issuer if there is only one.',
    issuer: 'The `iss` of the tokens, exactly. Its OpenID Connect discovery document must be reachable over https at a public address.',
    audience:
      'A value that the `aud` of the tokens must contain. Defaults to `service:api`, which every workspace shares; `service:api:` and your slug is better.',
    subject:
      'Pattern for the `sub` of the tokens. `*` matches any run of characters except `:` and `/`, `**` any run of any character. `null` if claims say whose tokens are trusted.',
    claims:
      'Patterns by claim; all must match. A list of patterns is met by any of them. Nested claims are joined by dots, names with dots are quoted: `["kubernetes.io"].namespace`.',
    scopes: "What exchanged tokens may do: a subset of the client's allowed scopes.",
    ttl_seconds: 'How long exchanged tokens live, from 300 to 3600 seconds. Defaults to 3600.',
    single_use:
      'Whether each token can be exchanged only once. Defaults to `true` for GitHub Actions and to `false` for others, whose tokens are shared files or cached.',
    enabled: 'Whether tokens are accepted.',
    use_count: 'How many tokens were exchanged.',
    last_used_at: 'When a token was last exchanged. `null` if never.',
    subject_token: 'The token of the workload.',
    accepted: 'Whether an exchange would succeed now.',
    problem: 'Why the token is refused whatever the bindings say. `null` if it is sound.',
    signature_valid: "Whether the issuer's keys confirm the signature. `null` if that couldn't be checked.",
    'TrustBindingsTest.issuer': 'The `iss` of the token.',
    'TrustBindingsTest.subject': 'The `sub` of the token.',
    audiences: 'The `aud` of the token.',
    expires_at: 'When the token expires.',
    bindings: 'Every binding of the client with its conditions.',
    matches: 'Whether it is met.',
    conditions: 'What the binding asks for, one by one.',
    claim: 'The claim that a condition is about.',
    expected: 'Patterns, any of which must match.',
    actual: 'What the token has.',
  },
  examples: {
    id: EXAMPLE_ID,
    binding_id: EXAMPLE_ID,
    name: 'Deploy from main',
    provider: 'github_actions',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: 'service:api:acme',
    subject: 'repo:acme/app:ref:refs/heads/main',
    claims: { repository_owner_id: '1234567' },
    scopes: ['routes:read', 'routes:write'],
    ttl_seconds: 900,
    single_use: true,
    use_count: 42,
    last_used_at: EXAMPLE_TIME,
    subject_token:
      'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwczovL3Rva2VuLmFjdGlvbnMuZ2l0aHVidXNlcmNvbnRlbnQuY29tIn0.c2lnbmF0dXJl',
    accepted: true,
    problem: null,
    signature_valid: true,
    audiences: ['service:api:acme'],
    expires_at: EXAMPLE_TIME,
    matches: true,
    claim: 'sub',
    expected: ['repo:acme/app:ref:refs/heads/main'],
    actual: ['repo:acme/app:ref:refs/heads/main'],
    'request.audience': 'service:api:acme',
    'request.subject': 'repo:acme/app:ref:refs/heads/main',
    'request.claims': { repository_owner_id: '1234567' },
    'request.ttl_seconds': 900,
  },
};
