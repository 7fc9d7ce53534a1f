import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { answeringRow } from '#server/api/reveal.ts';
import { asMember } from '#server/domain/team/members.fixture.ts';
import { expandGrants } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made, operationById } from '#server/testing/factories.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { UpdateAgent } from './schema.ts';

await testDatabase();

/** As the dashboard calls: the row that the input leads to. */
const called = async (ctx: Ctx, id: string, input: Record<string, unknown>) => {
  const at = { ...ctx, now: new Date(), warnings: [] };
  return perform(await answeringRow(operationById(id), at, input), at, input);
};

test('a wildcard grant creates no agent, one that names it does', async () => {
  const w = await workspace();
  const with_ = (...grants: string[]) => ({ ...w.live, actor: { ...w.live.actor, capabilities: expandGrants(grants) } });
  const create = operationById('agents.create');
  for (const grants of [['*:*'], ['agent:*']])
    await assert.rejects(perform(create, with_(...grants), { name: fresh('agent') }), { type: 'forbidden', status: 403 });
  assert.ok((await perform(create, with_('agent:create'), { name: fresh('agent') })).output);
});

test('control is an Editor’s to create, and intercept one who confirms; server takes an Owner who confirms, and proxy a switch too', async () => {
  const w = await workspace();
  const editor = w.member('editor', 'live');
  await asMember(editor);
  await assert.rejects(called(editor, 'agents.enrol', { name: fresh('agent'), mode: 'intercept' }), { type: 'mfa_required' });
  await enrolled(String(editor.actor.id));
  await assert.rejects(called(editor, 'agents.enrol', { name: fresh('agent'), mode: 'intercept' }), { type: 'step_up_required' });
  await verified(editor, 'capability.grant');
  for (const mode of ['control', 'intercept']) {
    const { output } = await called(editor, 'agents.enrol', { name: fresh('agent'), mode });
    assert.match((output as { agent_secret: string }).agent_secret, /^svc_as_/);
  }
  await assert.rejects(called(editor, 'agents.enrol', { name: fresh('agent'), mode: 'server' }), { type: 'reveal_role_denied' });
  const owner = w.member('owner', 'live');
  await asMember(owner);
  await assert.rejects(called(owner, 'agents.enrol', { name: fresh('agent'), mode: 'server' }), { type: 'mfa_required' });
  await assert.rejects(called(owner, 'agents.enrol', { name: fresh('agent'), mode: 'proxy' }), { type: 'validation_error' });
  const { id } = await made(w.live, 'agents.create', { name: fresh('agent') });
  await enrolled(String(owner.actor.id));
  for (const mode of ['proxy', 'server'])
    await assert.rejects(called(owner, 'agents.update', { id, mode }), { type: 'reveal_step_up_required', status: 403 });
  await assert.rejects(called(owner, 'agents.create_install_token', { id }), { type: 'reveal_step_up_required' });
  assert.equal((await db().agents.findUniqueOrThrow({ where: { id } })).mode, 'control');
  await assert.rejects(called(editor, 'agents.update', { id, mode: 'intercept' }), { type: 'step_up_required' });
  await verified(editor, 'capability.grant');
  await called(editor, 'agents.update', { id, name: fresh('renamed'), mode: 'intercept' });
});

test('revoking twice is one answer and one entry, frees the name, and keeps the history', async () => {
  const w = await workspace();
  const name = fresh('agent');
  const { id } = await made(w.live, 'agents.create', { name });
  await assert.rejects(made(w.live, 'agents.create', { name }), { type: 'conflict' });
  const answer = { deleted: true, revoked: true };
  assert.deepEqual(await made(w.live, 'agents.delete', { id }), answer);
  assert.deepEqual(await made(w.live, 'agents.delete', { id }), answer);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_type: 'agent', action: 'revoke' } }), 1);
  const again = await made(w.live, 'agents.create', { name });
  const listed = await made(w.live, 'agents.list');
  assert.deepEqual(
    listed.map((row: { id: string; connectivity: string }) => [row.id, row.connectivity]),
    [
      [again.id, 'never_connected'],
      [id, 'revoked'],
    ],
  );
  await assert.rejects(made(w.live, 'agents.send_command', { id, command: 'doctor' }), { type: 'conflict' });
});

test('the settings name only what is of this space', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'agents.create', { name: fresh('agent') });
  const editor = w.member('editor', 'live');
  const theirs = await made(w.test, 'routes.create', { name: fresh('r'), slug: fresh('r'), target_base_url: 'https://api.example.com' });
  await assert.rejects(called(editor, 'agents.update', { id, allowed_route_ids: [theirs.id] }), /doesn't exist in this space/);
  await assert.rejects(called(editor, 'agents.update', { id, environment: 'nowhere' }), /doesn't exist in this space/);
  assert.ok(!UpdateAgent.safeParse({ id, allowed_cidrs: ['not an address'] }).success);
  await called(editor, 'agents.update', { id, allowed_cidrs: ['203.0.113.9/24'] });
  assert.deepEqual((await db().agents.findUniqueOrThrow({ where: { id } })).allowed_cidrs, ['203.0.113.0/24']);
});

test('no more than ten commands wait for an agent', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'agents.create', { name: fresh('agent') });
  for (let i = 0; i < 10; i++) await made(w.live, 'agents.send_command', { id, command: 'doctor' });
  await assert.rejects(made(w.live, 'agents.send_command', { id, command: 'doctor' }), { type: 'conflict' });
});
