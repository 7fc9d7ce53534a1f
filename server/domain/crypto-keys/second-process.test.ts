import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

test('another process that had a version opened refuses it from the moment it is destroyed, and soon holds it no more', async () => {
  const { live, tenant } = await workspace();
  const name = 'shared';
  await made(live, 'crypto_keys.create', { name });
  await made(live, 'crypto_keys.rotate', { name });
  await made(live, 'crypto_keys.update', { name, deletion_allowed: true });
  const other = fork(new URL('./second-process.fixture.ts', import.meta.url));
  onFileEnd(async () => {
    other.kill();
    await once(other, 'exit');
  });
  await once(other, 'message');
  const use = async (version: number): Promise<{ outcome: string; held: number }> => {
    other.send({ tenant_id: tenant.id, name, version });
    return (await once(other, 'message'))[0];
  };
  assert.equal((await use(1)).outcome, 'opened');
  assert.equal((await use(2)).outcome, 'opened');
  await made(live, 'crypto_keys.destroy_version', { name, n: '1' });
  assert.equal((await use(1)).outcome, 'key_version_destroyed', 'at once: the state is read with every use');
  await until(async () => (await use(2)).held <= 1, 'the material is held no more');
  await made(live, 'crypto_keys.delete', { name });
  assert.equal((await use(2)).outcome, 'not_found');
});
