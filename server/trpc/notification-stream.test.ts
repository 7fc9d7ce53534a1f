import assert from 'node:assert/strict';
import test from 'node:test';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handleNotificationStream } from './notification-stream.ts';

await testDatabase();

const ask = async (workspaceSlug: string, headers: Record<string, string>) => {
  const leave = new AbortController();
  const answer = await handleNotificationStream(
    new Request(`http://admin.test/admin/notifications/stream?workspace=${workspaceSlug}`, {
      headers: { 'x-sallyport-front': frontDoorToken(rootKeys().current), 'x-sallyport-ip': '127.0.0.1', ...headers },
      signal: leave.signal,
    }),
  );
  let text = '';
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.includes('event: unread\n') && text.endsWith('\n\n')) leave.abort();
  }
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text };
};

test('the stream is for members of the workspace that the address names, and for no page of another site', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const person = await dashboardPerson();
  await person.join(w.tenant.id, 'viewer');
  const session = { authorization: `Bearer ${person.session.token}` };
  const { status, type, text } = await ask(w.tenant.slug, session);
  assert.deepEqual([status, type], [200, 'text/event-stream; charset=utf-8']);
  assert.match(text, /^retry: 5000\n\nevent: unread\ndata: \{"unread":0,"newest":null\}/);
  const foreign = await ask(other.tenant.slug, session);
  const unknown = await ask('no-such-workspace', session);
  assert.equal(foreign.status, unknown.status);
  assert.ok(foreign.status >= 400 && !foreign.type.includes('event-stream'), foreign.text);
  assert.equal((await ask(w.tenant.slug, {})).status, 401);
  assert.equal((await ask(w.tenant.slug, { ...session, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).status, 403);
});
