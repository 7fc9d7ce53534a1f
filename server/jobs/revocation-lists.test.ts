import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startWorker } from './worker.ts';

await ownDatabase();

test('a list names a revoked certificate as soon as a worker runs, also one revoked before any worker ran', async (t) => {
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
  const entries = (n: number) =>
    until(
      async () => (await db().pki_crls.findUniqueOrThrow({ where: { id: root.intermediate.id } })).entries === n,
      `the list names ${n} certificates`,
    );
  await revoked();
  await db().pki_crls.updateMany({ where: { id: root.intermediate.id }, data: { stale_since: new Date(Date.now() - 15_000) } });
  const first = startWorker();
  await first.started;
  await entries(1);
  await first.stop(60_000);
  await revoked();
  const { rows } = await sql().query('select run_at <= now() as due from graphile_worker.jobs where key = $1', [
    `sign_crl:${root.intermediate.id}`,
  ]);
  assert.deepEqual(rows, [{ due: true }], 'its list is signed at once');
  const second = startWorker();
  t.after(() => second.stop(60_000));
  await entries(2);
});
