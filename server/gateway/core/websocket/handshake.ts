import type { IncomingMessage } from 'node:http';
import { members } from '#server/kernel/list-header.ts';

/**
 * Whether a request asks for a WebSocket as RFC 6455 §4.1 wants it: GET without a body, version 13, and a key. Anything else that brings Upgrade is an
 * ordinary request, and the header stays here (interface rule 12 §11).
 */
export function isHandshake({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return (
    method === 'GET' &&
    members(headers.upgrade?.toLowerCase()).join() === 'websocket' &&
    members(headers.connection?.toLowerCase()).includes('upgrade') &&
    headers['sec-websocket-version'] === '13' &&
    typeof headers['sec-websocket-key'] === 'string' &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) === 0
  );
}
