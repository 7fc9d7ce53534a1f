import assert from 'node:assert/strict';
import test from 'node:test';
import { TRPCClientError, type TRPCClientRuntime } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { AppRouter } from '#server/trpc/root.ts';
import { type Challenge, firstChallenge, isCancelled, settleChallenge } from './challenges.ts';
import { headersOf, stepUpLink } from './step-up-link.ts';
import { fetchWithStepUp } from './with-step-up.ts';

const refused = (scope: string, code = 'step_up_required') => ({
  error: code,
  code,
  message: `Confirm it’s you for ${scope}.`,
  request_id: 'r',
  status: 403,
  requires_step_up: true,
  action_scope: scope,
  allowed_methods: ['passkey', '2fa'],
});
const noFactor = { ...refused(''), code: 'mfa_required', requires_step_up: undefined };
const proof = (token: string) => ({ 'x-svc-stepup': token });
const verifying = () => firstChallenge() as Challenge & { kind: 'verify' };

const link = stepUpLink({} as TRPCClientRuntime);
/** One call through the link, to a server that answers so, one answer after the other. */
function call(
  answers: (object | 'done')[],
  { type = 'mutation', headers, reveal }: { type?: string; headers?: object; reveal?: boolean } = {},
) {
  const seen = { sent: [] as unknown[], ended: [] as unknown[] };
  const op = {
    id: 1,
    type,
    path: 'apiKeys.create',
    input: {},
    context: { ...(headers ? { headers } : {}), ...(reveal ? { reveal } : {}) },
    signal: undefined,
  } as never;
  const next = (attempt: { context: Record<string, unknown> }) =>
    observable<never, TRPCClientError<AppRouter>>((observer) => {
      const answer = answers[seen.sent.push(headersOf(attempt)) - 1];
      if (answer === 'done') observer.complete();
      else observer.error(new TRPCClientError('refused', { result: { error: { message: 'refused', data: answer } as never } }));
      return () => {};
    });
  const { unsubscribe } = link({ op, next } as never).subscribe({
    error: (failure) => seen.ended.push(failure),
    complete: () => seen.ended.push('done'),
  });
  return { seen, stop: unsubscribe };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a call that needs a verification is repeated once, with it, and what else it carried', async () => {
  const { seen } = call([refused('api_key.create'), 'done'], { headers: { 'x-reveal-reason': 'ticket' } });
  assert.deepEqual([verifying().scope, verifying().message], ['api_key.create', 'Confirm it’s you for api_key.create.']);
  settleChallenge(verifying(), proof('stp_1'));
  await settled();
  assert.deepEqual(seen.sent, [{ 'x-reveal-reason': 'ticket' }, { 'x-reveal-reason': 'ticket', 'x-svc-stepup': 'stp_1' }]);
  assert.deepEqual([seen.ended, firstChallenge()], [['done'], undefined]);
});

test('a second refusal is told and not asked about again', async () => {
  const { seen } = call([refused('api_key.create'), refused('api_key.create'), 'done']);
  settleChallenge(verifying(), proof('stp_1'));
  await settled();
  assert.deepEqual([seen.sent.length, seen.ended.length, firstChallenge()], [2, 1, undefined]);
});

test('a move of a stored credential takes a reason, as a reveal does', async () => {
  call([refused('credential.move'), 'done']);
  assert.deepEqual([verifying().scope, verifying().asks_reason], ['credential.move', true]);
  settleChallenge(verifying(), null);
  await settled();
});

const wantsReason = { error: 'reveal_reason_required', code: 'reveal_reason_required', message: 'This workspace asks why.', status: 400 };
const explaining = () => firstChallenge() as Challenge & { kind: 'reason' };

test('a workspace that asks for a reason gets one after the verification, whatever the page knows of it', async () => {
  const { seen } = call([refused('sso.change'), wantsReason, 'done']);
  assert.equal(verifying().asks_reason, false);
  settleChallenge(verifying(), { 'x-svc-stepup': 'stp_1' });
  await settled();
  assert.deepEqual([explaining().kind, explaining().message], ['reason', 'This workspace asks why.']);
  settleChallenge(explaining(), { 'x-reveal-reason': 'ticket' });
  await settled();
  assert.deepEqual(seen.sent, [undefined, proof('stp_1'), { ...proof('stp_1'), 'x-reveal-reason': 'ticket' }]);
  assert.deepEqual([seen.ended, firstChallenge()], [['done'], undefined]);
});

test('a reason is asked for once, without a verification too, and never in place of the form of a reveal', async () => {
  const again = call([wantsReason, wantsReason, 'done']);
  settleChallenge(explaining(), { 'x-reveal-reason': ' ' });
  await settled();
  assert.deepEqual([again.seen.sent.length, again.seen.ended.length, firstChallenge()], [2, 1, undefined]);
  const given = call([wantsReason, 'done']);
  settleChallenge(explaining(), null);
  await settled();
  assert.deepEqual([given.seen.sent.length, isCancelled(given.seen.ended[0])], [1, true]);
  const reveal = call([wantsReason, 'done'], { reveal: true });
  assert.deepEqual([reveal.seen.ended.length, firstChallenge()], [1, undefined]);
});

const oldSignIn = { ...refused('credential.mint'), requires_step_up: undefined, allowed_methods: ['sign_in'] };

test('a call that takes a new sign-in waits for it, and is repeated once with what the new session is known by', async () => {
  const { seen } = call([oldSignIn, oldSignIn, 'done'], { headers: { 'x-reveal-reason': 'ticket' } });
  assert.deepEqual([firstChallenge()?.kind, firstChallenge()?.message], ['sign_in', oldSignIn.message]);
  settleChallenge(firstChallenge() as Challenge, { 'x-csrf-token': 'new' });
  await settled();
  assert.deepEqual(seen.sent, [{ 'x-reveal-reason': 'ticket' }, { 'x-reveal-reason': 'ticket', 'x-csrf-token': 'new' }]);
  assert.deepEqual([seen.ended.length, firstChallenge()], [1, undefined], 'a second refusal is told');
  const given = call([oldSignIn, 'done']);
  settleChallenge(firstChallenge() as Challenge, null);
  await settled();
  const failure = given.seen.ended[0] as TRPCClientError<AppRouter>;
  assert.deepEqual([isCancelled(failure), failure.data?.code, given.seen.sent.length], [true, 'step_up_required', 1]);
  assert.match(failure.message, /didn’t sign in again/);
  const read = call([oldSignIn], { type: 'query' });
  assert.deepEqual([read.seen.ended.length, firstChallenge()], [1, undefined], 'a page that only reads asks nothing');
});

test('so does a plain request, unless it only reads', async (t) => {
  const sent: (string | null)[] = [];
  t.mock.method(globalThis, 'fetch', async (_: string, init: RequestInit = {}) => {
    const token = new Headers(init.headers).get('x-csrf-token');
    sent.push(token);
    return token === 'new' ? Response.json({ ok: true }) : Response.json(oldSignIn, { status: 403 });
  });
  const request = fetchWithStepUp('/auth/2fa/setup', { method: 'POST', headers: { 'x-csrf-token': 'old' } });
  await settled();
  assert.equal(firstChallenge()?.kind, 'sign_in');
  settleChallenge(firstChallenge() as Challenge, { 'x-csrf-token': 'new' });
  assert.deepEqual([(await request).status, sent], [200, ['old', 'new']]);
  assert.deepEqual([(await fetchWithStepUp('/auth/me')).status, firstChallenge()], [403, undefined]);
});

test('two calls ask one after the other, each for itself, and what is cancelled is refused with its code', async () => {
  const [first, second] = [
    call([refused('api_key.create'), 'done']),
    call([refused('plaintext.reveal', 'reveal_step_up_required'), 'done']),
  ];
  assert.deepEqual([verifying().scope, verifying().asks_reason], ['api_key.create', false]);
  settleChallenge(verifying(), null);
  await settled();
  const failure = first.seen.ended[0] as TRPCClientError<AppRouter>;
  assert.deepEqual([failure.data?.code, isCancelled(failure), first.seen.sent.length], ['step_up_required', true, 1]);
  assert.deepEqual([verifying().scope, verifying().asks_reason], ['plaintext.reveal', true]);
  settleChallenge(verifying(), proof('stp_2'));
  await settled();
  assert.deepEqual([second.seen.ended, second.seen.sent], [['done'], [undefined, proof('stp_2')]]);
});

test('a call that nobody waits for any more asks nothing', async () => {
  const { seen, stop } = call([refused('api_key.create'), 'done']);
  stop();
  await settled();
  assert.deepEqual([seen.sent.length, firstChallenge()], [1, undefined]);
});

test('a missing factor is explained once for what was pressed, never for what a page reads', () => {
  call([noFactor], { type: 'query' });
  assert.equal(firstChallenge(), undefined);
  const { seen } = call([noFactor]);
  call([noFactor]);
  assert.deepEqual([firstChallenge()?.kind, seen.ended.length], ['enroll', 1]);
  settleChallenge(firstChallenge() as Challenge, null);
  assert.equal(firstChallenge(), undefined);
});

test('plain requests are repeated alike, and a cancelled one is answered with its refusal', async (t) => {
  const sent: (string | null)[] = [];
  t.mock.method(globalThis, 'fetch', async (_: string, init: RequestInit) => {
    const token = new Headers(init.headers).get('x-svc-stepup');
    sent.push(token);
    return token ? Response.json({ ok: true }) : Response.json(refused('mfa.credential'), { status: 403 });
  });
  const request = fetchWithStepUp('/auth/2fa/disable', { method: 'POST', headers: { 'x-csrf-token': 'c' } });
  await settled();
  settleChallenge(verifying(), proof('stp_3'));
  assert.deepEqual([(await request).status, sent], [200, [null, 'stp_3']]);
  const given = fetchWithStepUp('/auth/2fa/disable', { method: 'POST' });
  await settled();
  settleChallenge(verifying(), null);
  const answer = await given;
  assert.deepEqual([answer.status, isCancelled({ data: await answer.json() }), sent.length], [403, true, 3]);
});
