import type { IncomingHttpHeaders } from 'node:http';
import type { Space } from '#server/kernel/context.ts';
import type { RequestOrigin } from './client-address.ts';

/** A call of the API host that the gateway makes by itself, on behalf of a caller. */
export type WebCall = {
  method: 'GET' | 'POST';
  path: string;
  /** The caller's own, names and values in turn; claims that only the gateway may make are left out of them. */
  headers: readonly string[];
  /** What the gateway says itself. */
  added: readonly string[];
  body?: string | undefined;
  space: Space;
  origin: RequestOrigin;
};
export type WebAnswer = { status: number; headers: IncomingHttpHeaders; text: string };
/** A text says why web gave no answer. Never rejects. */
export type CallWeb = (call: WebCall) => Promise<WebAnswer | string>;
