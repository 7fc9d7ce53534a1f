import assert from 'node:assert/strict';
import test from 'node:test';
import { MOST_ENTRIES } from '#server/crypto/pki/crl.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { signCrl } from './crls.ts';

await ownDatabase();

test('a list of the most certificates is signed, and one that would leave a certificate out is not signed at all', async () => {
  const { live } = await workspace();
  const { root } = await made(live, 'pki.create_root', { name: 'large', subject: { CN: 'Large' } });
  await made(live, 'pki.create_role', { name: 'large', role_name: 'any', allowed_domains: ['*'] });
  await made(live, 'pki.issue', { name: 'large', role: 'any', subject: { CN: 'a.example' } });
  const issuer: string = root.intermediate.id;
  const sign = (minutes: number) => {
    const ctx = { ...live, now: new Date(live.now.getTime() + minutes * 60_000) };
    return inTransaction(ctx, (tx) => signCrl(tx, ctx, issuer));
  };
  const revoke = (from: number, to: number) => db().$executeRaw`
    insert into pki_certificates (id, ca_root_id, intermediate_id, tenant_id, sandbox, role_name, serial_hex, subject, san_dns, san_ip, certificate,
      fingerprint_sha256, not_before, not_after, revoked_at, revocation_reason, source, issued_by)
    select gen_random_uuid(), ca_root_id, intermediate_id, tenant_id, sandbox, role_name, '7' || lpad(to_hex(n), 31, '0'), 'CN=x', '{}', '{}', ''::bytea,
      '', not_before, not_after, now(), 'superseded', source, issued_by
    from pki_certificates, generate_series(${from}::int, ${to}::int) n where intermediate_id = ${issuer}::uuid and fingerprint_sha256 <> '' limit ${to - from + 1}::int`;
  assert.equal(await revoke(1, MOST_ENTRIES), MOST_ENTRIES);
  assert.equal(await sign(1), true);
  const list = await db().pki_crls.findUniqueOrThrow({ where: { id: issuer } });
  assert.equal(list.entries, MOST_ENTRIES);

  await revoke(MOST_ENTRIES + 1, MOST_ENTRIES + 1);
  await assert.rejects(sign(2), /at most 100,000 certificates/);
  const after = await db().pki_crls.findUniqueOrThrow({ where: { id: issuer }, omit: { der: true } });
  assert.deepEqual([after.number, after.entries], [list.number, MOST_ENTRIES], 'the last complete list stays');
});
