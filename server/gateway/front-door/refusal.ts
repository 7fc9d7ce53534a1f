import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Outage } from '#server/kernel/outage.ts';
import { pagePolicy, pageText } from '#server/platform/plain-page.ts';
import { discardBody } from '../core/listener.ts';
import type { Surface } from './surface.ts';

export type Refused = {
  surface: Surface;
  status: number;
  type: string;
  message: string;
  /** Of the database, when that is the cause. */
  outage?: Outage | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
};

/** Answers in the error shape of the surface, then reads off what the caller is still sending. Headers must not have been sent. */
export function writeRefusal(
  req: IncomingMessage,
  res: ServerResponse,
  refused: Refused,
  requestId: string,
  standard: Readonly<Record<string, string>>,
): void {
  const { headers, text } = refusalAnswer(refused, requestId, standard);
  res.writeHead(refused.status, headers);
  res.end(req.method === 'HEAD' ? undefined : text);
  discardBody(req);
}

/** The headers and the body of such an answer. */
export function refusalAnswer(
  refused: Refused,
  requestId: string,
  standard: Readonly<Record<string, string>>,
): { headers: Record<string, string>; text: string } {
  const { type, text } = refusalBody(refused, requestId);
  const headers = {
    ...standard,
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'content-type': type,
    'content-length': String(Buffer.byteLength(text)),
    ...(refused.status === 503 ? { 'retry-after': '5' } : {}),
    ...(refused.surface === 'pages' ? { 'content-security-policy': pagePolicy() } : {}),
    ...refused.headers,
  };
  return { headers, text };
}

/** Error bodies: Management envelope (01 §3), OAuth (RFC 6749 §5.2), SCIM (RFC 7644 §3.12), dashboard (22 §1), and a page for people. */
export function refusalBody({ surface, status, type, message, outage }: Refused, requestId: string): { type: string; text: string } {
  const json = 'application/json; charset=utf-8';
  switch (surface) {
    case 'oauth': {
      const error = status === 503 ? 'temporarily_unavailable' : status >= 500 ? 'server_error' : 'invalid_request';
      return { type: json, text: JSON.stringify({ error, error_description: message }) };
    }
    case 'scim': {
      // The same bytes for every host that serves no SCIM (23): no detail, and nothing about the request.
      const detail = status === 404 ? {} : { detail: message };
      const body = { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: String(status), ...detail };
      return { type: 'application/scim+json; charset=utf-8', text: JSON.stringify(body) };
    }
    case 'dashboard_api': {
      const code = type === 'invalid_request' ? 'invalid' : type;
      return { type: json, text: JSON.stringify({ error: code, code, message, request_id: requestId }) };
    }
    case 'pages':
      return { type: 'text/html; charset=utf-8', text: page(pageWords(status, message, outage), status, requestId) };
    default:
      return { type: json, text: JSON.stringify({ error: { type, message, request_id: requestId } }) };
  }
}

/** No caller text gets in: message and id are ours. It leans on nothing of the dashboard, which may be what failed. */
function page({ title, note, action }: PageWords, status: number, requestId: string): string {
  const body = `<h1>${title}</h1><p>${note}</p>${action}<p><a href="/">Go to your workspace</a></p><small>Request <code>${requestId}</code></small>`;
  return pageText(title, body, status === 503 ? 5 : undefined);
}

type PageWords = { title: string; note: string; action: string };

const DATABASE_TITLES: Readonly<Record<Outage, string>> = {
  refused: 'The database can’t be reached',
  lost: 'The database can’t be reached',
  read_only: 'The database takes no changes',
  overloaded: 'The database is overloaded',
};

function pageWords(status: number, message: string, outage: Outage | undefined): PageWords {
  if (outage)
    return {
      title: DATABASE_TITLES[outage],
      note: 'The dashboard needs it. Calls through your routes go on. This page reloads automatically until the dashboard is back.',
      action: '',
    };
  if (status === 503)
    return {
      title: 'The dashboard isn’t responding',
      note: "It's starting, being updated, or not responding. Calls through your routes are not affected. This page reloads automatically.",
      action: '',
    };
  if (status >= 500)
    return {
      title: 'This page couldn’t load',
      note: 'Something went wrong on our side. Saved changes and proxied calls aren’t affected. Reload the page in a moment. If it keeps failing, give your operator the request ID.',
      action: '<p><a class="button" href="">Reload</a></p>',
    };
  return { title: STATUS_CODES[status] ?? 'Error', note: message, action: '' };
}
