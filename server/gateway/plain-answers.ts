import type { IncomingMessage } from 'node:http';
import { bareHead } from './core/bare-refusal.ts';
import type { GatewayResponse } from './core/gateway-response.ts';
import { type Health, type Needs, readiness } from './core/health.ts';
import { discardBody } from './core/listener.ts';
import type { WebHealth } from './front-door/web-health.ts';

// Answers that belong to no plane.

type Watched = { health: () => Health; webHealth: WebHealth };

/** /healthz says whether the process works, /readyz whether what this address serves should come here. */
export async function tellReadiness(
  { health, webHealth }: Watched,
  needs: Needs,
  req: IncomingMessage,
  res: GatewayResponse,
  requestId: string,
  leaving: boolean,
): Promise<void> {
  // A web process that hangs must not have a load balancer take out what serves calls.
  const web = leaving || needs === 'calls' ? webHealth.known() : await webHealth.asked();
  const { status, body } = readiness(health(), needs, web, leaving);
  if (!res.destroyed) bare(req, res, status, body, requestId);
}

/** JSON without the headers of a plane. */
export function bare(req: IncomingMessage, res: GatewayResponse, status: number, body: object, requestId: string): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    ...bareHead(text, requestId),
    ...(status === 503 && { 'Retry-After': '5' }),
  });
  res.end(req.method === 'HEAD' ? undefined : text);
  discardBody(req);
}
