import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { startTokenServer } from '#server/custody/connections/token-server.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { madeCertificate } from './certificates/certificate.fixture.ts';
import { create } from './operations.ts';

await testDatabase();

const named = (name: string) => fresh(name).replaceAll('-', '_');

test('one call creates a secret of every type, with the rules and the answer of the call for that type', async () => {
  const tokens = await startTokenServer();
  const w = await workspace();
  const machine = { provider: 'custom', grant_type: 'client_credentials', client_id: 'an-application', client_secret: 'shh' };
  const connection = { ...machine, token_url: tokens.url, scopes: ['a', 'b'], tags: ['crm'] };
  const { certificate_pem, private_key_pem } = await madeCertificate();
  const certificate = { certificate_content: certificate_pem, private_key: private_key_pem, allowed_hosts: ['api.example.com'] };
  for (const [secret_type, direct, fields] of [
    ['oauth2', 'secrets.create_oauth2', connection],
    ['oauth2_token', 'secrets.create_oauth2', connection],
    ['certificate', 'secrets.create_certificate', certificate],
  ] as const) {
    const { output } = await perform(create, w.live, { ...fields, secret_type, name: named('ONE') });
    const other = await made(w.live, direct, { ...fields, name: named('OTHER') });
    const shown = output as Record<string, unknown>;
    for (const [field, value] of Object.entries(other as Record<string, unknown>))
      if (!['id', 'name', 'shortcode_name'].includes(field)) assert.deepEqual(shown[field], value, `${secret_type} ${field}`);
    const [one, two] = [await made(w.live, 'secrets.get', { id: output.id }), await made(w.live, 'secrets.get', { id: other.id })];
    const same = ({ secret_type, tags, allowed_hosts, connection_status, oauth2, environments }: typeof one) =>
      JSON.stringify([secret_type, tags, allowed_hosts, connection_status, oauth2?.scopes, environments[0].certificate]);
    assert.equal(same(one), same(two), secret_type);
  }
  assert.equal((await made(w.live, 'secrets.oauth2_token', { id: (await latest(w.tenant.id)).id })).access_token, 'access-4');
});

const latest = (tenant_id: string) =>
  db().secrets.findFirstOrThrow({ where: { tenant_id, secret_type: 'oauth2' }, orderBy: { id: 'desc' }, select: { id: true } });

test('what a type needs is asked for by name, and nothing of another type is lost', async () => {
  const w = await workspace();
  const name = named('X');
  for (const [raw, message] of [
    [{}, 'value: is required'],
    [{ secret_type: 'oauth2', client_id: 'a' }, 'provider: is required for oauth2 secrets'],
    [{ secret_type: 'oauth2', provider: 'github' }, 'client_id: is required for oauth2 secrets'],
    [{ secret_type: 'oauth2', provider: 'github', client_id: 'a' }, 'client_secret: is required'],
    [{ secret_type: 'certificate' }, 'certificate_content: is required for certificate secrets'],
    [{ secret_type: 'oauth2', provider: 'github', client_id: 'a', value: 'v' }, /^value: belongs to another secret type/],
    [{ secret_type: 'certificate', certificate_content: 'c', client_secret: 's' }, /^client_secret: belongs to another secret type/],
    [{ secret_type: 'certificate', certificate_content: 'c', rotate_every_days: 3 }, /^rotate_every_days: belongs to another secret type/],
    [{ value: 'v', token_url: 'https://login.example.com/token' }, /^token_url: belongs to another secret type/],
    [{ value: 'v', refresh_token: 'r' }, /^refresh_token: belongs to another secret type/],
    [{ secret_type: 'ssh', value: 'v' }, /^secret_type: /],
  ] as const)
    await assert.rejects(perform(create, w.live, { name, ...raw }), { type: 'validation_error', message });
  assert.equal(await db().secrets.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('a plan without connections refuses them here as well, and creates the other types', async () => {
  const w = await workspace({ plan: 'starter' });
  const name = named('CRM');
  await assert.rejects(perform(create, w.live, { name, secret_type: 'oauth2', provider: 'github', client_id: 'a', client_secret: 'b' }), {
    type: 'plan_feature',
    status: 402,
  });
  const { certificate_pem } = await madeCertificate();
  const { output } = await perform(create, w.live, { name, secret_type: 'certificate', certificate_content: certificate_pem });
  assert.equal(output.secret_type, 'certificate');
});
