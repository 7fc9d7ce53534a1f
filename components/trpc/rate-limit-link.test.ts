import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { TRPCClientError, type TRPCClientRuntime } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { AppRouter } from '#server/trpc/root.ts';
import { isWaiting, rateLimitLink } from './rate-limit-link.ts';

mock.timers.enable({ apis: ['setTimeout'] });

type Answer = { code: string; retry_after?: number } | 'done';
const ask = rateLimitLink({} as TRPCClientRuntime);

/** One call through the link, to a server that answers so, one answer after the other. */
function call(...answers: Answer[]) {
  const seen = { asked: 0, ended: [] as string[] };
  const operation = { id: 1, type: 'mutation', path: 'routes.create', input: {}, context: {}, signal: undefined } as never;
  const next = () =>
    observable<never, TRPCClientError<AppRouter>>((observer) => {
      const answer = answers[seen.asked++] as Answer;
      if (answer === 'done') observer.complete();
      else observer.error(Object.assign(new TRPCClientError<AppRouter>('refused'), { data: answer }));
      return () => {};
    });
  const { unsubscribe } = ask({ op: operation, next } as never).subscribe({
    error: (failure) => seen.ended.push((failure as unknown as { data: { code: string } }).data.code),
    complete: () => seen.ended.push('done'),
  });
  return { seen, stop: unsubscribe };
}

test('a call that came too fast is made again when the server said, and says meanwhile that it waits', () => {
  const { seen } = call({ code: 'rate_limited', retry_after: 4 }, 'done');
  mock.timers.tick(3_999);
  assert.deepEqual([seen.asked, seen.ended, isWaiting()], [1, [], true]);
  mock.timers.tick(501);
  assert.deepEqual([seen.asked, seen.ended, isWaiting()], [2, ['done'], false]);
});

test('it is patient, not stubborn: what is refused for another reason, for long or again and again is told', () => {
  for (const refusal of [{ code: 'conflict' }, { code: 'rate_limited' }, { code: 'rate_limited', retry_after: 600 }])
    assert.deepEqual(call(refusal).seen, { asked: 1, ended: [refusal.code] });
  const soon = { code: 'rate_limited', retry_after: 1 };
  const { seen } = call(soon, soon, soon, 'done');
  for (let i = 0; i < 3; i++) mock.timers.tick(1_500);
  assert.deepEqual([seen, isWaiting()], [{ asked: 3, ended: ['rate_limited'] }, false]);
});

test('whoever stops waiting for the answer stops asking', () => {
  const { seen, stop } = call({ code: 'rate_limited', retry_after: 1 }, 'done');
  stop();
  mock.timers.tick(10_000);
  assert.deepEqual([seen, isWaiting()], [{ asked: 1, ended: [] }, false]);
});
