import { startTokenServer } from '#server/custody/connections/token-server.fixture.ts';
import { environment } from '#server/domain/environments/samples.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { oncePerFile } from '#server/testing/file-end.ts';
import { madeCertificate } from './certificates/certificate.fixture.ts';

export const secret: Sample = async () => ({ name: fresh('SECRET').replaceAll('-', '_'), value: fresh('a value nobody may see') });
export const secretId = idOf('secrets.create', secret);
/** A secret of this name; its ID. */
export const secretNamed = async (ctx: Ctx, name: string, value: string) => String((await made(ctx, 'secrets.create', { name, value })).id);
const twoValues: Sample = async (ctx) => {
  const { id } = await secretId(ctx);
  const env = (await made(ctx, 'environments.create', await environment(ctx))).name;
  await made(ctx, 'secrets.put_value', { id, value: 'second', environment: env });
  return { id, env };
};

const tokens = oncePerFile(() => startTokenServer());
/** A connection without a browser, to a token endpoint on loopback. */
const machineConnection: Sample = async () => {
  return {
    name: fresh('CRM').replaceAll('-', '_'),
    provider: 'custom',
    grant_type: 'client_credentials',
    client_id: 'an-application',
    client_secret: fresh('a client secret nobody may see'),
    token_url: (await tokens()).url,
  };
};
const consentConnection: Sample = async () => ({
  name: fresh('GITHUB').replaceAll('-', '_'),
  provider: 'github',
  client_id: 'an-application',
  client_secret: fresh('a client secret nobody may see'),
});
const connectionId = idOf('secrets.create_oauth2', machineConnection);
let certificates: ReturnType<typeof madeCertificate> | undefined;
const certificate: Sample = async () => {
  certificates ??= madeCertificate();
  const { certificate_pem, private_key_pem } = await certificates;
  return { name: fresh('PARTNER').replaceAll('-', '_'), certificate_content: certificate_pem, private_key: private_key_pem };
};
const certificateId = idOf('secrets.create_certificate', certificate);

export const samples: Record<string, Sample> = {
  'secrets.list': nothing,
  'secrets.get': secretId,
  'secrets.create': secret,
  'secrets.update': async (ctx) => ({ ...(await secretId(ctx)), description: 'changed' }),
  'secrets.delete': secretId,
  'secrets.put_value': async (ctx) => ({ ...(await secretId(ctx)), value: 'rotated' }),
  'secrets.update_environment': async (ctx) => ({
    ...(await secretId(ctx)),
    env: 'production',
    expires_at_override: '2030-01-01T00:00:00Z',
  }),
  'secrets.remove_value': twoValues,
  'secrets.restore': async (ctx) => {
    const { id } = await secretId(ctx);
    await made(ctx, 'secrets.put_value', { id, value: 'newer' });
    return { id };
  },
  'secrets.usage': secretId,
  'secrets.versions': secretId,
  'secrets.reveal': secretId,
  'secrets.create_oauth2': machineConnection,
  'secrets.oauth2_token': connectionId,
  'secrets.oauth2_authorize': idOf('secrets.create_oauth2', consentConnection),
  'secrets.update_oauth2': async (ctx) => ({ ...(await connectionId(ctx)), client_secret: fresh('another client secret') }),
  'secrets.disconnect': connectionId,
  'secrets.reconnect': connectionId,
  'secrets.create_certificate': certificate,
  'secrets.update_certificate': async (ctx) => {
    const { name: _, ...material } = await certificate(ctx);
    return { ...(await certificateId(ctx)), ...material };
  },
  'secrets.download_certificate': async (ctx) => ({ ...(await certificateId(ctx)), include_private_key: 'true' }),
  'secrets.import_env': async () => ({ content: `${fresh('A').replaceAll('-', '_')}=1\n` }),
};

export const testedElsewhere = { 'secrets.complete_oauth2': 'connections.test.ts' };
export const revealed: Fixture['revealed'] = { 'secrets.reveal': ({ value }) => [value], 'secrets.download_certificate': (text) => [text] };
export const peopleOnly = ['secrets.restore'];
export const dependsOnState = [
  /would cover hosts of everyone/,
  /no token could be fetched/,
  /needs no consent/,
  /belongs to another secret type/,
  /is required for (?:oauth2|certificate) secrets/,
  /^value: is required/,
  /^(?:certificate_content|private_key|passphrase|auth_url|token_url|client_secret|username|password|token_endpoint_auth_method|mtls_certificate_id): /,
];
export const shownOnce: Fixture['shownOnce'] = { 'secrets.oauth2_token': ['access_token'] };
export const secretInput = {
  'secrets.create': ['certificate_content', 'client_secret', 'passphrase', 'password', 'private_key', 'username', 'value'],
  'secrets.create_certificate': ['certificate_content', 'passphrase', 'private_key'],
  'secrets.create_oauth2': ['client_secret', 'password', 'username'],
  'secrets.import_env': ['content'],
  'secrets.put_value': ['value'],
  'secrets.update_certificate': ['certificate_content', 'passphrase', 'private_key'],
  'secrets.update_oauth2': ['client_secret', 'password', 'username'],
};

const pinnedSecret: Sample = async (ctx) => ({
  id: (await made(ctx, 'secrets.create', { ...(await secret(ctx)), allowed_hosts: ['api.example.com'] })).id,
});
export const moving: Fixture['moving'] = {
  'secrets.update': { edits: { allowed_hosts: async (ctx) => ({ ...(await pinnedSecret(ctx)), allowed_hosts: ['collect.example.com'] }) } },
};

/** Out of a collection, where callers of any route may name it. */
const leavingCollection = async (ctx: Ctx) => {
  const collection = await made(ctx, 'collections.create', { name: fresh('Collection') });
  const { id } = await made(ctx, 'secrets.create', { ...(await secret(ctx)), collection_id: collection.id });
  return { id, collection_id: null };
};
export const confirmedSamples: Fixture['confirmedSamples'] = { 'secrets.update protection.loosen': leavingCollection };
export const freeSamples: Fixture['freeSamples'] = {
  'secrets.update': async (ctx) => ({
    ...(await secretId(ctx)),
    collection_id: (await made(ctx, 'collections.create', { name: fresh('Collection') })).id,
  }),
};

/** One date, edited in place. */
export const unguardedEdits = ['secrets.update_environment'];

export const harmless = {
  // A value that is stored anew shows nothing of the one before.
  'secrets.put_value': [
    'value',
    'environment',
    'environment_name',
    'base_environment',
    'environment_id',
    'env',
    'client_secret',
    'access_token',
    'refresh_token',
    'username',
    'password',
    'certificate_content',
    'private_key',
    'passphrase',
    'if_match',
  ],
  // Where a value may go is judged as a move of it, its collection by `confirmOpened`, and who may store it anew may set its end.
  'secrets.update': [
    'name',
    'description',
    'collection_id',
    'expires_at',
    'strict_expiry_enforcement',
    'tags',
    'allowed_hosts',
    'rotate_every_days',
    'value',
    'client_secret',
    'access_token',
    'refresh_token',
    'username',
    'password',
    'certificate_content',
    'private_key',
    'passphrase',
  ],
  'secrets.update_certificate': ['environment', 'certificate_content', 'private_key', 'passphrase', 'certificate_type'],
  'secrets.update_environment': ['expires_at_override'],
  'secrets.update_oauth2': ['environment', 'client_secret', 'username', 'password', 'scopes'],
};

export const grantless = {
  'secrets.create': 'OAuth scopes at the provider, which the account behind the secret allows',
  'secrets.create_oauth2': 'OAuth scopes at the provider, which the account behind the secret allows',
  'secrets.update_oauth2': 'OAuth scopes at the provider, which the account behind the secret allows',
  'secrets.restore': 'an earlier value is used as the present one was',
};
