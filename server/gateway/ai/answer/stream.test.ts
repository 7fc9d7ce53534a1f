import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import test from 'node:test';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import type { StreamEvent } from '#server/ai/stream/event.ts';
import { usageMeter } from '#server/ai/stream/usage-meter.ts';
import type { Runtime } from '../../core/runtime.ts';
import { frames } from '../ai.fixture.ts';
import type { AiCall } from '../ai-call.ts';
import type { AnswerSink, Attempt } from '../upstream/attempt.ts';
import type { CallerGone } from '../upstream/caller.ts';
import { type RelayPlan, relay } from './stream.ts';

test('a stream that is ended while its last texts are on a thread gets nothing more', async () => {
  const written: string[] = [];
  const sink = new Writable({
    write(bytes: Buffer, _, done) {
      written.push(bytes.toString());
      done();
    },
  });
  const errors: unknown[] = [];
  sink.on('error', (error) => errors.push(error));
  const res = Object.assign(sink, { begin: () => sink, flushHeaders: () => undefined });
  const state = { principal: null, warnings: [], lines: '', cache: null, fallback: null, route: null };
  const call = { res, state, snapshot: { sandbox: false }, nonce: null, responseBytes: 0, requestBytes: 0, latencyMs: 1, upstreamMs: 1 };
  let late = () => {};
  const caller = {
    late: true,
    onEnd(listener: () => void) {
      late = listener;
    },
  };
  const thread = Promise.withResolvers<StreamEvent[]>();
  let last: StreamEvent | undefined;
  const { stream: grammar } = adapterOf('openai-chat') ?? assert.fail();
  const attempt = {
    status: 200,
    headers: [],
    pause: () => undefined,
    resume: () => undefined,
    abort: () => undefined,
    take(answer: AnswerSink) {
      for (const frame of frames('Hello there')) answer.data(Buffer.from(frame));
      answer.end();
    },
  };
  const stage = {
    push(event: StreamEvent) {
      last = event;
      return [event];
    },
    end: () => thread.promise,
  };
  const plan: Partial<RelayPlan> = {
    from: 'sse',
    to: 'sse',
    meter: usageMeter(grammar),
    stages: [stage],
    secrets: [],
    grammar,
    native: true,
  };
  const sent = relay(call as unknown as AiCall, {} as Runtime, caller as unknown as CallerGone, {
    ...(plan as RelayPlan),
    attempt: attempt as unknown as Attempt,
    collected: null,
    held: () => 0,
  });
  late();
  assert.equal(await sent, 'sent');
  const before = written.length;
  assert.match(written.at(-1) ?? '', /upstream_timeout/);
  thread.resolve([last as StreamEvent]);
  await new Promise(setImmediate);
  assert.deepEqual([errors, written.length, sink.writableCorked], [[], before, 0]);
});
