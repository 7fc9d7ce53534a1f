import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { z } from 'zod';
import { personOperations } from '#server/api/operations.ts';
import { acceptPassword, addMembership, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyPersonOperation, isChange, successesOf } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { planted, textPlaces } from '#server/testing/hostile/planting.ts';
import { HARSH } from '#server/testing/hostile/strings.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { workspace } from '#server/testing/workspace.ts';

/** Suites over every operation of a person: a row is covered the day it stands in the table. */
await testDatabase({ SIGNUPS_PER_HOUR: '10000' });
quickPasswords();
// biome-ignore lint/suspicious/noExplicitAny: the module's default export is typed as a namespace under bundler resolution
const addFormats = addFormatsModule as any;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);

const password = 'a quiet harbour at dusk';
const hash = await acceptPassword(password, 'somebody@example.test', 'password');

/** Somebody with a workspace, in a browser of their own on this machine. */
async function somebody({ signedIn }: { signedIn: boolean }) {
  const w = await workspace();
  const email = `${newId()}@example.test`;
  await db().$transaction(async (tx) => {
    const now = new Date();
    const user = await createUser(tx, { email, full_name: 'P', password_hash: hash, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'signup', now });
  });
  const b = browser();
  const signIn = async (other = browser()) => {
    assert.equal((await other.post('/auth/login', { email, password })).status, 200);
    await other.load();
  };
  if (signedIn) await signIn(b);
  return { w, email, b, signIn };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;
type Sample = (who: Somebody) => Promise<Record<string, unknown>>;

const nothing: Sample = async () => ({});
const samples: Record<string, Sample> = {
  'auth.login': async ({ email }) => ({ email, password }),
  'auth.logout': nothing,
  'auth.magic.start': async ({ email }) => ({ email }),
  'auth.me': nothing,
  'auth.me.update': async () => ({ full_name: 'Renamed', preferences: { pins: ['routes'] } }),
  'auth.sessions.list': nothing,
  'auth.sessions.delete-others': async ({ signIn }) => {
    await signIn();
    return {};
  },
  'auth.sessions.delete': async ({ b, signIn }) => {
    await signIn();
    const { sessions } = (await b.get('/auth/sessions')).body as unknown as { sessions: { id: string; current: boolean }[] };
    return { id: sessions.find(({ current }) => !current)?.id };
  },
  'auth.workspaces.list': nothing,
  'auth.workspaces.select': async ({ w }) => ({ tenant_id: w.tenant.id }),
  'auth.password.forgot': async ({ email }) => ({ email }),
  'auth.password.reset': async ({ b, email }) => {
    await b.post('/auth/password/forgot', { email });
    const mail = (await mailsTo(email)).find(({ kind }) => kind === 'password_reset');
    return { token: /reset\?token=([\w-]{43})/.exec(mail?.text ?? '')?.[1], new: 'another harbour at dawn' };
  },
  'auth.password.change': async () => ({ current: password, new: 'another harbour at dawn' }),
  'auth.magic.verify': async ({ b, email }) => ({ email, code: await codeFor(b, email) }),
};

async function codeFor(b: Somebody['b'], email: string): Promise<string | undefined> {
  await b.post('/auth/magic/start', { email });
  return /\b(\d{6})\b/.exec((await mailsTo(email)).at(-1)?.text ?? '')?.[1];
}

/** Rows whose tests stand elsewhere, and why no sample fits them. */
const ELSEWHERE: Record<string, string> = {
  'auth.avatars.upload': 'takes a picture and no JSON: pictures.test.ts',
  'auth.avatars.get': 'answers with a picture: pictures.test.ts',
  'auth.mailbox': 'answers on the dashboard’s own machine only: sign-up.test.ts',
  'auth.signup': 'depends on whether anybody signed up before: sign-up.test.ts',
  'auth.magic.use': 'a link of a sign-up: sign-up.test.ts',
  'auth.complete-onboarding': 'a workspace that was not named yet: sign-in.test.ts',
  'auth.starter-key': 'a workspace that was just made: sign-up.test.ts',
};
/** Changes that no workspace's audit log records, and why. */
const UNRECORDED: Record<string, string> = {
  'auth.magic.start': 'nobody proved who they are yet',
  'auth.password.forgot': 'nobody proved who they are yet',
  'auth.workspaces.select': 'a choice of this session',
};
/** What the session plane itself refuses, whatever the row. */
const PIPELINE = ['invalid', 'csrf_failed', 'rate_limited', 'not_authenticated'];

const sampled = personOperations.filter(({ id }) => samples[id]);

function send({ b }: Pick<Somebody, 'b'>, op: AnyPersonOperation, input: Record<string, unknown>) {
  const [method, template] = op.http.split(' ') as [string, string];
  const rest = { ...input };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value.toWellFormed());
  });
  return b.call(method, path, method === 'GET' ? undefined : rest);
}

test('every operation of a person has a sample, or is tested elsewhere', () => {
  assert.deepEqual(
    personOperations.map(({ id }) => id).filter((id) => !samples[id] === !ELSEWHERE[id]),
    [],
  );
});

describe('an answer agrees with its schema, and a change is in the audit log', () => {
  for (const op of sampled)
    test(op.id, async () => {
      const who = await somebody({ signedIn: op.needs === 'session' });
      const input = await samples[op.id]!(who);
      const answer = await send(who, op, input);
      assert.ok(successesOf(op).includes(answer.status as 200), answer.text);
      const validate = ajv.compile(z.toJSONSchema(op.output, { io: 'output', unrepresentable: 'any' }));
      assert.ok(validate(answer.body), `${ajv.errorsText(validate.errors)}\n${answer.text}`);
      const request_id = String(answer.headers.get('x-request-id'));
      const entries = await db().audit_logs.count({ where: { tenant_id: who.w.tenant.id, request_id } });
      assert.equal(entries > 0, isChange(op) && !UNRECORDED[op.id], `${entries} audit entries`);
    });
});

describe('without a session nothing of a person is answered', () => {
  for (const op of personOperations.filter(({ needs }) => needs === 'session'))
    test(op.id, async () => {
      const answer = await send({ b: browser() }, op, { id: newId() });
      assert.deepEqual([answer.status, answer.body.code], [401, 'not_authenticated']);
    });
});

describe('hostile text is accepted, or refused in a declared way', () => {
  for (const op of sampled.filter(({ input }) => textPlaces(input).length > 0))
    test(op.id, async () => {
      for (const place of textPlaces(op.input)) {
        const who = await somebody({ signedIn: op.needs === 'session' });
        const input = await samples[op.id]!(who);
        for (const text of HARSH.slice(0, 12)) {
          const answer = await send(who, op, planted(op.input, input, place.path, text) as Record<string, unknown>);
          if (answer.status < 300 || answer.status === 404) continue;
          const declared: readonly string[] = [...PIPELINE, ...op.refuses];
          assert.ok(answer.status < 500 && declared.includes(String(answer.body.code)), `${place.label}: ${answer.text}`);
        }
      }
    });
});
