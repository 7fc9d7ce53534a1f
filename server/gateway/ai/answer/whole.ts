import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { AiCall } from '../ai-call.ts';
import { answerHead } from './head.ts';

export type WholeAnswer = { status: number; contentType: string; headers: HeaderList; body: Buffer | string };

/** Sends an answer that is there as a whole. */
export function sendWhole(call: AiCall, { status, contentType, headers, body }: WholeAnswer, secrets: Iterable<string>): void {
  call.status = status;
  call.phase = 'complete';
  call.responseBytes = Buffer.byteLength(body);
  call.responseHeaders = headers.filter((_, i) => i % 2 === 0).slice(0, 200);
  call.latencyMs = Math.round(performance.now() - call.began);
  call.res
    .begin(status, undefined, answerHead(call, { contentType, length: call.responseBytes, headers }, secrets))
    .end(call.method === 'HEAD' ? undefined : body);
}
