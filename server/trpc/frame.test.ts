import assert from 'node:assert/strict';
import test from 'node:test';
import { provisionTenant } from '#server/domain/operator/service.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { entrance } from './frame.ts';

await ownDatabase();

test('the front door leads to sign-up on a fresh installation, and to sign-in once there is anybody', async () => {
  assert.equal(await entrance(), '/signup');
  await provisionTenant({ slug: 'front-door', owner_email: 'dana@example.com' });
  assert.equal(await entrance(), '/signin');
});
