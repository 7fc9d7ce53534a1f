import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';

const credential: Sample = async () => ({
  provider: 'Stripe',
  name: fresh('WRAPPED').replaceAll('-', '_'),
  value: fresh('a key nobody may see'),
  hosts: ['api.stripe.com'],
});
const secretId: Sample = async (ctx) => ({ secret_id: (await made(ctx, 'wrap.create_credential', await credential(ctx))).secret_id });
const token: Sample = async (ctx) => ({ secret: (await secretId(ctx)).secret_id });

export const samples: Record<string, Sample> = {
  'wrap.list_credentials': nothing,
  'wrap.create_credential': credential,
  'wrap.get_credential': secretId,
  'wrap.update_credential': async (ctx) => ({ ...(await secretId(ctx)), provider: 'other' }),
  'wrap.delete_credential': secretId,
  'wrap.list_tokens': nothing,
  'wrap.create_token': token,
  'wrap.delete_token': idOf('wrap.create_token', token),
  'wrap.test_call': async () => ({ url: 'https://api.upstream.example/', dry_run: true }),
};

/** Hosts are judged by lists of public suffixes and of our own names; keys and tokens by the space and by what exists. */
export const dependsOnState = [
  /^hosts\.\d+: (?:must be a hostname|belongs to)/,
  /^value: is a/,
  /^style: subdomain is not/,
  /^host: (?:is required|must be one)/,
  /^secret: (?:no such|.* is not a wrap credential)/,
];

/** What a person types into a call may be a credential. */
export const secretInput = { 'wrap.create_credential': ['value'], 'wrap.test_call': ['encrypted', 'headers[].value'] };
export const moving: Fixture['moving'] = {
  'wrap.update_credential': {
    edits: { hosts: async (ctx) => ({ ...(await secretId(ctx)), hosts: ['api.stripe.com', 'collect.example.com'] }) },
  },
};
export const needsGateway = ['wrap.test_call'];
export const shownOnce = { 'wrap.create_token': ['base_url', 'token'] };

export const harmless = {
  // Where a value goes is judged as a move of it.
  'wrap.update_credential': ['provider', 'hosts', 'header_name', 'value_prefix', 'value'],
};
