import type { IncomingMessage } from 'node:http';
import type { GatewayResponse } from './gateway-response.ts';
import { discardBody } from './listener.ts';
import { type Refused, statusOf, typeOf } from './refusal.ts';

export type About = { plane: string; requestId: string; began: number; sandbox: boolean };

/** Refuses a call that belongs to no workspace, in the words of every refusal (interface rule 12 §14). It is in no log: there is nobody to show it to. */
export function refuseUntenanted(req: IncomingMessage, res: GatewayResponse, about: About, refusal: Refused): void {
  const { plane, requestId, began } = about;
  const { code, message, retryAfter } = refusal;
  const status = statusOf(code);
  const latency = Math.round(performance.now() - began);
  const body = JSON.stringify({
    error: { type: typeOf(code), message, request_id: requestId },
    service: { request_id: requestId, origin: 'service', plane, latency_ms: latency, latency_phase: 'complete', code, message },
  });
  const fields = [
    ...['Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(body)), 'Cache-Control', 'no-store'],
    ...(status === 401 ? ['WWW-Authenticate', refusal.challenge ?? 'Bearer'] : []),
    ...(retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]),
    ...(!req.complete && req.headers.expect !== undefined ? ['Connection', 'close'] : []),
  ];
  res.begin(status, undefined, { lines: untenantedLines(about, code, latency), fields }).end(req.method === 'HEAD' ? undefined : body);
  discardBody(req);
}

/** The response block of such a refusal, whatever its body looks like (interface rule 12 §13.1). */
export const untenantedLines = ({ plane, requestId, sandbox }: Omit<About, 'began'>, code: string, latencyMs: number): string =>
  `X-Svc-Request-Id: ${requestId}\r\nX-Request-Id: ${requestId}\r\nX-Svc-Origin: service\r\nX-Svc-Error: ${code}\r\nX-Svc-Plane: ${plane}\r\n` +
  `${sandbox ? 'X-Svc-Sandbox: true\r\n' : ''}X-Svc-Latency-Ms: ${latencyMs}\r\nX-Svc-Latency-Phase: complete\r\nServer-Timing: service;dur=${latencyMs}\r\n`;
