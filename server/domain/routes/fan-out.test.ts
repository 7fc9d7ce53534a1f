import assert from 'node:assert/strict';
import test from 'node:test';
import { madeCertificate } from '#server/domain/secrets/certificates/certificate.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

type Environment = { environment_name: string; mtls_certificate_id: string | null; overridden_fields: string[] };
type Route = { id: string; slug: string; collection_id: string | null };

test('a client certificate reaches every environment of a route, one with another of its own too, and is taken from all of them', async () => {
  const { live } = await workspace();
  const certificate = async () => {
    const { certificate_pem: certificate_content, private_key_pem: private_key } = await madeCertificate();
    return (await made(live, 'secrets.create_certificate', { name: fresh('C').replaceAll('-', '_'), certificate_content, private_key })).id;
  };
  const [first, second] = [await certificate(), await certificate()];
  await made(live, 'environments.create', { name: 'staging' });
  const route = (await made(live, 'routes.create', { name: fresh('route'), target_base_url: 'https://api.example.com' })) as Route;
  await made(live, 'routes.environments.put', { id: route.id, env: 'staging', mtls_certificate_id: second });
  const shown = async () =>
    ((await made(live, 'routes.get', { id: route.id })) as unknown as { environments: Environment[] }).environments.map(
      ({ environment_name, mtls_certificate_id }) => [environment_name, mtls_certificate_id],
    );
  assert.deepEqual(await shown(), [
    ['production', null],
    ['staging', second],
  ]);
  await made(live, 'routes.update', { id: route.id, mtls_certificate_id: first });
  assert.deepEqual(await shown(), [
    ['production', first],
    ['staging', first],
  ]);
  await made(live, 'routes.update', { id: route.id, mtls_certificate_id: null });
  assert.deepEqual(await shown(), [
    ['production', null],
    ['staging', null],
  ]);
});

test('a member of a collection keeps its slug and its collection when it is renamed, and drifts by nothing', async () => {
  const { live } = await workspace();
  const { id } = await made(live, 'collections.create', { name: 'Payments' });
  const route = (await made(live, 'routes.create', {
    ...{ name: 'Charges', target_base_url: 'https://api.example.com', collection_id: id },
  })) as Route;
  assert.equal(route.slug, 'payments-charges');
  const renamed = (await made(live, 'routes.update', { id: route.id, name: 'Refunds' })) as Route;
  assert.deepEqual([renamed.slug, renamed.collection_id], ['payments-charges', id]);
  await made(live, 'collections.update', { id, name: 'Money' });
  assert.equal(((await made(live, 'routes.get', { id: route.id })) as Route).slug, 'payments-charges');
  const [status] = (await made(live, 'collections.sync_status', { id })) as unknown as { in_sync: boolean }[];
  assert.equal(status?.in_sync, true);
});
