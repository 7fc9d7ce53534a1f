import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { type DomainEvent, raise } from '#server/domain/events/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { readAuditEntries } from './audit-feed.ts';
import { INBOX_EVENTS, noticeOfEvent } from './event-notices.ts';
import { member } from './members.fixture.ts';
import { tellNews } from './news.ts';
import { INBOX_CHANNEL, inboxChannel, pruneNotifications } from './service.ts';
import { writeNotices } from './writing.ts';

await ownDatabase();

const disabled = (id = newId()): DomainEvent => ({
  type: 'webhook.disabled',
  source_id: id,
  data: { webhook_id: id, webhook_name: 'orders', host: 'hooks.example.com', reason: 'gone' },
});
const titles = async (ctx: Ctx, input: Record<string, unknown> = {}): Promise<string[]> =>
  (await made(ctx, 'notifications.list', input)).map((one: { title: string }) => one.title);
/** Reads up to what is written now. An open transaction anywhere on the database server holds the feed back, those of other test files too. */
async function readAll(): Promise<void> {
  const { _max } = await db().audit_logs.aggregate({ _max: { seq: true } });
  await until(async () => {
    await readAuditEntries(db(), new Date());
    const feed = await db().notification_feed.findFirstOrThrow();
    return feed.position >= (_max.seq ?? 0n);
  });
}

test('an event reaches the inboxes of those it concerns by the delivery engine, once however often it is delivered', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const [owner, editor, viewer, stranger] = [
    await member(w, 'owner'),
    await member(w, 'editor'),
    await member(w, 'viewer'),
    await member(other, 'owner'),
  ];
  await inTransaction(w.live, (tx) => raise(tx, w.live, [disabled()]));
  await inTransaction(w.test, (tx) => raise(tx, w.test, [disabled()]));
  const engine = startDeliveries({ [INBOX_CHANNEL]: inboxChannel() }, { pauseMs: 50 });
  try {
    await until(async () => (await titles(owner.ctx())).length === 2);
    const events = await db().events.findMany({ where: { tenant_id: w.tenant.id }, select: { id: true } });
    await db().deliveries.updateMany({
      where: { event_id: { in: events.map(({ id }) => id) } },
      data: { state: 'pending', attempts: 0, finished_at: null, next_attempt_at: new Date() },
    });
    const sent = () => db().deliveries.count({ where: { event_id: { in: events.map(({ id }) => id) }, state: 'succeeded' } });
    await until(async () => (await sent()) === 2);
  } finally {
    await engine.stop();
  }
  const rows = await made(owner.ctx(), 'notifications.list', {});
  assert.deepEqual(rows.map((one: { space: string; link: string }) => [one.space, one.link.split('/')[1]]).sort(), [
    ['live', 'live'],
    ['test', 'test'],
  ]);
  assert.deepEqual([(await titles(editor.ctx())).length, await titles(viewer.ctx()), await titles(stranger.ctx())], [2, [], []]);
});

test('a reset of Test and a workspace cannot take the subscription of its inboxes away', async () => {
  const w = await workspace();
  const where = { tenant_id: w.tenant.id, channel: INBOX_CHANNEL };
  const [of] = [await db().event_subscriptions.findMany({ where })];
  assert.deepEqual(of.map((one) => one.sandbox).sort(), [false, true]);
  assert.deepEqual(of[0]?.event_types.toSorted(), INBOX_EVENTS.toSorted());
  await inTransaction(w.test, async (tx) => {
    await tx.event_subscriptions.deleteMany({ where: { tenant_id: w.tenant.id, sandbox: true } });
    await tx.event_subscriptions.updateMany({ where: { tenant_id: w.tenant.id, sandbox: true }, data: { enabled: false } });
  });
  assert.deepEqual(await db().event_subscriptions.count({ where: { ...where, enabled: true } }), 2);
});

test('every event that is subscribed to has words, also without a single member', () => {
  for (const type of INBOX_EVENTS) {
    const event = { id: newId(), type, tenant_id: newId(), sandbox: false, occurred_at: new Date() };
    const notice = noticeOfEvent({ ...event, data: {} });
    assert.ok(notice && notice.title !== '' && notice.body !== '', type);
    assert.doesNotMatch(`${notice.title} ${notice.body}`, /undefined|NaN|null/);
    assert.ok(notice.link === null || /^\/(?:live|settings)/.test(notice.link), `${type}: ${notice.link}`);
  }
});

test('what is said of an event, as its cause raises it, is whole, and its link is a page', () => {
  const id = newId();
  const secret = { id, name: 'STRIPE_KEY', environment: 'production', expires_at: '2026-10-01T00:00:00.000Z' };
  const agent = { id, name: 'build-7', agent_id: 'svc_agent_9GJ2mZ0sQm3C1T7u4Yw8Kp' };
  const alert = {
    incident_id: id,
    alert_id: id,
    alert_name: 'Any 5xx',
    alert_type: 'request_failures',
    severity: 'high',
    subject: 'orders',
  };
  const measured = { value: 7, peak: 9, threshold: 5 };
  const cases: [string, Record<string, unknown>, string, string, string][] = [
    ['alert.triggered', { ...alert, ...measured }, 'Alert: Any 5xx', 'orders: 7 calls, threshold 5 calls.', `/alerts/incidents/${id}`],
    [
      'alert.resolved',
      { ...alert, ...measured },
      'Resolved: Any 5xx',
      'orders: at most 9 calls, threshold 5 calls.',
      `/alerts/incidents/${id}`,
    ],
    [
      'webhook.disabled',
      { webhook_id: id, webhook_name: 'orders', host: 'a.example', reason: 'gone' },
      'The webhook orders was disabled',
      'The receiver a.example answered 410 Gone.',
      `/webhooks/${id}`,
    ],
    [
      'workflow.execution.failed',
      { execution_id: id, workflow_id: newId(), workflow_name: 'sync', error_message: 'It took too long.' },
      'A run of sync failed',
      'It took too long.',
      `/runs/${id}`,
    ],
    [
      'agent.offline',
      agent,
      'The agent build-7 is offline',
      'It has stopped reporting. Check its host and its connection.',
      `/agents/${id}`,
    ],
    [
      'agent.tamper_detected',
      { ...agent, kind: 'fingerprint_mismatch', action_taken: 'refused' },
      'Another machine signs as the agent build-7',
      "It was refused. If you don't know why, revoke the agent and look at its host.",
      `/agents/${id}`,
    ],
    [
      'secret.expiring',
      { ...secret, days_left: 7 },
      'STRIPE_KEY expires in 7 days',
      'Its value in production expires on 2026-10-01. Set a new value or change the expiry.',
      `/secrets/${id}`,
    ],
    [
      'secret.expired',
      secret,
      'STRIPE_KEY has expired',
      'Its value in production expired on 2026-10-01. Set a new value or change the expiry.',
      `/secrets/${id}`,
    ],
    [
      'secret.oauth2.disconnected',
      { ...secret, provider: 'hubspot' },
      'The connection of STRIPE_KEY was lost',
      'Connect hubspot again in production. Calls that need it are refused.',
      `/secrets/${id}`,
    ],
    [
      'pki.certificate.expiring',
      { id, root: 'internal', subject: 'CN=a', serial_hex: '01', not_after: '2026-10-01T00:00:00Z', days_left: 1 },
      'A certificate of internal expires in 1 day',
      'CN=a ends on 2026-10-01 and has no successor.',
      '/pki',
    ],
    [
      'usage.threshold_reached',
      { percent: 80, used: 8_000, limit: 10_000 },
      "80% of this month's calls are used",
      '8,000 of 10,000 calls. At 100%, Live calls are refused.',
      '/settings/usage',
    ],
    [
      'ai.budget.exceeded',
      { scope: 'agent', spent_usd: 10.5, limit_usd: 10 },
      'A budget of the AI gateway is used up',
      'agent: $10.50 of $10.00. Calls are refused until its next period.',
      '/ai/spend',
    ],
    [
      'dyn_db.lease.errored',
      { lease_id: 3, username: 'svc_reader_x', connection: 'orders', error: 'TCP: refused' },
      'A database user could not be removed',
      'svc_reader_x of orders: TCP: refused',
      '/database-credentials',
    ],
    [
      'migration.awaiting_review',
      { migration_id: id, items: 3 },
      'A migration waits for review',
      '3 items. Undecided values are erased at the deadline.',
      `/migrations/${id}`,
    ],
    [
      'wrap.token.exposed',
      { wrap_token_id: id, host: 'api.example.com' },
      'A gateway token was sent in the clear and revoked',
      'It arrived over plain HTTP for api.example.com. Create a new one and correct the address of its caller.',
      '/wrap',
    ],
  ];
  assert.deepEqual(cases.map(([type]) => type).sort(), [...INBOX_EVENTS].sort());
  for (const [type, data, title, body, page] of cases) {
    const notice = noticeOfEvent({ id: newId(), type, tenant_id: newId(), sandbox: false, occurred_at: new Date(), data });
    const link = page.startsWith('/settings') ? page : `/live${page}`;
    assert.deepEqual([notice?.title, notice?.body, notice?.link], [title, body, link], type);
    const folder = page.startsWith('/settings') ? page : `/[space]${page.replace(id, '[id]')}`;
    assert.ok(existsSync(`app/(dashboard)/[workspace]${folder}/page.tsx`), `${type}: no page ${folder}`);
    if (page.includes(id) && notice?.resource && type !== 'workflow.execution.failed') assert.equal(notice.resource.id, id, type);
  }
});

test('audit entries become notifications, exactly once and for the right people', async () => {
  const w = await workspace();
  const [owner, admin, editor] = [await member(w, 'owner'), await member(w, 'admin'), await member(w, 'editor')];
  const secret = await made(w.live, 'secrets.create', { name: 'STRIPE_KEY', value: 'v' });
  await db().secrets.update({ where: { id: secret.id }, data: { created_by: editor.id } });
  const write = (ctx: Ctx, entry: Parameters<typeof audited>[1]) => mutate(ctx, async () => audited(undefined, entry));
  await write(admin.ctx(), {
    action: 'invite',
    resource_type: 'invitation',
    resource_id: newId(),
    name: 'new@example.test',
    details: { role: 'viewer' },
    workspace_level: true,
  });
  await write(owner.ctx(), {
    action: 'update',
    resource_type: 'member',
    resource_id: editor.id,
    name: editor.email,
    changes: [{ field: 'role', from: 'viewer', to: 'editor' }],
    workspace_level: true,
  });
  await write(admin.ctx(), {
    action: 'plaintext.reveal',
    resource_type: 'secret',
    resource_id: secret.id,
    name: 'STRIPE_KEY',
    details: { outcome: 'granted' },
    reason: 'incident 12',
  });
  await write(editor.ctx(), {
    action: 'plaintext.reveal',
    resource_type: 'secret',
    resource_id: secret.id,
    name: 'STRIPE_KEY',
    details: { outcome: 'granted' },
  });
  await write(editor.ctx(), {
    action: 'login',
    resource_type: 'session',
    resource_id: newId(),
    details: { method: 'password', new_device: true },
    workspace_level: true,
  });
  await write(editor.ctx(), {
    action: 'login',
    resource_type: 'session',
    resource_id: newId(),
    details: { method: 'password' },
    workspace_level: true,
  });
  const agent_id = newId();
  await write(w.live, {
    action: 'update',
    resource_type: 'ai_token',
    resource_id: newId(),
    name: 'worker',
    changes: [{ field: 'step_up_required', from: false, to: true }],
    details: { agent_id },
  });
  for (const [from, to] of [
    ['active', 'dunning'],
    ['dunning', 'dunning'],
    ['dunning', 'active'],
  ])
    await write(w.live, {
      action: 'update',
      resource_type: 'billing',
      resource_id: w.tenant.id,
      details: { from: { status: from }, to: { status: to } },
      workspace_level: true,
    });
  await Promise.all([readAll(), readAll()]);
  await readAll();
  const told: { title: string; link: string }[] = await made(owner.ctx(), 'notifications.list', {});
  assert.deepEqual(told.map(({ title, link }) => [title, link]).sort(), [
    ['A payment failed', '/settings/billing'],
    ['The AI token worker was used from two places too far apart', `/live/ai/agents/${agent_id}`],
    [`${admin.email} invited new@example.test`, '/settings/team'],
  ]);
  assert.deepEqual(await titles(admin.ctx()), [], 'who did it hears nothing of it');
  assert.deepEqual(await titles(editor.ctx()), [
    'New sign-in to your account',
    `${admin.email} revealed your secret STRIPE_KEY`,
    'Your role is now editor',
  ]);
});

test('the feed stays behind a transaction that is open, and reads what it commits later', async () => {
  const w = await workspace();
  const owner = await member(w, 'owner');
  const agent = (ctx: Ctx) =>
    mutate(ctx, async () => audited(undefined, { action: 'create', resource_type: 'ai_agent', resource_id: newId(), name: 'bot' }));
  const [open, opened, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = mutate(w.live, async () => {
    opened.resolve();
    await release.promise;
    return audited(undefined, { action: 'create', resource_type: 'ai_agent', resource_id: newId(), name: 'late' });
  }).then(open.resolve, open.reject);
  await opened.promise;
  await agent(w.live);
  release.resolve();
  await slow;
  await open.promise;
  await readAll();
  assert.equal((await titles(owner.ctx())).length, 2);
});

test('a person reads what is theirs, some or all of it, and nobody else’s', async () => {
  const w = await workspace();
  const [owner, admin] = [await member(w, 'owner'), await member(w, 'admin')];
  for (const hour of [1, 2, 3])
    await writeNotices(
      db(),
      [
        {
          ...noticeOfEvent({
            ...disabled(),
            id: newId(),
            tenant_id: w.tenant.id,
            sandbox: false,
            occurred_at: new Date(Date.UTC(2026, 0, 1, hour)),
          })!,
        },
      ],
      new Date(),
    );
  const [newest, middle] = await made(owner.ctx(), 'notifications.list', {});
  assert.deepEqual(await made(owner.ctx(), 'notifications.count'), { unread: 3, newest: newest.id });
  assert.deepEqual(await made(admin.ctx(), 'notifications.read', { ids: [newest.id] }), { read: 0 });
  assert.deepEqual(await made(owner.ctx(), 'notifications.read', { ids: [newest.id] }), { read: 1 });
  assert.deepEqual(await made(owner.ctx(), 'notifications.read', { until: middle.created_at }), { read: 2 });
  assert.equal((await made(owner.ctx(), 'notifications.count')).unread, 0);
  assert.equal((await made(admin.ctx(), 'notifications.count')).unread, 3);
  assert.equal((await titles(owner.ctx(), { unread: true })).length, 0);
  assert.equal((await titles(owner.ctx(), { kind: 'operations', per_page: 2 })).length, 2);
  await assert.rejects(made(w.live, 'notifications.list', {}), { type: 'role_denied' });
});

test('what a person turned off, muted or follows decides what they are told', async () => {
  const w = await workspace();
  const [muting, following, off, mailed] = [
    await member(w, 'admin'),
    await member(w, 'viewer'),
    await member(w, 'owner'),
    await member(w, 'editor'),
  ];
  const id = newId();
  await made(muting.ctx(), 'notifications.follow', { resource_type: 'webhook', resource_id: id, mode: 'mute' });
  await made(following.ctx(), 'notifications.follow', { resource_type: 'webhook', resource_id: id, mode: 'follow' });
  await made(off.ctx(), 'notifications.update', { channels: { operations: { in_app: false, email: false } } });
  await made(mailed.ctx(), 'notifications.update', { channels: { operations: { in_app: false, email: true } } });
  const event = { ...disabled(id), id: newId(), tenant_id: w.tenant.id, sandbox: false, occurred_at: new Date() };
  await writeNotices(db(), [noticeOfEvent(event)!], new Date());
  assert.deepEqual(
    [(await titles(muting.ctx())).length, (await titles(following.ctx())).length, (await titles(off.ctx())).length],
    [0, 1, 0],
  );
  assert.deepEqual(
    [(await made(mailed.ctx(), 'notifications.count')).unread, (await titles(mailed.ctx())).length],
    [0, 1],
    'mailed only: listed, but it asks for nothing',
  );
  const { resources } = await made(muting.ctx(), 'notifications.follow', { resource_type: 'webhook', resource_id: id, mode: 'default' });
  assert.deepEqual(resources, []);
});

test('an Owner cannot turn security off, others can; and a demoted Owner’s choice holds again', async () => {
  const w = await workspace();
  const [owner, admin] = [await member(w, 'owner'), await member(w, 'admin')];
  const none = { channels: { security: { in_app: false, email: false } } };
  await assert.rejects(made(owner.ctx(), 'notifications.update', none), { type: 'validation_error', message: /channels\.security/ });
  assert.equal((await made(admin.ctx(), 'notifications.update', none)).channels.security.email, false);
  await db().notification_settings.create({ data: { tenant_id: w.tenant.id, user_id: owner.id, channels: none.channels } });
  const { channels, locked } = await made(owner.ctx(), 'notifications.preferences');
  assert.deepEqual([channels.security, locked], [{ in_app: true, email: true }, ['security']]);
  for (const quiet_hours of [
    { from: '22:00', until: '22:00', timezone: 'UTC' },
    { from: '24:00', until: '07:00', timezone: 'UTC' },
    { from: '22:00', until: '07:00', timezone: 'Mars/Olympus' },
  ])
    await assert.rejects(made(admin.ctx(), 'notifications.update', { quiet_hours }), { type: 'validation_error' });
});

test('news of the product reach whoever was a member before, once, where they want them', async () => {
  const w = await workspace();
  const [told, fresh, off, mailed] = [
    await member(w, 'viewer'),
    await member(w, 'viewer'),
    await member(w, 'viewer'),
    await member(w, 'viewer'),
  ];
  const before = new Date(Date.now() - 30 * 86_400_000);
  await db().memberships.updateMany({ where: { user_id: { in: [told.id, off.id, mailed.id] } }, data: { joined_at: before } });
  await made(off.ctx(), 'notifications.update', { channels: { product: { in_app: false, email: false } } });
  await made(mailed.ctx(), 'notifications.update', { channels: { product: { in_app: false, email: true } } });
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const entry = { areas: ['api'], text: 'It is new.', act: null, link: { label: 'See', path: '/docs' } } as const;
  const entries = [
    { ...entry, id: newId(), date: day(1), title: 'A new thing' },
    { ...entry, id: newId(), date: day(20), title: 'An old thing' },
  ];
  await tellNews(db(), new Date(), entries);
  await tellNews(db(), new Date(), entries);
  assert.deepEqual(
    [await titles(told.ctx()), await titles(fresh.ctx()), await titles(off.ctx()), await titles(mailed.ctx())],
    [['A new thing'], [], [], ['A new thing']],
  );
  const rows = await db().notifications.findMany({ where: { user_id: { in: [told.id, mailed.id] } } });
  assert.deepEqual(rows.map(({ user_id, read_at, mail_at }) => [user_id === mailed.id, read_at !== null, mail_at !== null]).sort(), [
    [false, false, false],
    [true, true, true],
  ]);
});

test('notifications are deleted after 90 days', async () => {
  const w = await workspace();
  const owner = await member(w, 'owner');
  const at = (days: number) => new Date(Date.now() - days * 86_400_000);
  for (const days of [91, 89])
    await writeNotices(
      db(),
      [{ ...noticeOfEvent({ ...disabled(), id: newId(), tenant_id: w.tenant.id, sandbox: false, occurred_at: at(days) })! }],
      new Date(),
    );
  await pruneNotifications(new Date());
  assert.equal((await titles(owner.ctx())).length, 1);
});
