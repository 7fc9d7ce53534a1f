import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership, createSession, createUser, memberCtx, sessionOf } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { insert, row } from './rows.fixture.ts';
import { tailResponse } from './tail-response.ts';

await testDatabase();
const HOUR = 3_600_000;

/** A signed-in member of the workspace, with the rows behind them. */
async function signedIn(w: Workspace, role: MemberRole) {
  const now = new Date();
  const { user, session } = await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email: `${newId()}@example.test`, full_name: 'V', password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role, source: 'invite', now });
    return {
      user,
      session: await createSession(tx, { user_id: user.id, methods: ['code'], keep: false, ip: null, user_agent: null, now }),
    };
  });
  const person = await sessionOf(session.token, now);
  return {
    user,
    session,
    ctx: await memberCtx({ person: person!, workspace: w.tenant.slug, space: 'live', request_id: newId(), ip: null, user_agent: null }),
  };
}

const readerOf = (response: Response) => response.body!.pipeThrough(new TextDecoderStream()).getReader();

test('the live stream is server-sent events that end when the reader leaves, for those who may list logs', async () => {
  const w = await workspace();
  const { ctx } = await signedIn(w, 'viewer');
  const leave = new AbortController();
  const [id] = await insert([row(w.tenant.id)]);
  const response = await tailResponse(
    ctx,
    new Request('http://x/admin/logs/tail', { signal: leave.signal, headers: { 'last-event-id': String(id! - 1n) } }),
  );
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const reader = readerOf(response);
  let text = '';
  while (!text.includes('event: rows')) text += (await reader.read()).value;
  assert.match(text, new RegExp(`id: ${id}\\ndata: \\{"logs":\\[\\{"id":"${id}"`));
  leave.abort();
  for (;;) if ((await reader.read()).done) break;
  const nobody = { ...w.live, actor: { type: 'system', id: null, label: 'x', capabilities: new Set() } } as Ctx;
  await assert.rejects(tailResponse(nobody, new Request('http://x/')), { type: 'role_denied' });
});

const LOSSES: [string, (who: Awaited<ReturnType<typeof signedIn>>) => Promise<unknown>][] = [
  ['a membership is removed', ({ user }) => db().memberships.updateMany({ where: { user_id: user.id }, data: { removed_at: new Date() } })],
  ['a role is changed', ({ user }) => db().memberships.updateMany({ where: { user_id: user.id }, data: { role: 'member' } })],
  ['the session is ended', ({ session }) => db().sessions.updateMany({ where: { id: session.id }, data: { revoked_at: new Date() } })],
  ['the account is disabled', ({ user }) => db().users.update({ where: { id: user.id }, data: { disabled_at: new Date() } })],
];
for (const [what, lose] of LOSSES)
  test(`when ${what}, an open live view shows no further call, says so and closes by itself`, async () => {
    const w = await workspace();
    const [busy, quiet] = await Promise.all([signedIn(w, 'editor'), signedIn(w, 'editor')]);
    const open = async (who: typeof busy) => {
      const reader = readerOf(await tailResponse(who.ctx, new Request('http://x/admin/logs/tail')));
      assert.match((await reader.read()).value ?? '', /retry/);
      return reader;
    };
    const [first, second] = [await open(busy), await open(quiet)];
    await Promise.all([lose(busy), lose(quiet)]);
    await insert([row(w.tenant.id, { path: '/not-for-you' })]);
    for (const reader of [first, second]) {
      let rest = '';
      for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
      assert.doesNotMatch(rest, /not-for-you/);
      assert.match(rest, /event: ended\n/);
    }
  });

test('a live view without traffic closes at the end of its session, and does not keep an idle session awake', async () => {
  const w = await workspace();
  const who = await signedIn(w, 'viewer');
  const idle = new Date(Date.now() - 12 * HOUR + 1_000);
  await db().sessions.updateMany({ where: { id: who.session.id }, data: { last_seen_at: idle } });
  const reader = readerOf(await tailResponse(who.ctx, new Request('http://x/admin/logs/tail')));
  for (;;) if ((await reader.read()).done) break;
  const row = await db().sessions.findUniqueOrThrow({ where: { id: who.session.id } });
  assert.deepEqual(row.last_seen_at, idle);
});

test('readers who left before their view began take no place of it', async () => {
  const w = await workspace();
  const { ctx } = await signedIn(w, 'viewer');
  for (let i = 0; i < 25; i++) {
    const response = await tailResponse(ctx, new Request('http://x/admin/logs/tail', { signal: AbortSignal.abort() }));
    const reader = readerOf(response);
    while (!(await reader.read()).done);
  }
});

test('one person cannot take every live view of a workspace from the others', async () => {
  const w = await workspace();
  const [greedy, other] = await Promise.all([signedIn(w, 'viewer'), signedIn(w, 'owner')]);
  const leave = new AbortController();
  const open = (who: typeof greedy) => tailResponse(who.ctx, new Request('http://x/admin/logs/tail', { signal: leave.signal }));
  let opened = 0;
  await assert.rejects(
    async () => {
      for (; opened < 20; opened++) await open(greedy);
    },
    { type: 'rate_limited' },
  );
  assert.ok(opened > 4, 'several tabs of one person are nothing unusual');
  assert.equal((await open(other)).status, 200);
  leave.abort();
  assert.equal((await tailResponse(greedy.ctx, new Request('http://x/', { signal: AbortSignal.timeout(200) }))).status, 200);
});
