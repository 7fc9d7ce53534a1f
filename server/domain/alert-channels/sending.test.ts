import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { answering, due, hmac, receiver, statesOf } from '#server/domain/webhooks/receiver.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { closeMail } from '#server/platform/mail.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { joined } from '#server/testing/mailbox.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { alertChannel } from './channel.ts';
import { ALERT_CHANNEL } from './kinds.shared.ts';
import type { AlertMessage } from './message.ts';
import { queueMessage } from './queueing.ts';

type Smtp = {
  listen(port: number, host: string, done: () => void): void;
  close(done: () => void): void;
  server: { address(): AddressInfo };
};
type Session = { envelope: { rcptTo: { address: string }[] } };
type Options = { disabledCommands: string[]; onData(stream: AsyncIterable<Buffer>, session: Session, done: (error?: Error) => void): void };
const { SMTPServer } = createRequire(import.meta.url)('smtp-server') as { SMTPServer: new (options: Options) => Smtp };

const received: { to: string; text: string }[] = [];
const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData(stream, { envelope }, done) {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part);
      for (const { address: to } of envelope.rcptTo) received.push({ to, text: Buffer.concat(parts).toString('utf8') });
      done();
    })();
  },
});
await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
const texts = await receiver();
await ownDatabase({
  SMTP_URL: `smtp://127.0.0.1:${smtp.server.address().port}`,
  SMS_PROVIDER_URL: `http://127.0.0.1:${texts.port}/sms`,
});
onFileEnd(async () => {
  closeMail();
  await new Promise<void>((resolve) => smtp.close(resolve));
});

const messageOf = (over: Partial<AlertMessage> = {}): AlertMessage => ({
  ...{ kind: 'opened', incident_id: newId(), alert_id: newId(), alert: 'Any 5xx <!channel>', type: 'request_failures', severity: 'high' },
  ...{ subject: 'orders & co', condition: '5 or more calls fail', value: 7, peak: 9, threshold: 5, unit: 'calls' },
  ...{ started_at: '2026-10-01T12:00:00.000Z', resolved_at: null, sample_request_ids: [newId()], workspace: 'acme', space: 'live' },
  ...{ link: 'https://admin.example.test/acme/live/alerts/incidents/1' },
  ...over,
});
const channelOf = async (ctx: Ctx, input: Record<string, unknown>): Promise<string> =>
  (await made(ctx, 'alert_channels.create', { name: fresh('channel'), ...input })).id;

/** An open incident, without which a message is no news. */
async function incidentOf(ctx: Ctx): Promise<{ incident_id: string; alert_id: string }> {
  const alert = await made(ctx, 'alerts.create', { name: fresh('alert'), type: 'request_failures' });
  const id = newId();
  await db().alert_incidents.create({
    data: {
      ...{
        id,
        tenant_id: ctx.tenant_id,
        sandbox: ctx.sandbox,
        alert_id: alert.id,
        alert_name: alert.name,
        type: alert.type,
        severity: 'high',
      },
      ...{ group_key: '', started_at: new Date(), value: 5, peak: 5, threshold: 5 },
    },
  });
  return { incident_id: id, alert_id: alert.id };
}
const queue = (ctx: Ctx, message: AlertMessage, channel: string, now = new Date()) =>
  inTransaction(ctx, async (tx) => {
    const queued = await queueMessage(tx, { ...ctx, now }, message, [channel]);
    if (message.incident_id && queued.channel_ids.length > 0)
      await tx.alert_incident_entries.create({
        data: {
          ...{ id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, incident_id: message.incident_id, at: now, kind: 'message' },
          ...{ message_id: queued.id, message: message.kind, channel_ids: queued.channel_ids },
        },
      });
    return queued;
  });
async function delivering(work: () => Promise<unknown>): Promise<void> {
  const engine = startDeliveries({ [ALERT_CHANNEL]: alertChannel() }, { pauseMs: 50 });
  try {
    await work();
  } finally {
    await engine.stop();
  }
}

test('each kind of receiver gets its own form, with the same facts', async () => {
  const w = await workspace();
  const forms: Record<string, Record<string, unknown>> = {
    slack: {},
    teams: {},
    discord: {},
    webhook: { signing_secret: 'a signing secret of 24 characters' },
    pagerduty: { token: 'routing-key' },
    opsgenie: { token: 'genie-key' },
  };
  for (const [kind, secrets] of Object.entries(forms)) {
    const { seen, url } = await receiver();
    const channel = await channelOf(w.live, { kind, url, ...secrets });
    const opened = messageOf(await incidentOf(w.live));
    await queue(w.live, opened, channel);
    await delivering(() => until(async () => (await statesOf(channel)) === 'succeeded', kind));
    await queue(w.live, { ...opened, kind: 'resolved', resolved_at: '2026-10-01T12:20:00.000Z' }, channel);
    await delivering(() => until(async () => (await statesOf(channel)) === 'succeeded,succeeded', kind));
    const [first, last] = seen as [(typeof seen)[0], (typeof seen)[0]];
    assert.equal(first.method, 'POST', kind);
    for (const fact of ['12:00 UTC', '5 or more calls fail', 'acme'])
      assert.ok(first.body.includes(fact) || kind === 'webhook', `${kind} ${fact}`);
    const body = first.envelope;
    if (kind === 'slack') {
      assert.equal(body.text, 'Firing: Any 5xx &lt;!channel&gt; (orders &amp; co)');
      assert.equal(body.blocks[2].elements[0].url, opened.link);
    }
    if (kind === 'teams') {
      const card = body.attachments[0].content;
      assert.deepEqual([body.type, card.type, card.actions[0].url], ['message', 'AdaptiveCard', opened.link]);
    }
    if (kind === 'discord')
      assert.deepEqual([body.allowed_mentions, body.embeds[0].color, last.envelope.embeds[0].color], [{ parse: [] }, 0xea580c, 0x16a34a]);
    if (kind === 'webhook') {
      assert.deepEqual([body.event, last.envelope.event, body.data], ['alert.triggered', 'alert.resolved', opened]);
      assert.equal(first.headers['x-webhook-signature'], `sha256=${hmac('a signing secret of 24 characters', first.body)}`);
      assert.equal(first.headers['x-webhook-id'], body.id);
    }
    if (kind === 'pagerduty') {
      assert.deepEqual([body.routing_key, body.event_action, body.payload.severity], ['routing-key', 'trigger', 'error']);
      assert.deepEqual(
        [last.envelope.event_action, last.envelope.dedup_key, body.dedup_key],
        ['resolve', opened.incident_id, opened.incident_id],
      );
    }
    if (kind === 'opsgenie') {
      assert.deepEqual([first.headers.authorization, body.alias, body.priority], ['GenieKey genie-key', opened.incident_id, 'P2']);
      assert.equal(last.url, `/hooks/${opened.incident_id}/close?identifierType=alias`);
    }
  }
});

test('mails go over SMTP, one to each address, and none twice when an attempt is made again', async () => {
  const w = await workspace();
  const to = [`a-${newId()}@example.test`, `b-${newId()}@example.test`];
  const channel = await channelOf(w.live, { kind: 'email', recipients: to });
  const { id } = await queue(w.live, messageOf(await incidentOf(w.live)), channel);
  await delivering(() => until(async () => (await statesOf(channel)) === 'succeeded', 'it is delivered'));
  await backgroundSettled();
  const mails = () => received.filter((mail) => to.includes(mail.to));
  assert.deepEqual(
    mails()
      .map((mail) => mail.to)
      .sort(),
    to.toSorted(),
  );
  assert.match(mails()[0]?.text ?? '', /Subject: Firing: Any 5xx/);
  // The worker died after the mails were written and before the attempt was recorded.
  await db().deliveries.updateMany({
    where: { event_id: id },
    data: { state: 'pending', attempts: 0, finished_at: null, next_attempt_at: new Date() },
  });
  await delivering(() => until(async () => (await statesOf(channel)) === 'succeeded', 'it is delivered again'));
  await backgroundSettled();
  assert.equal(mails().length, 2);
});

test('Test mails members alone, with a mark in the subject', async () => {
  const w = await workspace();
  const member = await joined(w.tenant.id, 'editor');
  await assert.rejects(channelOf(w.test, { kind: 'email', recipients: [member, 'someone@example.test'] }), /must be addresses of members/);
  const channel = await channelOf(w.test, { kind: 'email', recipients: [member] });
  assert.equal((await made(w.test, 'alert_channels.test', { id: channel })).ok, true);
  await backgroundSettled();
  assert.match(received.find(({ to }) => to === member)?.text ?? '', /Subject: \[Test\] Test: Test of a channel/);
  await db().memberships.updateMany({ where: { tenant_id: w.tenant.id }, data: { removed_at: new Date() } });
  const left = await made(w.test, 'alert_channels.test', { id: channel });
  assert.deepEqual([left.ok, /only members/.test(left.error)], [false, true]);
});

test('text messages go to the provider with a key for each, and stay in the log in Test', async () => {
  const w = await workspace();
  await assert.rejects(channelOf(w.live, { kind: 'sms', recipients: ['0170 123'] }), /must be numbers/);
  const channel = await channelOf(w.live, { kind: 'sms', recipients: ['+14155550100', '+14155550101'] });
  assert.equal((await made(w.live, 'alert_channels.test', { id: channel })).ok, true);
  assert.deepEqual(
    texts.seen.map(({ envelope }) => envelope.to),
    ['+14155550100', '+14155550101'],
  );
  assert.notEqual(texts.seen[0]?.headers['idempotency-key'], texts.seen[1]?.headers['idempotency-key']);
  const trial = await channelOf(w.test, { kind: 'sms', recipients: ['+14155550100'] });
  await made(w.test, 'alert_channels.test', { id: trial });
  assert.equal(texts.seen.length, 2);
});

test('SMS and Slack take their plan feature; in Test every plan may try them', async () => {
  const w = await workspace({ plan: 'starter' });
  const slack = { kind: 'slack', url: 'https://127.0.0.1:65001/services' };
  await assert.rejects(channelOf(w.live, slack), { type: 'plan_feature' });
  await assert.rejects(channelOf(w.live, { kind: 'sms', recipients: ['+14155550100'] }), { type: 'plan_feature' });
  await channelOf(w.live, { kind: 'discord', url: 'https://127.0.0.1:65001/hook' });
  await channelOf(w.test, slack);
});

test('a receiver that fails is asked again under the same message ID, and its channel says what happened', async () => {
  const w = await workspace();
  const { seen, url } = await answering(500, 200);
  const channel = await channelOf(w.live, { kind: 'webhook', url, signing_secret: 'a signing secret of 24 characters' });
  const { id } = await queue(w.live, messageOf(await incidentOf(w.live)), channel);
  await delivering(async () => {
    await until(async () => seen.length === 1 && (await statesOf(channel)) === 'pending', 'it failed once');
    assert.equal((await made(w.live, 'alert_channels.get', { id: channel })).last_error, 'The receiver answered with status 500.');
    await due(channel);
    await until(async () => (await statesOf(channel)) === 'succeeded', 'it arrives');
  });
  assert.deepEqual(
    seen.map(({ envelope }) => envelope.id),
    [id, id],
  );
  const shown = await made(w.live, 'alert_channels.get', { id: channel });
  assert.deepEqual([shown.last_error, shown.last_sent_at !== null], [null, true]);
  const log = await made(w.live, 'alert_channels.deliveries', { id: channel });
  const [row] = log.rows ?? log;
  assert.deepEqual([row.message_id, row.state, row.attempts], [id, 'succeeded', 2]);
});

test('what waited for the end of quiet hours is not told when it is over by then, and neither is its end', async () => {
  const w = await workspace();
  const { seen, url } = await receiver();
  const quiet_hours = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin', except_critical: true };
  const channel = await channelOf(w.live, { kind: 'discord', url, quiet_hours });
  const about = await incidentOf(w.live);
  const night = new Date('2026-01-15T23:30:00Z');
  await queue(w.live, messageOf(about), channel, night);
  assert.deepEqual(
    (await queue(w.live, messageOf({ ...about, kind: 'reminder' }), channel, night)).channel_ids,
    [],
    'nobody is reminded at night',
  );
  const rows = await db().deliveries.findMany({ where: { destination_id: channel } });
  assert.deepEqual(
    rows.map(({ next_attempt_at }) => next_attempt_at.toISOString()),
    ['2026-01-16T06:00:00.000Z'],
    'seven in Berlin',
  );
  await db().alert_incidents.update({ where: { id: about.incident_id }, data: { state: 'resolved', resolved_at: new Date() } });
  await delivering(() => until(async () => (await statesOf(channel)) === 'dropped', 'the start is dropped'));
  await queue(w.live, messageOf({ ...about, kind: 'resolved' }), channel, new Date('2026-01-15T12:00:00Z'));
  await delivering(() => until(async () => (await statesOf(channel)) === 'dropped,dropped', 'and the end'));
  assert.equal(seen.length, 0);
});

test('what is critical is told in quiet hours too, where the channel excepts it', async () => {
  const w = await workspace();
  const { seen, url } = await receiver();
  const clock = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  const now = { from: clock(-1), to: clock(1), timezone: 'UTC' };
  const excepts = await channelOf(w.live, { kind: 'discord', url, quiet_hours: now });
  const waits = await channelOf(w.live, { kind: 'discord', url, quiet_hours: { ...now, except_critical: false } });
  const message = messageOf({ ...(await incidentOf(w.live)), severity: 'critical' });
  for (const channel of [excepts, waits]) await queue(w.live, message, channel);
  await delivering(() => until(async () => (await statesOf(excepts)) === 'succeeded', 'one is told'));
  assert.deepEqual([seen.length, await statesOf(waits)], [1, 'pending']);
});

test('targets inside the network are refused, when a channel is saved and when it is used', async () => {
  const w = await workspace();
  for (const url of [
    'http://169.254.169.254/latest',
    'https://10.0.0.7/hook',
    'https://[::ffff:10.0.0.1]/hook',
    'https://0x0a000001/hook',
    'ftp://example.com/',
    'https://user:pw@example.com/',
  ])
    await assert.rejects(channelOf(w.live, { kind: 'discord', url }), { type: 'validation_error' }, url);
  await assert.rejects(channelOf(w.live, { kind: 'discord', url: 'https://127.0.0.1:5432/' }), /must not use port 5432/);
  const redirecting = await receiver((res) => void res.writeHead(302, { location: 'http://169.254.169.254/latest' }).end());
  const channel = await channelOf(w.live, { kind: 'discord', url: redirecting.url });
  const trial = await made(w.live, 'alert_channels.test', { id: channel });
  assert.deepEqual([trial.ok, trial.status, redirecting.seen.length], [false, 302, 1]);
});

test('credentials are sealed, never shown, and don’t follow a URL to another host', async () => {
  const w = await workspace();
  const { url } = await receiver();
  const id = await channelOf(w.live, { kind: 'opsgenie', url, token: 'very-secret-genie-key' });
  const shown = JSON.stringify(await made(w.live, 'alert_channels.get', { id }));
  assert.ok(!shown.includes('very-secret') && !shown.includes('/hooks'));
  const row = await db().alert_channels.findUniqueOrThrow({ where: { id } });
  assert.ok(row.value_ct && !Buffer.from(row.value_ct).includes('very-secret'));
  const audit = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(!JSON.stringify(audit, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('very-secret'));
  const elsewhere = 'https://collector.example.com/v2/alerts';
  await assert.rejects(
    made(w.live, 'alert_channels.update', { id, url: elsewhere }),
    /url: can't be changed here while token stays stored/,
  );
});

test('a channel that is deleted is named by no alert any more, and what waits for it is dropped', async () => {
  const w = await workspace();
  const id = await channelOf(w.live, { kind: 'discord', url: 'https://127.0.0.1:65001/hook' });
  const alert = await made(w.live, 'alerts.create', { name: 'a', type: 'error_rate', channel_ids: [id] });
  assert.equal((await made(w.live, 'alert_channels.get', { id })).alerts, 1);
  await queue(w.live, messageOf(await incidentOf(w.live)), id);
  await made(w.live, 'alert_channels.delete', { id });
  assert.deepEqual([(await made(w.live, 'alerts.get', { id: alert.id })).channel_ids, await statesOf(id)], [[], 'dropped']);
});
