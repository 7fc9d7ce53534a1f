import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { Call } from './call.ts';
import type { Capture } from './capture.ts';
import { isEventStream, lengthOf, namesOf, responseHead } from './upstream-response.ts';

export const STREAM_IDLE_MS = 60_000;
/** Of an event stream, and of a call of gRPC in either direction. */
export const EVENTS_IDLE_MS = 300_000;

/** How long an answer that is streamed may be silent, in milliseconds. */
export const idleOf = ({ forwarding, grpc }: Call, headers: HeaderList): number =>
  forwarding?.idleMs ?? (grpc !== null || isEventStream(headers) ? EVENTS_IDLE_MS : STREAM_IDLE_MS);

/** A phrase that node writes as it is; others get the usual one. */
const REASON = /^[\t\x20-\x7e]+$/;

/** `length`: what a streamed answer announced, in bytes. `spelled`: names as the upstream wrote them, also when the list is another by now. */
export type AnswerHead = {
  readonly status: number;
  readonly reason: string;
  headers: HeaderList;
  length?: number;
  readonly spelled?: HeaderList['spelled'];
};

/** The caller's head: the upstream's, and our block. */
export function writeHead(call: Call, answer: AnswerHead, phase: Call['phase'], kept: Capture | null): void {
  const { status, reason, headers, spelled } = answer;
  if (phase === 'first-byte') answer.length = lengthOf(headers);
  call.origin = 'upstream';
  call.status = status;
  call.upstreamStatus = status;
  call.phase = phase;
  call.responseHeaders = namesOf(headers);
  const head = responseHead(call, headers, spelled);
  if (kept !== null) kept.head = head;
  if (status === 101) head.fields.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  call.res.begin(status, REASON.test(reason) ? reason : undefined, head);
}
