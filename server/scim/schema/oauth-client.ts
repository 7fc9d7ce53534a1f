import { attribute, ID, META, type ResourceType, SCHEMAS, type Schema } from './attribute.ts';

// The attributes of an OAuth client (interface rule 23 §4, §7).

export const OAUTH_CLIENT_URN = 'urn:service:scim:2.0:OAuthClient';

const readOnly = { caseExact: true, mutability: 'readOnly' } as const;
const list = { caseExact: true, multiValued: true } as const;

const schema: Schema = {
  id: OAUTH_CLIENT_URN,
  name: 'OAuthClient',
  description: 'An application that asks for access tokens of the workspace.',
  attributes: [
    attribute('clientName', 'Name of the client.', { required: true, maxLength: 100 }),
    attribute('clientId', 'The client_id that the client presents.', { ...readOnly, returned: 'always', uniqueness: 'server' }),
    attribute('clientType', 'Always confidential for a client that SCIM creates.', {
      ...readOnly,
      canonicalValues: ['confidential', 'public'],
    }),
    attribute('grantTypes', 'How the client may get tokens. Set at creation.', { ...readOnly, multiValued: true }),
    attribute('allowedScopes', 'The most that its tokens may be allowed.', list),
    attribute('redirectUris', 'Where people return to after they gave consent.', {
      ...list,
      type: 'reference',
      referenceTypes: ['uri'],
      maxLength: 2_000,
    }),
    attribute('stepUpScopes', 'Allowed scopes that ask a person for a second factor at consent.', { ...list, filterable: false }),
    attribute('requirePkce', 'Always true.', { type: 'boolean' }),
    attribute('requireDpop', 'Whether its tokens are bound to a key of the client (RFC 9449).', { type: 'boolean' }),
    attribute('active', 'Whether the client can get and use tokens.', { type: 'boolean' }),
    attribute('client_secret', 'The secret. Only in the response that creates the client.', {
      ...readOnly,
      returned: 'request',
      filterable: false,
    }),
  ],
};

export const oauthClientType: ResourceType = {
  name: 'OAuthClient',
  description: 'OAuth clients of the workspace.',
  endpoint: '/OAuthClients',
  schema,
  extensions: [],
  common: [ID, SCHEMAS, META],
  tolerated: [],
};
