import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

for (const space of ['live', 'test'] as const)
  test(`${space}: database users that a key or its tokens minted are removed when the key is revoked or disabled, and no others`, async () => {
    const w = await workspace();
    const [key, other] = [await w.key(space), await w.key(space)];
    const mirror = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
    let number = 0;
    const lease = async (minted_by_type: string, minted_by_id: string) => {
      number += 1;
      const at = new Date();
      const end = new Date(at.getTime() + 3_600_000);
      const { id } = await db().dyn_db_leases.create({
        data: {
          ...{ id: newId(), number, tenant_id: w.tenant.id, sandbox: space === 'test', connection_id: newId(), role_id: newId() },
          ...{ connection_name: 'c', role_name: 'r', engine: 'postgres', execution_mode: 'direct', username: `u${number}` },
          ...{ status: 'active', phase: 'none', ttl_seconds: 3_600, issued_at: at, expires_at: end, max_expires_at: end, renewable: true },
          ...{ minted_by_type, minted_by_id, minted_by_label: 'x' },
        },
      });
      return id;
    };
    const [ofKey, ofToken, ofOther] = [
      await lease('api_key', key.row.id),
      await lease('oauth_client', mirror.id),
      await lease('api_key', other.row.id),
    ];
    const phases = async () =>
      Promise.all([ofKey, ofToken, ofOther].map(async (id) => (await db().dyn_db_leases.findUniqueOrThrow({ where: { id } })).phase));
    await db().api_keys.update({ where: { id: key.row.id }, data: { name: 'renamed' } });
    assert.deepEqual(await phases(), ['none', 'none', 'none']);
    await db().api_keys.update({ where: { id: key.row.id }, data: { active: false } });
    assert.deepEqual(await phases(), ['revoking', 'revoking', 'none']);
    await db().api_keys.update({ where: { id: other.row.id }, data: { revoked_at: new Date() } });
    assert.deepEqual(await phases(), ['revoking', 'revoking', 'revoking']);
    await db().dyn_db_leases.deleteMany({ where: { tenant_id: w.tenant.id } });
  });
