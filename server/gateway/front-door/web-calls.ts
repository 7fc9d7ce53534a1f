import { uuidV7 } from '#server/crypto/random.ts';
import { networkOf } from '../core/client-address.ts';
import type { CallWeb } from '../core/web-call.ts';
import { headersForWeb } from './headers.ts';
import type { WebForward } from './web-forward.ts';

/** Calls web with the facts that a call by the door has. `token` proves that it is the gateway who says them. */
export const webCalls =
  (web: Pick<WebForward, 'ask'>, token: string): CallWeb =>
  ({ method, path, headers, added, body, space, origin }) => {
    const content = body === undefined ? undefined : Buffer.from(body);
    const facts = { token, match: { plane: 'api' as const, space, target: path }, origin, requestId: uuidV7() };
    const sent = [...headersForWeb(headers, 'management', facts), ...added];
    if (content) sent.push('content-length', String(content.length));
    return web.ask({ method, target: path, headers: sent, body: content, source: networkOf(origin.address) });
  };
