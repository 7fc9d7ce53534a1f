import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startWorker } from './worker.ts';

await ownDatabase();

test('a list names a revoked certificate within five seconds, and one revoked before any worker ran as soon as one does', async (t) => {
  const { live } = await workspace();
  const { root } = await made(live, 'pki.create_root', { name: 'corp', subject: { CN: 'Acme' } });
  await made(live, 'pki.create_role', { name: 'corp', role_name: 'r', allowed_domains: ['example.com'] });
  const revoked = async () => {
    const { serial_hex } = await made({ ...live, now: new Date() }, 'pki.issue', {
      name: 'corp',
      role: 'r',
      subject: { CN: 'example.com' },
    });
    await made({ ...live, now: new Date() }, 'pki.revoke', { name: 'corp', serial_hex });
  };
  const entries = async (n: number) => {
    for (let i = 0; i < 150; i++) {
      const crl = await db().pki_crls.findUniqueOrThrow({ where: { id: root.intermediate.id } });
      if (crl.entries === n) return;
      await sleep(100);
    }
    assert.fail(`the list does not name ${n} certificates`);
  };
  await revoked();
  await db().pki_crls.updateMany({ where: { id: root.intermediate.id }, data: { stale_since: new Date(Date.now() - 15_000) } });
  const worker = startWorker();
  t.after(() => worker.stop(5_000));
  await worker.started;
  await entries(1);
  const began = Date.now();
  await revoked();
  await entries(2);
  assert.ok(Date.now() - began < 5_000, `${Date.now() - began} ms`);
});
