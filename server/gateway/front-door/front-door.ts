import type { IncomingMessage, ServerResponse } from 'node:http';
import { OUTAGES } from '#server/kernel/errors.ts';
import { sizeText } from '#server/kernel/numbers.ts';
import { type Outage, PAGE_OUTAGE_HEADER } from '#server/kernel/outage.ts';
import type { Network } from '#server/platform/http-out/networks.ts';
import { countOperation } from '#server/platform/telemetry/operation-meter.ts';
import { countRefusal } from '../core/call-meter.ts';
import { networkOf, type RequestOrigin, requestOrigin } from '../core/client-address.ts';
import { within } from '../core/hosts.ts';
import { discardBody } from '../core/listener.ts';
import { type Refused as RefusedAtDoor, statusOf } from '../core/refusal.ts';
import { type ReadBody, readBody } from '../core/request-body.ts';
import type { Head, HeadRefusal } from '../core/request-head.ts';
import type { Elements } from '../elements/elements.ts';
import type { HotOAuth } from '../oauth/hot.ts';
import type { HotV1 } from '../v1/hot.ts';
import { changedBy, headersForWeb, headersFromWeb, standardHeaders } from './headers.ts';
import { type Refused, refusalAnswer, writeRefusal } from './refusal.ts';
import { type ForwardablePlane, type FrontPass, type FrontRefusal, frontDoor, type Surface } from './surface.ts';
import type { WebFailure, WebForward, WebHead } from './web-forward.ts';

export type FrontDoorOptions = {
  web: WebForward;
  /** Secret between gateway and web: web trusts x-sallyport-* only beside it. */
  token: string;
  trustedProxies: readonly Network[];
  /** Answers what can be answered without web. */
  hot?: HotV1 | undefined;
  hotOAuth?: HotOAuth | undefined;
  /** Answers for the library and the fields that pages of customers load. */
  elements?: Elements | undefined;
  /** Awaited before the answer to a change is relayed, so that the caller's next call sees it. */
  onChanged(value: string): Promise<void>;
  /** Whether the gateway itself misses the database, without which web may not be running. */
  databaseAway?: (() => boolean) | undefined;
  /** Upper bound of that wait, milliseconds. */
  changedTimeoutMs?: number | undefined;
};

export type FrontDoorCall = {
  match: ForwardablePlane;
  head: Head;
  requestId: string;
  /** When the caller has worked it out already. */
  origin?: RequestOrigin | undefined;
  /** Why a path under /v1 can't be served whatever stands there: its version. */
  fault?: RefusedAtDoor | undefined;
};

export type FrontDoor = {
  /** Refuses or forwards one request of a plane that is not data plane. Answers exactly once, never throws. */
  serve(req: IncomingMessage, res: ServerResponse, call: FrontDoorCall): void;
  /** Answers a request whose head is at fault, in the shape of the surface it was for. */
  refuse(req: IncomingMessage, res: ServerResponse, call: Omit<FrontDoorCall, 'head'>, fault: HeadRefusal): void;
};

export function createFrontDoor(options: FrontDoorOptions): FrontDoor {
  const { web, token, trustedProxies, changedTimeoutMs = 2_000 } = options;

  async function settleChanges(headers: readonly string[]): Promise<void> {
    const changes = changedBy(headers);
    if (changes.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, changedTimeoutMs);
    });
    // A snapshot that cannot be refreshed must not hide an answer: the change itself is committed.
    await Promise.race([Promise.allSettled(changes.map((value) => options.onChanged(value))), limit]);
    clearTimeout(timer);
  }

  return {
    serve(req, res, { match, head, requestId, origin = requestOrigin(req, trustedProxies), fault }) {
      const verdict = frontDoor(match, req.method ?? '', head.headerBytes);
      const { surface } = verdict;
      const standard = standardHeaders(surface, origin.proto);
      const refuse = (refused: Omit<Refused, 'surface'>) => {
        countRefusal(refused.type);
        writeRefusal(req, res, { surface, ...refused }, requestId, standard);
      };
      const facts = { token, match, origin, requestId };
      const fill = { 'x-request-id': requestId, ...standard };
      const told = (refused: Omit<Refused, 'surface'>) => {
        const { headers, text } = refusalAnswer({ surface, ...refused }, requestId, standard);
        return { status: refused.status, headers: Object.entries(headers).flat(), body: text };
      };
      const relayed = (answer: WebHead) => {
        const own = frameworkAnswer(answer, surface, match.target, req.method === 'OPTIONS');
        return own ? told(own) : { status: answer.status, headers: headersFromWeb(answer.headers, surface, fill) };
      };
      const excess = excessOf(req, verdict);
      // Whether there is such a path, and such a method on it, comes before its size (01 §2), and only web knows it: it is asked about the bare line.
      if (excess)
        return web.forward(req, res, {
          target: match.target,
          headers: [...headersForWeb([], surface, facts), 'content-length', '0', 'x-sallyport-fault', excess.type],
          bodyLimit: 'unread',
          source: networkOf(origin.address),
          onHead: async (answer) => (answer.status === 404 || answer.status === 405 ? relayed(answer) : told(excess)),
          onFailure: () => refuse(excess),
        });
      if (!verdict.ok) return refuse(verdict);
      // The Management API has an order of its own, which web keeps.
      if (fault && surface !== 'management') return refuse({ status: statusOf(fault.code), type: fault.code, message: fault.message });

      const { target, bodyLimit } = verdict;
      if (match.plane === 'api' && isElement(target)) {
        if (!options.elements?.has(pathOf(target))) return refuse({ status: 404, type: 'not_found', message: 'No such path.' });
        if (req.method !== 'GET' && req.method !== 'HEAD') return refuse(ONLY_READ);
        discardBody(req);
        return options.elements.serve(req, res, { target, space: match.space, requestId, standard });
      }
      const forward = (body?: Buffer) =>
        web.forward(req, res, {
          target,
          body,
          headers: headersForWeb(req.rawHeaders, surface, facts),
          bodyLimit,
          source: networkOf(origin.address),
          async onHead(answer) {
            await settleChanges(answer.headers);
            return relayed(answer);
          },
          onFailure(failure) {
            if (failure === 'too_large') refuse(tooLarge(bodyLimit));
            else refuse(failure === 'unavailable' && options.databaseAway?.() ? ofOutage('refused') : FAILURES[failure]);
          },
        });
      let read: Promise<ReadBody> | undefined;
      const readOnce = () => (read ??= readBody(req, bodyLimit, () => true));
      const hotCall = match.plane === 'api' && { target, space: match.space, address: origin.address, requestId, body: readOnce };
      const hot = hotCall && (surface === 'oauth' ? options.hotOAuth : options.hot)?.answer(req, hotCall);
      if (!hot) return forward();
      const began = performance.now();
      void hot.then(async (answer) => {
        const sent = await read;
        if (res.closed || res.destroyed) return;
        if (answer === null) return sent?.state === 'stalled' ? refuse(FAILURES.slow_body) : forward(sent?.body ?? undefined);
        countOperation('hot_v1', answer.status, performance.now() - began);
        const headers = headersFromWeb(Object.entries(answer.headers).sort().flat(), surface, fill);
        res.writeHead(answer.status, headers).end(answer.body ?? undefined);
      });
    },
    refuse(req, res, { match, requestId, origin = requestOrigin(req, trustedProxies) }, fault) {
      const { surface: asked } = frontDoor(match, req.method ?? '', 0);
      // No browser sends such a head by itself, so nobody waits for a page.
      const surface = asked === 'pages' ? 'public' : asked;
      writeRefusal(req, res, { surface, ...fault }, requestId, standardHeaders(surface, origin.proto));
    },
  };
}

/** What makes a request of the Management API too large to be read; undefined when nothing does that was announced. */
function excessOf(req: IncomingMessage, verdict: FrontPass | FrontRefusal): Omit<Refused, 'surface'> | undefined {
  if (verdict.surface !== 'management') return undefined;
  if (!verdict.ok) return verdict.status === 431 ? verdict : undefined;
  return Number(req.headers['content-length'] ?? 0) > verdict.bodyLimit ? tooLarge(verdict.bodyLimit) : undefined;
}

/** On pages it is said in words of their own. */
const ofOutage = (outage: Outage): Omit<Refused, 'surface'> => ({
  status: 503,
  type: 'dependency_unavailable',
  message: OUTAGES[outage],
  outage,
});

const tooLarge = (limit: number): Omit<Refused, 'surface'> => ({
  status: 413,
  type: 'payload_too_large',
  message: `The request body must not exceed ${sizeText(limit)}.`,
});

const FAILURES: Readonly<Record<Exclude<WebFailure, 'too_large'>, Omit<Refused, 'surface'>>> = {
  unavailable: {
    status: 503,
    type: 'dependency_unavailable',
    message: "The service is starting, being updated, or not responding. Your request wasn't processed. Try again.",
  },
  broken: {
    status: 503,
    type: 'dependency_unavailable',
    message:
      'The service stopped responding while it processed your request. A change may or may not have been made. Try again with the same Idempotency-Key, or check first.',
  },
  crowded: {
    status: 429,
    type: 'rate_limit_exceeded',
    message: 'Too many concurrent requests from your IP address. Try again shortly.',
    headers: { 'retry-after': '1' },
  },
  broken_body: {
    status: 400,
    type: 'invalid_request',
    message: "The request body isn't what Content-Length or its chunks announce. Send exactly the announced bytes.",
    headers: { connection: 'close' },
  },
  slow_body: {
    status: 408,
    type: 'invalid_request',
    message: 'The request body was not received in time.',
    headers: { connection: 'close' },
  },
};

/**
 * An answer that the framework gave by itself: on surfaces that speak JSON our own code never redirects and never sends an error
 * as text or HTML. It is replaced by one in the surface's shape.
 */
function frameworkAnswer(
  { status, headers }: WebHead,
  surface: Surface,
  target: string,
  options: boolean,
): Omit<Refused, 'surface'> | undefined {
  if (status < 300 || status === 304) return undefined;
  const outage = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === PAGE_OUTAGE_HEADER);
  if (outage !== -1 && status >= 500) return ofOutage(headers[outage + 1] as Outage);
  const at = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type');
  const type = at === -1 ? '' : (headers[at + 1] as string).toLowerCase();
  // It has no handler for such a path, and no other word for it.
  const unrouted = options && status === 400 && type === '' && surface !== 'pages';
  const isText = type.startsWith('text/') || (type === '' && status >= 500); // a crash before any handler has no body at all
  // Next's own page of a fault has no words until its scripts run, and none at all when they don't. In development it shows the fault.
  const wordless = status === 500 && /^(?:text\/(?:html|plain)\b|$)/.test(type) && !headers.includes('x-sallyport-development');
  const strict = surface === 'management' || surface === 'hooks' || surface === 'scim';
  const foreign = strict
    ? !/^application\/(?:[a-z.-]+\+)?json\b/.test(type)
    : surface === 'pages'
      ? wordless
      : surface === 'dashboard_api'
        ? isText && status >= 400 && !target.startsWith('/api/auth/')
        : // A page of ours on these surfaces (consent, a public document) is HTML, and never a 404 or a fault; a page that leads to signing in is one of the
          // dashboard, which takes their first word for a workspace.
          (surface === 'oauth' || surface === 'public') &&
          isText &&
          (status < 400 || type.startsWith('text/plain') || status === 404 || status === 405 || status >= 500);
  if (!foreign && !unrouted) return undefined;
  if (status < 400 || status === 404 || unrouted) return { status: 404, type: 'not_found', message: 'No such path.' };
  if (status === 405) return { status, type: 'method_not_allowed', message: 'Method not allowed.' };
  if (status === 413) return { status, type: 'payload_too_large', message: 'The request body is too large.' };
  if (status < 500) return { status: 400, type: 'invalid_request', message: 'The request could not be parsed.' };
  return {
    status: 500,
    type: 'internal_error',
    message: 'Something went wrong on our side. Include the request ID when you contact support.',
  };
}

const ONLY_READ = {
  status: 405,
  type: 'method_not_allowed',
  message: 'Method not allowed. This path supports GET, HEAD.',
  headers: { allow: 'GET, HEAD' },
};
const isElement = (target: string): boolean => within('/elements/v1', target);

function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
}
