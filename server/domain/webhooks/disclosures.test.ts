import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { asPerson, enrolled, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { answering, webhookTo } from './receiver.fixture.ts';

await testDatabase();

const BODIES = [{ include_request_body: true }, { include_response_body: true }, { include_headers: true }];
const CALLS = { event_types: ['request.completed'] };
const DENIED = { type: 'role_denied', status: 403 };

for (const space of ['live', 'test'] as const) {
  test(`an Editor has neither captured payloads nor details of audit entries sent to a host of theirs (${space})`, async () => {
    const w = await workspace();
    const editor = w.member('editor', space);
    const { url } = await answering(200);
    for (const part of BODIES) await assert.rejects(webhookTo(editor, url, { ...CALLS, ...part }), DENIED);
    await assert.rejects(webhookTo(editor, url, { event_types: ['audit.event'] }), DENIED);
    const plain = await webhookTo(editor, url, CALLS);
    assert.equal((await made(editor, 'webhooks.get', { id: plain.id })).include_request_body, false, 'what is left out sends no body');
    for (const part of [...BODIES, { event_types: ['audit.event'] }])
      await assert.rejects(made(editor, 'webhooks.update', { id: plain.id, ...part }), DENIED);
    const theirs = await webhookTo(w.ctx(space), url, { ...CALLS, include_request_body: true });
    await assert.rejects(made(editor, 'webhooks.update', { id: theirs.id, url: 'http://127.0.0.1:65002/hooks' }), DENIED);
    await made(editor, 'webhooks.update', { id: theirs.id, include_request_body: false, name: 'sends less' });
  });

  test(`an Owner confirms that payloads are sent, and details while the workspace withholds them (${space})`, async () => {
    const w = await workspace();
    const owner = w.member('owner', space);
    const who = await asPerson(owner);
    const { url } = await answering(200);
    const bodies = { ...CALLS, include_request_body: true };
    await assert.rejects(webhookTo(owner, url, bodies), { type: 'mfa_required' });
    await enrolled(who.user_id);
    await assert.rejects(webhookTo(owner, url, bodies), { type: 'step_up_required' });
    await verified(who, 'capability.grant');
    const { id } = await webhookTo(owner, url, bodies);
    await made(owner, 'webhooks.update', { id, include_response_body: true });
    for (const receiver of [
      { url: 'http://127.0.0.1:65002/hooks' },
      { url: `${url}/of-somebody-else` },
      { request_headers: { 'X-Key': 'of another account' } },
      { auth_type: 'bearer', auth_config: { token: 'of another account' } },
    ])
      await assert.rejects(made(owner, 'webhooks.update', { id, ...receiver }), { type: 'step_up_required' });
    const audit = { event_types: ['audit.event'] };
    await webhookTo(owner, url, audit);
    await made(owner, 'account.update_settings', { details_withheld: true });
    await assert.rejects(webhookTo(owner, url, audit), { type: 'step_up_required' });
  });

  test(`a client that may not list audit entries has none sent (${space})`, async () => {
    const w = await workspace();
    const { url } = await answering(200);
    const ctx = w.ctx(space);
    const capabilities = new Set([...ctx.actor.capabilities].filter((one) => one !== 'audit_log:list'));
    const narrow = { ...ctx, actor: { ...ctx.actor, capabilities } };
    await assert.rejects(webhookTo(narrow, url, { event_types: ['audit.event'] }), { type: 'forbidden', message: /audit_logs:read/ });
    await webhookTo(ctx, url, { event_types: ['audit.event'] });
  });
}
