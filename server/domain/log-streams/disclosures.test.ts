import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { asPerson, enrolled, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startCollector } from './collector.fixture.ts';

await testDatabase();

const MOVED = 'http://127.0.0.1:65002/in';

for (const space of ['live', 'test'] as const) {
  test(`an Admin confirms that the audit log is sent while its details are withheld, and where to (${space})`, async () => {
    const w = await workspace();
    const { url } = await startCollector();
    const sent = (ctx: Ctx, source: string, endpoint = url) =>
      made(ctx, 'log_streams.create', { name: fresh('siem'), source, kind: 'https', endpoint });
    await made(w.member('owner', space), 'account.update_settings', { details_withheld: true });
    const admin = w.member('admin', space);
    const who = await asPerson(admin);
    await assert.rejects(sent(admin, 'audit'), { type: 'mfa_required' });
    await enrolled(who.user_id);
    await assert.rejects(sent(admin, 'audit'), { type: 'step_up_required' });
    const calls = await sent(admin, 'requests');
    await made(admin, 'log_streams.update', { id: calls.id, endpoint: MOVED });

    await verified(who, 'capability.grant');
    const { id } = await sent(admin, 'audit');
    await made(admin, 'log_streams.update', { id, name: 'under another name' });
    await assert.rejects(made(admin, 'log_streams.update', { id, endpoint: MOVED }), { type: 'step_up_required' });
    for (const receiver of [{ endpoint: `${url}/of-somebody-else` }, { headers: { 'X-Key': 'of another account' } }])
      await assert.rejects(made(admin, 'log_streams.update', { id, ...receiver }), { type: 'step_up_required' });
    await verified(who, 'capability.grant');
    await made(admin, 'log_streams.update', { id, endpoint: MOVED });
  });

  test(`who is denied the details of audit entries by a policy has none sent (${space})`, async () => {
    const w = await workspace();
    const { url } = await startCollector();
    const siem = { name: fresh('siem'), kind: 'https', endpoint: url };
    const denies = { id: newId(), tenant_id: w.tenant.id, name: 'No details', subjects: { all: true }, resources: [] };
    await db().tenant_policies.create({ data: { ...denies, actions: ['audit_log:read_details'] } });
    await assert.rejects(made(w.member('admin', space), 'log_streams.create', { ...siem, source: 'audit' }), {
      type: 'role_denied',
      message: /No details/,
    });
    await made(w.member('admin', space), 'log_streams.create', { ...siem, source: 'requests' });
  });
}
