import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership, createSession, createUser, memberCtx, sessionOf } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { noticeOfEvent } from './event-notices.ts';
import { notificationStream } from './service.ts';
import { writeNotices } from './writing.ts';

await testDatabase();

async function signedIn(w: Workspace) {
  const now = new Date();
  const { user, session } = await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email: `${newId()}@example.test`, full_name: 'V', password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'invite', now });
    return {
      user,
      session: await createSession(tx, { user_id: user.id, methods: ['code'], keep: false, ip: null, user_agent: null, now }),
    };
  });
  const person = await sessionOf(session.token, now);
  const ctx = () =>
    memberCtx({ person: person!, workspace: w.tenant.slug, space: 'live', request_id: newId(), ip: null, user_agent: null });
  return { user, session, ctx };
}

/** Reads until a text has come, or the stream has ended. */
function reading(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return async (awaited: string | null) => {
    for (;;) {
      if (awaited !== null && text.includes(awaited)) return text;
      const { done, value } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
}
const request = (signal?: AbortSignal) => new Request('http://x/admin/notifications/stream', signal ? { signal } : {});
const tell = (w: Workspace) =>
  writeNotices(
    db(),
    [
      noticeOfEvent({
        id: newId(),
        type: 'ai.budget.exceeded',
        tenant_id: w.tenant.id,
        sandbox: false,
        occurred_at: new Date(),
        data: {},
      })!,
    ],
    new Date(),
  );

test('the stream says at once how much is unread, then at each change, and ends when the reader leaves', async () => {
  const w = await workspace();
  const who = await signedIn(w);
  const leave = new AbortController();
  const response = await notificationStream(await who.ctx(), request(leave.signal));
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const until = reading(response);
  await until('event: unread\ndata: {"unread":0,"newest":null}');
  await tell(w);
  await until('{"unread":1,');
  await made(await who.ctx(), 'notifications.read', { until: new Date().toISOString() });
  const text = await until('{"unread":0,"newest":"');
  assert.equal(text.split('event: unread').length - 1, 3);
  leave.abort();
  await until(null);
});

test('a session that ended ends the stream, which says so', async () => {
  const w = await workspace();
  const who = await signedIn(w);
  const until = reading(await notificationStream(await who.ctx(), request()));
  await until('event: unread');
  await db().sessions.updateMany({ where: { id: who.session.id }, data: { revoked_at: new Date() } });
  assert.match(await until(null), /event: ended/);
});

test('a person has four streams at a time; one that is closed makes room', async () => {
  const w = await workspace();
  const who = await signedIn(w);
  const leave = new AbortController();
  for (let i = 0; i < 4; i++) await notificationStream(await who.ctx(), request(leave.signal));
  await assert.rejects(notificationStream(await who.ctx(), request()), { type: 'rate_limited' });
  leave.abort();
  const response = await notificationStream(await who.ctx(), request());
  await response.body?.cancel();
  await assert.rejects(notificationStream(w.live, request()), { type: 'role_denied' });
});
