import { createServer, type IncomingMessage, request } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import type { Pace } from '#server/platform/http-out/request-out.ts';
import type { Caller } from '../snapshot/model.ts';
import type { SpaceSnapshot } from '../snapshot/slices.ts';
import { newCall } from './call.ts';
import { GatewayResponse } from './gateway-response.ts';
import { inspectHead } from './listener.ts';
import type { Pipeline } from './pipeline.ts';
import { refused } from './refusal.ts';

export type InProcessRequest = {
  readonly snapshot: SpaceSnapshot;
  readonly otherSpace: SpaceSnapshot;
  /** Whom the call is made for, authenticated already. */
  readonly caller: Caller;
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string | Buffer | null;
  readonly host: string;
  readonly sourceAddress: string;
  readonly requestId: string;
  readonly timeoutMs: number;
  /** More of the body is not read. */
  readonly maxBytes: number;
  /** Paces the reading of the answer. */
  readonly pace?: Pace | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The signature of whoever sent it was verified: its upstream is told. */
  readonly verified?: boolean;
  /** No answer shows the value of a secret that its call used, also where the upstream repeats it. */
  readonly hidesSecrets?: boolean;
  /** The target was made of values that are each encoded as one segment: an encoded slash separates nothing. */
  readonly encodesSegments?: boolean;
};

export type InProcessAnswer = {
  readonly status: number;
  header(name: string): string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** There was more of the body. */
  readonly cut: boolean;
};

export type InProcess = {
  /** The answer; null when there was none in time. Rejects for nothing else. */
  send(request: InProcessRequest): Promise<InProcessAnswer | null>;
};

/**
 * Calls of one plane to another within this process: a real request over a connection that no socket carries, so that the code that serves every other call
 * parses, judges, limits, sends, answers and logs it.
 */
export function createInProcess(pipeline: Pipeline): InProcess {
  const waiting = new WeakMap<Duplex, InProcessRequest>();
  const server = createServer({ ServerResponse: GatewayResponse, requireHostHeader: false }, (req, res) => {
    const asked = waiting.get(req.socket);
    if (asked) serve(pipeline, req, res, asked);
    else res.destroy();
  });
  return {
    send(asked) {
      const [ours, theirs] = duplexPair();
      waiting.set(theirs, asked);
      server.emit('connection', theirs);
      return exchange(ours, asked);
    },
  };
}

function serve(pipeline: Pipeline, req: IncomingMessage, res: GatewayResponse, asked: InProcessRequest): void {
  const { snapshot, otherSpace, caller, host, sourceAddress, requestId, target, verified, hidesSecrets, encodesSegments } = asked;
  const { plane } = pipeline;
  const state = plane.newState();
  const call = newCall({
    planeName: plane.shownAs,
    state,
    req,
    res,
    requestId,
    snapshot,
    otherSpace,
    target,
    sourceAddress,
    host,
    caller,
    verified,
    hidesSecrets,
    encodesSegments,
  });
  const head = inspectHead(req);
  if (head.ok) pipeline.serve(call);
  else pipeline.refuse(call, refused(head.type, head.message));
}

function exchange(
  socket: Duplex,
  { method, target, headers, body, host, timeoutMs, maxBytes, pace, signal }: InProcessRequest,
): Promise<InProcessAnswer | null> {
  return new Promise((resolve) => {
    const settle = (answer: InProcessAnswer | null) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve(answer);
      req.destroy();
    };
    const stop = () => settle(null);
    const timer = setTimeout(stop, timeoutMs);
    const all = [
      'Host',
      host,
      ...headers,
      'Connection',
      'close',
      ...(body === null ? [] : ['Content-Length', String(Buffer.byteLength(body))]),
    ];
    const req = request({ createConnection: () => socket as never, method, path: target, headers: all, setHost: false }, (res) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const readsOn = pace?.(() => res.resume());
      const answer = (cut: boolean) => {
        const { statusCode: status = 0, headers: received } = res;
        settle({
          status,
          header: (name) => String(received[name] ?? '') || undefined,
          headers: received,
          body: Buffer.concat(chunks),
          cut,
        });
      };
      res.on('data', (chunk: Buffer) => {
        const room = maxBytes - bytes;
        chunks.push(chunk.subarray(0, room));
        bytes += chunk.length;
        if (bytes > maxBytes) answer(true);
        else if (readsOn?.(bytes) === false) res.pause();
      });
      res.on('end', () => answer(false));
      res.on('error', stop);
      res.on('aborted', stop);
    });
    req.on('error', stop);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    else req.end(body ?? undefined);
  });
}
