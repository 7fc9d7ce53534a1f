import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { closeMail } from '#server/platform/mail.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { workspace } from '#server/testing/workspace.ts';
import { noticeOfEvent } from './event-notices.ts';
import { mailDueNotifications } from './mailing.ts';
import { member } from './members.fixture.ts';
import { writeNotices } from './writing.ts';

type Session = { envelope: { rcptTo: { address: string }[] } };
type Server = {
  listen(port: number, host: string, done: () => void): void;
  close(done: () => void): void;
  server: { address(): AddressInfo };
};
type Options = { disabledCommands: string[]; onData(stream: AsyncIterable<Buffer>, session: Session, done: (error?: Error) => void): void };
const { SMTPServer } = createRequire(import.meta.url)('smtp-server') as { SMTPServer: new (options: Options) => Server };

/** What came in over SMTP, as it was sent. */
const received: { to: string[]; text: string }[] = [];
const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData(stream, { envelope }, done) {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part);
      received.push({ to: envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(parts).toString('utf8') });
      done();
    })();
  },
});
await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
process.env.SMTP_URL = `smtp://127.0.0.1:${smtp.server.address().port}`;
await testDatabase();
onFileEnd(async () => {
  closeMail();
  await new Promise<void>((resolve) => smtp.close(resolve));
});

const failed = (tenant_id: string, at: Date, name: string, sandbox = false) =>
  noticeOfEvent({
    ...{ id: newId(), type: 'workflow.execution.failed', tenant_id, sandbox, occurred_at: at },
    data: { workflow_id: newId(), workflow_name: name, error: 'the step "charge" answered 500' },
  })!;
const mailsTo = async (email: string) => {
  await backgroundSettled();
  return received.filter(({ to }) => to.includes(email)).map(({ text }) => text);
};
const later = (now: Date, minutes: number) => new Date(now.getTime() + minutes * 60_000);

test('a notification is mailed at once over SMTP, once, also when two workers send', async () => {
  const w = await workspace();
  const owner = await member(w, 'owner');
  const now = new Date();
  await writeNotices(db(), [failed(w.tenant.id, now, 'refunds', true)], now);
  await Promise.all([mailDueNotifications(db(), now), mailDueNotifications(db(), now)]);
  await mailDueNotifications(db(), now);
  const [mail, ...more] = await mailsTo(owner.email);
  assert.deepEqual(more, []);
  assert.match(mail ?? '', /^Subject: \[Test\] A run of refunds failed$/m);
  assert.match((mail ?? '').replace(/=\r?\n/g, ''), /the step "charge" answered 500/);
});

test('a digest waits for its hour and holds everything that came together, but what was read meanwhile', async () => {
  const w = await workspace();
  const owner = await member(w, 'owner');
  await made(owner.ctx(), 'notifications.update', { digest: 'hourly' });
  const now = new Date(Math.ceil(Date.now() / 3_600_000 + 1) * 3_600_000 + 60_000);
  await writeNotices(
    db(),
    ['one', 'two', 'three'].map((name, i) => failed(w.tenant.id, later(now, i), name)),
    now,
  );
  const read = (await made(owner.ctx(), 'notifications.list', {})).find((one: { title: string }) => /two/.test(one.title));
  await made(owner.ctx(), 'notifications.read', { ids: [read.id] });
  await mailDueNotifications(db(), later(now, 58));
  assert.deepEqual(await mailsTo(owner.email), []);
  await mailDueNotifications(db(), later(now, 60));
  const mails = await mailsTo(owner.email);
  assert.equal(mails.length, 1);
  assert.match(mails[0] ?? '', /^Subject: 2 notifications from /m);
  const text = (mails[0] ?? '').replace(/=\r?\n/g, '');
  assert.ok(text.indexOf('A run of one failed') < text.indexOf('A run of three failed'));
  assert.doesNotMatch(text, /A run of two/);
});

test('what a family has mailed itself is not mailed again, and who left the workspace gets nothing', async () => {
  const w = await workspace();
  const [owner, gone] = [await member(w, 'owner'), await member(w, 'admin')];
  const now = new Date();
  const data = { webhook_id: newId(), webhook_name: 'orders', host: 'a.example', reason: 'gone' };
  const disabled = noticeOfEvent({
    id: newId(),
    type: 'webhook.disabled',
    tenant_id: w.tenant.id,
    sandbox: false,
    occurred_at: now,
    data,
  })!;
  await writeNotices(db(), [disabled], now);
  await mailDueNotifications(db(), now);
  assert.deepEqual(await mailsTo(owner.email), []);
  await writeNotices(db(), [failed(w.tenant.id, now, 'x')], now);
  await db().memberships.updateMany({ where: { user_id: gone.id }, data: { removed_at: now } });
  await mailDueNotifications(db(), now);
  assert.deepEqual([(await mailsTo(owner.email)).length, await mailsTo(gone.email)], [1, []]);
});
