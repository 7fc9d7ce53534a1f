import { isNumber } from '#server/kernel/lossless-json.ts';
import { isObject, type Params, type RpcId } from '../messages.ts';
import { messageReader } from './message-reader.ts';
import { type Reply, replyOf, replyOfError, replyOfStatus, upstreamFault } from './reply.ts';
import { MOST_BYTES, type Upstream, type Wire, type WireAnswer, type WireExchange, type WireHead } from './wire.ts';

export type Outgoing = { readonly id: RpcId; readonly method: string; readonly params: Params };

export type Timing = {
  /** Until the answer, or the next sign of progress. */
  readonly answerMs: number;
  /** Altogether, however much progress there is. */
  readonly mostMs: number;
};
export const CALL_TIMING: Timing = { answerMs: 120_000, mostMs: 15 * 60_000 };
export const SHORT_TIMING: Timing = { answerMs: 15_000, mostMs: 15_000 };

export type Listener = {
  /** A notification that came before the answer. */
  onNotification(method: string, params: Params): void;
  /** A request of the upstream's. It is to be refused: an upstream must not drive the caller's model through us. */
  onRequest(id: RpcId, method: string): void;
};

export const message = (method: string, params: Params, id?: RpcId): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params }));

/** How an exchange ended, with the head of the answer when there was one. */
export type Exchanged = { readonly reply: Reply; readonly head: WireHead | null; readonly body: string };

/** Each request of an upstream's is answered by one of ours: more than this is an attempt to have us send them. */
export const MOST_ASKED = 20;
export const ASKED_TOO_OFTEN = upstreamFault('upstream_invalid_response', 'The MCP server sent too many requests of its own.');

/** A connection whose stream goes on behind the answer is given this long to end, so that it can be used again. */
const LINGER_MS = 250;

/** Posts one request and waits for its answer, in a body or in a stream. Never rejects. */
export async function exchange(
  wire: Wire,
  upstream: Upstream,
  headers: readonly string[],
  outgoing: Outgoing,
  listener: Listener,
  timing: Timing,
  signal?: AbortSignal,
): Promise<Exchanged> {
  let head: WireHead | null = null;
  let found: Reply | undefined;
  let timedOut = false;
  let asked = 0;
  const began = performance.now();
  let sent: WireExchange | undefined;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const expire = () => {
    timedOut = true;
    sent?.abort();
  };
  let timer = setTimeout(expire, timing.answerMs);
  const giveUp = () => sent?.abort();
  signal?.addEventListener('abort', giveUp, { once: true });

  const onMessage = (value: unknown) => {
    if (!isObject(value) || found) return;
    if (value.id === outgoing.id && value.method === undefined) {
      found = replyOf(value, head?.status ?? 200) ?? upstreamFault('upstream_invalid_response', 'The MCP server sent an invalid answer.');
      answer();
    } else if (typeof value.method === 'string') {
      if (isRequest(value) && ++asked > MOST_ASKED) {
        found = ASKED_TOO_OFTEN;
        answer();
      } else hear(value, value.method, listener, touch);
    }
  };
  const reader = messageReader(onMessage, (why) => {
    found ??= why;
    answer();
  });
  const touch = () => {
    clearTimeout(timer);
    timer = setTimeout(expire, Math.max(0, Math.min(timing.answerMs, timing.mostMs - (performance.now() - began))));
  };

  try {
    if (signal?.aborted) return { reply: { kind: 'canceled' }, head, body: '' };
    sent = wire(
      {
        url: upstream.url,
        method: 'POST',
        headers: [...headers, 'Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream', ...upstream.headers],
        body: message(outgoing.method, outgoing.params, outgoing.id),
        maxBytes: MOST_BYTES,
      },
      {
        onHead(received) {
          head = received;
        },
        onEvent({ data }) {
          if (data !== '') reader.push(data);
        },
      },
    );
    const { ended } = sent;
    const whole = await Promise.race([ended, answered]);
    await reader.done();
    if (found) {
      setTimeout(() => sent?.abort(), LINGER_MS).unref();
      return { reply: found, head, body: '' };
    }
    const { body } = whole as WireAnswer;
    return { reply: await wholeReply(whole as WireAnswer, outgoing.id, onMessage, () => found), head, body };
  } catch (error) {
    await reader.done();
    const reply: Reply = timedOut ? upstreamFault('upstream_timeout', 'The MCP server did not answer in time.') : replyOfError(error);
    return { reply: found ?? reply, head, body: '' };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** The answer in a body that came whole; a stream that ended without it is none. */
async function wholeReply(
  answer: WireAnswer,
  id: RpcId,
  onMessage: (value: unknown) => void,
  found: () => Reply | undefined,
): Promise<Reply> {
  if (answer.streams)
    return upstreamFault('upstream_invalid_response', 'The MCP server ended its stream without an answer.', answer.status);
  let reply: Reply | undefined;
  const reader = messageReader(
    (value) => {
      if (isObject(value) && value.id === id) onMessage(value);
      // Errors about the message itself may come without its id.
      else if (isObject(value) && isObject(value.error) && (value.id === null || value.id === undefined))
        reply = replyOf(value, answer.status);
    },
    (why) => {
      reply = why;
    },
  );
  reader.push(answer.body);
  await reader.done();
  return reply ?? found() ?? replyOfStatus(answer.status);
}

/** Of a message with a method. */
export const isRequest = (value: Params): value is Params & { id: RpcId } => typeof value.id === 'string' || isNumber(value.id);

function hear(value: Params, method: string, listener: Listener, touch: () => void): void {
  if (isRequest(value)) listener.onRequest(value.id, method);
  else {
    if (method === 'notifications/progress') touch();
    listener.onNotification(method, isObject(value.params) ? value.params : {});
  }
}

/** Sends something that has no answer and waits for nobody to read it. */
export function post(wire: Wire, upstream: Upstream, headers: readonly string[], body: Buffer): Promise<number> {
  const sent = wire(
    {
      url: upstream.url,
      method: 'POST',
      headers: [...headers, 'Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream', ...upstream.headers],
      body,
      maxBytes: 64 * 1024,
    },
    { onEvent: () => sent.abort() },
  );
  const timer = setTimeout(() => sent.abort(), SHORT_TIMING.answerMs);
  return sent.ended
    .then(
      ({ status }) => status,
      () => 0,
    )
    .finally(() => clearTimeout(timer));
}
