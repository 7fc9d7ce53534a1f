import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { Call } from '../call.ts';
import { isHopByHop, isOwnHeader } from '../upstream-headers.ts';

/** What follows a caller's body, for the upstream: without what isn't forwarded of a head either. */
export function trailersFor(raw: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (!isOwnHeader(name) && !CREDENTIALS.has(name)) out.push(name, raw[i + 1] as string);
  }
  return out;
}

/** In a trailer nobody has judged them. */
const CREDENTIALS = new Set(['authorization', 'x-api-key', 'dpop', 'cookie']);

/** Keeps what follows an upstream's body, for the caller, without our namespace. Only calls of gRPC have their answers' trailers forwarded. */
export function noteTrailers(call: Call, list: HeaderList): void {
  if (call.grpc === null) return;
  noteStatus(call, list);
  const out: [string, string][] = [];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string;
    if (!isHopByHop(name) && !name.startsWith('x-svc-')) out.push([name, list[i + 1] as string]);
  }
  call.grpc.trailers = out;
}

/** Notes for the log a status that isn't OK; where an answer is nothing but trailers, they are its head. */
export function noteStatus(call: Call, list: HeaderList): void {
  for (let i = 0; i < list.length; i += 2) {
    const value = list[i + 1] as string;
    if (list[i] === 'grpc-status' && value !== '0' && /^\d{1,3}$/.test(value)) call.errorDetail = `grpc:${value}`;
  }
}

/** Ends an answer that was streamed. */
export function endAnswer({ res, grpc }: Call): void {
  if (grpc !== null && grpc.trailers !== null) res.addTrailers(grpc.trailers);
  res.end();
}
