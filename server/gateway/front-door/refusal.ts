import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { discardBody } from '../core/listener.ts';
import type { Surface } from './surface.ts';

export type Refused = {
  surface: Surface;
  status: number;
  type: string;
  message: string;
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
  const { type, text } = refusalBody(refused, requestId);
  res.writeHead(refused.status, {
    ...standard,
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    ...(refused.status === 503 ? { 'retry-after': '5' } : {}),
    ...(refused.surface === 'pages'
      ? { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'" }
      : {}),
    ...refused.headers,
  });
  res.end(req.method === 'HEAD' ? undefined : text);
  discardBody(req);
}

/** Error bodies: Management envelope (01 §3), OAuth (RFC 6749 §5.2), SCIM (RFC 7644 §3.12), dashboard (22 §1), and a page for people. */
export function refusalBody({ surface, status, type, message }: Refused, requestId: string): { type: string; text: string } {
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
      return { type: 'text/html; charset=utf-8', text: page(status, message, requestId) };
    default:
      return { type: json, text: JSON.stringify({ error: { type, message, request_id: requestId } }) };
  }
}

/** No caller text gets in: message and id are ours. */
function page(status: number, message: string, requestId: string): string {
  const starting = status === 503;
  const title = starting ? 'The dashboard is starting' : (STATUS_CODES[status] ?? 'Error');
  const note = starting
    ? "It's starting or being updated. Calls through your routes are not affected. This page reloads automatically."
    : message;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${starting ? '<meta http-equiv="refresh" content="5">' : ''}<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;color-scheme:light dark}code{font-size:.85em;opacity:.7}</style></head>
<body><h1>${title}</h1><p>${note}</p><p><a href="/">Home</a></p><code>${requestId}</code></body></html>
`;
}
