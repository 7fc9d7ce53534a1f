import assert from 'node:assert/strict';
import test from 'node:test';
import { compilePattern } from '#server/ai/patterns/compile.ts';
import { openMail } from '#server/domain/mail/service.ts';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { workspace } from '#server/testing/workspace.ts';
import { definitionOf, ended, runsOf, started, stored, working } from '../engine/running.fixture.ts';
import { newMeter } from '../expressions/meter.shared.ts';
import { matchesPattern } from './matching.ts';

await ownDatabase();
working();

const mail = (config: Record<string, unknown>) =>
  definitionOf({ m: ['email', { subject: 'Order {{trigger.data.n}}', text: 'Hello\n{{trigger.data.n}}', ...config }] }, ['trigger>m']);

test('a mail goes to each recipient once, sealed at rest, with the address to answer to', async () => {
  const { live } = await workspace();
  const [a, b] = [`${fresh('a')}@example.com`, `${fresh('b')}@example.com`];
  const id = await started(live, await stored(live, mail({ to: ['{{trigger.data.to}}', b], replyTo: 'team@example.com' })), {
    n: 7,
    to: a,
  });
  assert.equal((await ended(id)).status, 'completed');
  const mails = await db().mails.findMany({ where: { recipient: { in: [a, b] } } });
  assert.deepEqual(
    mails.map(({ subject, text, reply_to, kind }) => [subject, text, reply_to, kind]),
    Array(2).fill(['Order 7', '', 'team@example.com', 'workflow']),
  );
  assert.deepEqual(
    mails.map((one) => openMail(one).text),
    ['Hello\n7', 'Hello\n7'],
  );
  const [run] = (await runsOf(live, id)).filter(({ node_id }) => node_id === 'm');
  assert.deepEqual((run?.output as { accepted: string[] } | undefined)?.accepted, [a, b]);
});

test('from Test mail goes to members of the workspace only', async () => {
  const w = await workspace();
  const now = new Date();
  const user = await db().$transaction(async (tx) => {
    const person = await createUser(tx, {
      email: `${fresh('me')}@example.com`,
      full_name: 'Me',
      password_hash: null,
      email_verified: true,
      now,
    });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: person.id, role: 'owner', source: 'signup', now });
    return person;
  });
  const id = await started(w.test, await stored(w.test, mail({ to: ['stranger@example.org', user.email] })), { n: 1 });
  await ended(id);
  const [run] = (await runsOf(w.test, id)).filter(({ node_id }) => node_id === 'm');
  assert.deepEqual((run?.output as { accepted: string[] } | undefined)?.accepted, [user.email]);
  assert.equal(await db().mails.count({ where: { recipient: 'stranger@example.org' } }), 0);
});

test('on the Free plan mail goes to members only: publishing says so, and a step that names somebody else sends none', async () => {
  const w = await workspace({ plan: 'free' });
  const now = new Date();
  const email = `${fresh('member')}@example.com`;
  await db().$transaction(async (tx) => {
    const person = await createUser(tx, { email, full_name: 'Me', password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: person.id, role: 'owner', source: 'signup', now });
  });
  const stranger = `${fresh('stranger')}@example.org`;
  for (const to of [stranger, [email, stranger], `${email}, ${stranger}`]) {
    const created = await made(w.live, 'workflows.create', { name: fresh('flow'), definition: mail({ to }), enabled: true });
    assert.equal(created.enabled, false, String(to));
    const refused = { type: 'invalid_definition', message: new RegExp(`to: On the Free plan.*${stranger}`) };
    await assert.rejects(made(w.live, 'workflows.update', { id: created.id, enabled: true }), refused);
    await assert.rejects(made(w.live, 'workflows.execute', { id: created.id }), refused);
    await made(w.live, 'workflows.delete', { id: created.id });
  }
  assert.equal(
    (await made(w.live, 'workflows.create', { name: fresh('flow'), definition: mail({ to: email }), enabled: true })).enabled,
    true,
  );
  // What only the run knows, and what was published on another plan.
  for (const to of ['{{trigger.data.to}}', [email, stranger]]) {
    const run = await ended(await started(w.live, await stored(w.live, mail({ to })), { n: 1, to: stranger }));
    assert.deepEqual([run.status, run.error_code], ['failed', 'plan_feature']);
    assert.match(run.error_message ?? '', /Invite them, or upgrade the plan/);
  }
  assert.equal(await db().mails.count({ where: { recipient: { in: [email, stranger] } } }), 0);
  const run = await ended(await started(w.live, await stored(w.live, mail({ to: '{{trigger.data.to}}' })), { n: 1, to: email }));
  assert.deepEqual([run.status, await db().mails.count({ where: { recipient: email } })], ['completed', 1]);
});

test('what is no address, or more than ten, is refused, and no header can be smuggled in', async () => {
  const { live } = await workspace();
  for (const to of [
    'a@example.com\r\nBcc: b@example.com',
    'a@@example.com',
    '"a"@example.com',
    Array(11)
      .fill(0)
      .map((_, i) => `a${i}@example.com`),
    'a@example.com <b@example.com>',
  ]) {
    const id = await started(live, await stored(live, mail({ to: '{{trigger.data.to}}' })), { n: 1, to });
    assert.equal((await ended(id)).error_code, 'invalid_config', String(to));
  }
});

test('without a provider a text message of Live fails, and one of Test is still only logged', async () => {
  const w = await workspace();
  const definition = definitionOf({ s: ['sms', { to: '+491701234567', text: 'x' }] }, ['trigger>s']);
  assert.equal((await ended(await started(w.live, await stored(w.live, definition)))).error_code, 'invalid_config');
  assert.equal((await ended(await started(w.test, await stored(w.test, definition)))).status, 'completed');
});

test('a request to our own addresses is refused: a run could start itself by it', async () => {
  const { live } = await workspace();
  for (const url of [`http://acme.localhost:${env.PORT}/x`, env.PUBLIC_HOOKS_URL]) {
    const id = await started(live, await stored(live, definitionOf({ a: ['http_request', { method: 'GET', url }] }, ['trigger>a'])));
    assert.equal((await ended(id)).error_code, 'recursion_blocked', url);
  }
});

test('what a webhook answers is what set_response was given, and its run says which', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    { r: ['set_response', { status: 201, headers: { 'x-n': '{{trigger.data.n}}' }, body: { n: '{{trigger.data.n}}' } }] },
    ['trigger>r'],
    { triggerType: 'webhook', mode: 'sync' },
  );
  const id = await started(live, await stored(live, definition), { n: 9 });
  const execution = await ended(id);
  const run = (await runsOf(live, id)).find(({ node_id }) => node_id === 'r');
  assert.deepEqual([execution.response_run, run?.input], [run?.id, { status: 201, headers: { 'x-n': '9' }, body: { n: 9 } }]);
});

test('patterns are those of RE2, and hostile ones take linear time', async () => {
  const matches = (pattern: string, text: string) => matchesPattern(pattern, text, newMeter(), 'workspace');
  assert.deepEqual([await matches('^a+$', 'aaa'), await matches('^$', 'a'), await matches('b', 'abc')], [true, false, true]);
  for (const pattern of ['(?=a)', '(a)\\1', '(', 'a{1001}'])
    await assert.rejects(matches(pattern, 'a'), { name: 'LinearMismatch' }, pattern);
  for (const pattern of ['(a+)+$', '(a|a)*b', '(.*a){20}', '([a-z]+)*[0-9]$'])
    await assertGrowsLinearly(
      pattern,
      60_000,
      (size) => `${'a'.repeat(size)}!`,
      (text) => void compilePattern(pattern).test(text),
    );
});

test('what decides, builds or waits: what each type gives, by which handle it leaves, and how it fails', async () => {
  const { live } = await workspace();
  const over = (n: number) => ({ mode: 'expression', expression: `trigger.data.n > ${n}` });
  const routes = [
    { id: 'a', ...over(1) },
    { id: 'b', ...over(0) },
  ];
  const rule = (left: unknown, operator: string, right: unknown) => ({ mode: 'rules', rules: { rules: [{ left, operator, right }] } });
  const cases: [string, Record<string, unknown>, n: number, output: unknown, taken: string[]][] = [
    ['condition', over(1), 2, { result: true }, ['true']],
    ['condition', over(1), 1, { result: false }, ['false']],
    ['condition', rule('{{trigger.data.text}}', 'matches', '^a+$'), 1, { result: true }, ['true']],
    ['condition', rule('{{trigger.data.text}}', 'matches', '(a)\\1'), 1, 'invalid_config', []],
    ['condition', rule('x', 'resembles', 'y'), 1, 'invalid_config', []],
    ['condition', { mode: 'expression', expression: 'trigger.data ==' }, 1, 'invalid_config', []],
    ['router', { routes }, 2, { matched: ['a'] }, ['a']],
    ['router', { match: 'all', routes }, 2, { matched: ['a', 'b'] }, ['a', 'b']],
    ['router', { match: 'all', routes }, 0, { matched: [] }, ['default']],
    ['router', { routes: [{ id: 'a', ...rule(1, 'resembles', 1) }] }, 1, 'invalid_config', []],
    ['code', {}, 3, { n: 3 }, ['out']],
    ['code', { code: 'return 1' }, 3, 'invalid_config', []],
    ['transform', { fields: { twice: ['{{trigger.data.n}}', 'n={{trigger.data.n}}'] } }, 3, { twice: [3, 'n=3'] }, ['out']],
    ['transform', { template: '{{' }, 3, 'invalid_config', []],
    ['loop', { items: '{{trigger.data.n}}' }, 3, 'invalid_config', []],
    ['delay', { until: '{{trigger.data.text}}' }, 3, 'invalid_config', []],
    ['delay', { amount: -1, unit: 'days' }, 3, 'invalid_config', []],
    ['set_response', { status: 999 }, 3, 'invalid_config', []],
    ['set_response', { status: '{{trigger.data.n}}' }, 204, {}, ['out']],
  ];
  for (const [type, config, n, output, taken] of cases) {
    const handles = ['true', 'false', 'a', 'b', 'default', 'out'];
    const after = Object.fromEntries(handles.map((handle) => [`by_${handle}`, ['transform', { template: 1 }] as [string, object]]));
    const edges = handles.map((handle) => `n:${handle}>by_${handle}`);
    const definition = definitionOf({ n: [type, config], ...after } as never, ['trigger>n', ...edges]);
    const id = await started(live, await stored(live, definition), { n, text: 'aaa' });
    await ended(id);
    const runs = await runsOf(live, id);
    const run = runs.find(({ node_id }) => node_id === 'n');
    const what = JSON.stringify([type, config, n, run?.error_message]);
    if (typeof output === 'string') assert.deepEqual([run?.status, run?.error_code], ['failed', output], what);
    else if (type !== 'code') assert.deepEqual([run?.status, run?.output], ['succeeded', output], what);
    else assert.deepEqual([run?.status, (run?.output as { data?: unknown })?.data], ['succeeded', { n, text: 'aaa' }], what);
    const by = runs
      .filter(({ node_id, status }) => node_id.startsWith('by_') && status === 'succeeded')
      .map(({ node_id }) => node_id.slice(3));
    assert.deepEqual(by.sort(), taken, what);
  }
});
