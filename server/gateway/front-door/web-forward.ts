import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type BodyFault, bodyFault } from '../core/broken-body.ts';
import { acceptBody, discardBody } from '../core/listener.ts';
import { quota } from '../core/quota.ts';
import type { WebAnswer } from '../core/web-call.ts';

/** Why the web process gave no answer. `unavailable` is certain: nothing was changed. After `broken` nobody knows. */
export type WebFailure = 'unavailable' | 'broken' | 'too_large' | 'slow_body' | 'broken_body' | 'crowded';

export type WebRequest = {
  target: string;
  /** Flat list of names and values; decides the framing, so it must keep the caller's Content-Length or Transfer-Encoding. */
  headers: string[];
  /** `unread`: web is asked without the caller's body, which is read off after the answer. */
  bodyLimit: number | 'unread';
  /** The caller's body when it was read before. */
  body?: Buffer | undefined;
  /** Whom the place at the web process is counted for. */
  source: string;
  /** Sees the answer's head before the caller does, and returns what to relay; a `body` replaces web's. */
  onHead(head: WebHead): Promise<WebHead & { body?: string | undefined }>;
  /** Called at most once, and only while nothing was sent to the caller. */
  onFailure(failure: WebFailure): void;
};

/** `headers` as in WebRequest; they say how long `body` is. */
export type WebQuestion = {
  method: 'GET' | 'POST';
  target: string;
  headers: string[];
  body?: Buffer | undefined;
  source: string;
  /** Milliseconds; 20 s. */
  withinMs?: number | undefined;
  /** On a connection of its own: requests that web works on may have all the shared ones. */
  alone?: boolean | undefined;
};

export type WebHead = { status: number; headers: readonly string[] };

export type WebForward = {
  /** Streams a request to the web process and its answer back, both ways with back-pressure. */
  forward(req: IncomingMessage, res: ServerResponse, how: WebRequest): void;
  /** Asks the web process something small on behalf of `source`, and gives its whole answer. Never rejects. */
  ask(question: WebQuestion): Promise<WebAnswer | WebFailure>;
  /** Ends the event streams that are open: they have no end of their own, and whoever reads them comes back. */
  endStreams(): void;
  close(): void;
};

export type WebForwardOptions = {
  /** The web process's unix socket. */
  socketPath: string;
  maxSockets?: number | undefined;
  /** Of them one source's: who leaves answers unread or bodies unsent keeps nobody else out. */
  maxPerAddress?: number | undefined;
  /** Bytes of bodies that one source's running requests may have sent; web keeps them in memory until they are whole. */
  maxBodiesPerAddress?: number | undefined;
  /** How long an answer's head is waited for while the process lives. */
  headTimeoutMs?: number | undefined;
  /** How often a process that owes an answer is asked whether it lives; one that doesn't say so within that time hangs, and is waited for no longer. */
  lifeCheckMs?: number | undefined;
  /** Silence inside a request body (interface rule 12 §17). */
  bodyIdleMs?: number | undefined;
};

/** Hands requests to the web process over its socket, and its answers back, within bounds that no one caller can use up. */
export function createWebForward({
  socketPath,
  maxSockets = 2_048,
  maxPerAddress = 512,
  maxBodiesPerAddress = 32 * MIB,
  headTimeoutMs = 120_000,
  lifeCheckMs = 10_000,
  bodyIdleMs = 30_000,
}: WebForwardOptions): WebForward {
  const streams = new Set<() => void>();
  const places = quota(maxPerAddress);
  const bodies = quota(maxBodiesPerAddress, MOST_OF_BODIES);
  const agent = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: 64, scheduling: 'lifo' });

  function forward(req: IncomingMessage, res: ServerResponse, how: WebRequest): void {
    const length = req.headers['content-length'];
    const unread = how.bodyLimit === 'unread';
    const limit = how.bodyLimit === 'unread' ? 0 : how.bodyLimit;
    const hasBody = !unread && (req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0'));
    if (!unread && Number(length ?? 0) > limit) {
      how.onFailure('too_large');
      return;
    }
    const { source } = how;
    if (!places.take(source, 1)) {
      how.onFailure('crowded');
      return;
    }
    let sent = 0;
    // A place until the caller has its answer, or is gone.
    res.once('close', () => {
      places.give(source, 1);
      bodies.give(source, sent);
    });
    const mayHold = (bytes: number): boolean => {
      if (res.closed || !bodies.take(source, bytes)) return false;
      sent += bytes;
      return true;
    };
    let failed = false;
    const fail = (failure: WebFailure) => {
      if (failed) return;
      failed = true;
      if (res.headersSent) res.destroy();
      else if (!res.destroyed) how.onFailure(failure);
    };
    const { body } = how;
    if (body && !mayHold(body.length)) {
      how.onFailure('crowded');
      return;
    }
    const fault = hasBody && !body ? bodyFault(req) : undefined;
    if (fault !== undefined) {
      fail(failureOf(fault));
      return;
    }
    if (hasBody && !body) acceptBody(req, res);
    send(true);

    function send(mayRetry: boolean): void {
      let answered = false;
      const web: ClientRequest = request({ agent, socketPath, method: req.method, path: how.target, headers: how.headers });
      const give = () => web.destroy();
      res.once('close', give);
      const endWait = waitForHead(web);
      web.on('close', () => {
        endWait();
        res.removeListener('close', give);
      });
      web.on('error', (error: NodeJS.ErrnoException) => {
        endWait();
        if (answered || failed || res.destroyed) return;
        // A kept-alive socket that web closed meanwhile. Whether it had made a change nobody can tell, so only what changes nothing is asked again.
        if (mayRetry && web.reusedSocket && !hasBody && isSafe(req) && error.code === 'ECONNRESET') return send(false);
        fail(NOT_CONNECTED.has(error.code ?? '') || isSafe(req) ? 'unavailable' : 'broken');
      });
      web.on('response', (answer) => {
        answered = true;
        endWait();
        relay(answer, res, how, streams).then(
          () => (unread ? discardBody(req) : undefined),
          () => {
            answer.destroy();
            fail('broken');
          },
        );
      });
      if (body) web.end(body);
      else if (hasBody) sendBody(req, web, { limit, mayHold, idleMs: bodyIdleMs }, fail);
      else web.end();
    }
  }

  /** Gives a request up when its answer takes too long, and sooner when the process hangs. @returns what ends the wait */
  function waitForHead(web: ClientRequest): () => void {
    const late = setTimeout(() => web.destroy(new Error('no response in time')), headTimeoutMs);
    const check = setInterval(() => {
      void lives().then((alive) => {
        if (!alive) web.destroy(new Error('the web process hangs'));
      });
    }, lifeCheckMs);
    return () => {
      clearTimeout(late);
      clearInterval(check);
    };
  }

  let checked: Promise<boolean> | undefined;
  /** One question for all requests that wait. A connection that is refused ends them by itself. */
  function lives(): Promise<boolean> {
    checked ??= ask({ method: 'GET', target: '/__alive', headers: [], source: 'alive', withinMs: lifeCheckMs, alone: true }).then(
      (answer) => {
        checked = undefined;
        return typeof answer === 'object';
      },
    );
    return checked;
  }

  function ask({ method, target, headers, body, source, withinMs = ASK_MS, alone = false }: WebQuestion): Promise<WebAnswer | WebFailure> {
    if (!places.take(source, 1)) return Promise.resolve('crowded');
    return new Promise((resolve) => {
      const web = request({ agent: alone ? false : agent, socketPath, method, path: target, headers: withHost(headers) });
      const late = setTimeout(() => web.destroy(new Error('no response in time')), Math.min(headTimeoutMs, withinMs));
      const failed = (error: NodeJS.ErrnoException) => resolve(NOT_CONNECTED.has(error.code ?? '') ? 'unavailable' : 'broken');
      web.on('error', failed);
      web.on('response', (answer) => {
        text(answer).then((all) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, text: all }), failed);
      });
      web.on('close', () => {
        clearTimeout(late);
        places.give(source, 1);
      });
      web.end(body);
    });
  }

  return {
    forward,
    ask,
    endStreams() {
      for (const end of streams) end();
    },
    close: () => agent.destroy(),
  };
}

const MIB = 1024 * 1024;
const ASK_MS = 20_000;
/** Of all sources together. */
const MOST_OF_BODIES = 256 * MIB;

/** Node adds no Host to a flat list, and its server answers 400 without one (RFC 9112, section 3.2). */
const withHost = (headers: string[]) =>
  headers.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'host') ? headers : ['host', 'web', ...headers];

const NOT_CONNECTED = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES', 'EAGAIN', 'ENOTSOCK']);

function isSafe(req: IncomingMessage): boolean {
  return req.method === 'GET' || req.method === 'HEAD' || req.method === 'OPTIONS';
}

const failureOf = (fault: BodyFault): WebFailure => (fault === 'late' ? 'slow_body' : 'broken_body');

/** Counts what is really sent, whatever Content-Length said, and hangs up on web before it could take a part for the whole. */
function sendBody(
  req: IncomingMessage,
  web: ClientRequest,
  { limit, mayHold, idleMs }: { limit: number; mayHold: (bytes: number) => boolean; idleMs: number },
  fail: (failure: WebFailure) => void,
): void {
  let bytes = 0;
  const idle = setTimeout(() => {
    fail('slow_body');
    web.destroy();
  }, idleMs);
  const stop = () => clearTimeout(idle);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    idle.refresh();
    if (bytes > limit || !mayHold(chunk.length)) {
      stop();
      fail(bytes > limit ? 'too_large' : 'crowded');
      web.destroy();
    } else if (!web.destroyed && !web.write(chunk)) req.pause();
  });
  web.on('drain', () => {
    idle.refresh();
    req.resume();
  });
  req.on('end', () => {
    stop();
    web.end();
  });
  req.on('close', () => {
    stop();
    if (!req.complete) web.destroy();
  });
  req.on('error', () => {
    const fault = bodyFault(req);
    if (fault !== undefined) fail(failureOf(fault));
    web.destroy();
  });
  // Web may answer before it has read everything; the rest of the body must not stay stuck in a paused request.
  web.on('close', () => {
    stop();
    req.resume();
  });
}

/** The caller sees the end of the answer only if web ended it: a broken stream is destroyed, not closed politely. */
async function relay(answer: IncomingMessage, res: ServerResponse, how: WebRequest, streams: Set<() => void>): Promise<void> {
  answer.on('error', () => res.destroy());
  const head = await how.onHead({ status: answer.statusCode ?? 502, headers: answer.rawHeaders });
  if (res.destroyed || res.headersSent) {
    answer.destroy();
    return;
  }
  res.writeHead(head.status, head.headers as string[]);
  if (head.body !== undefined) {
    answer.resume();
    res.end(res.req.method === 'HEAD' ? undefined : head.body);
    return;
  }
  // Event streams must arrive although nothing follows the head for a while.
  if (answer.headers['content-length'] === undefined) res.flushHeaders();
  answer.on('aborted', () => res.destroy());
  answer.pipe(res);
  if (!answer.headers['content-type']?.startsWith('text/event-stream')) return;
  const end = () => {
    answer.unpipe(res);
    answer.removeAllListeners('aborted');
    res.end();
    answer.destroy();
  };
  streams.add(end);
  res.once('close', () => streams.delete(end));
}
