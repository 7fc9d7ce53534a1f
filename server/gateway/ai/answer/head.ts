import { hyphenated } from '#server/platform/header-name.ts';
import { spelledAs } from '#server/platform/http-out/header-spelling.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { ResponseHead } from '../../core/gateway-response.ts';
import { blockLines } from '../../core/response-block.ts';
import { isHopByHop } from '../../core/upstream-headers.ts';
import { type AiCall, modelOf } from '../ai-call.ts';
import { headerText } from '../phases/choose-model.ts';

/** Of an upstream's headers, besides those of its connection and our namespace: what tells of the account behind the key, and what is written anew. */
const DROPPED = new Set([
  'set-cookie',
  'openai-organization',
  'openai-project',
  'anthropic-organization-id',
  'server',
  'service-version',
  'alt-svc',
  'cache-control',
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'via',
  'x-request-id',
  'clear-site-data',
  'strict-transport-security',
  'www-authenticate',
  'x-accel-buffering',
]);
const DROPPED_PREFIXES = ['x-svc-', 'cf-', 'x-amzn-', 'x-amz-', 'access-control-', 'x-ratelimit-tenant'];

export type AnswerHead = {
  contentType: string;
  /** Null for a stream. */
  length: number | null;
  /** Of the upstream; empty for an answer of our own. */
  headers: HeaderList;
};

/** The head of an answer: what is kept of the upstream's, what the plane says of the call, and the block of every plane. */
export function answerHead(call: AiCall, { contentType, length, headers }: AnswerHead, secrets: Iterable<string>): ResponseHead {
  let lines = '';
  const values = [...secrets].filter((value) => value.length >= 6);
  let rateLimit = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (isHopByHop(name) || DROPPED.has(name)) continue;
    const meant = hyphenated(name);
    if (DROPPED_PREFIXES.some((prefix) => meant.startsWith(prefix))) continue;
    // A provider that echoes its credential must not give it away.
    if (values.some((secret) => value.includes(secret))) continue;
    if (name.startsWith('x-ratelimit-')) rateLimit = true;
    lines += `${spelledAs(name, i / 2, headers.spelled)}: ${value}\r\n`;
  }
  const fields = ['Content-Type', contentType, 'Cache-Control', 'no-store'];
  if (length === null) fields.push('X-Accel-Buffering', 'no');
  else fields.push('Content-Length', String(length));
  return { lines: lines + planeLines(call) + blockLines(call, null, { requestId: false, rateLimit, nonce: false }), fields };
}

/** `X-Svc-AI-*`: what became of the call so far. */
export function planeLines({ state, attempts }: AiCall): string {
  const answered = modelOf(state);
  let lines = answered === null ? state.lines : `X-Svc-AI-Model: ${headerText(answered)}\r\n${state.lines}`;
  if (attempts > 0) lines += `X-Svc-AI-Provider: ${headerText(state.provider)}\r\nX-Svc-AI-Attempts: ${attempts}\r\n`;
  if (state.cache !== null) lines += `X-Svc-AI-Cache: ${state.cache}\r\n`;
  if (state.fallback !== null) lines += `X-Svc-AI-Fallback: ${state.fallback}\r\n`;
  if (state.route !== null) lines += `X-Svc-AI-Route: ${state.route.id}\r\n`;
  if (state.warnings.length > 0) lines += `X-Svc-AI-Warnings: ${[...new Set(state.warnings)].map(headerText).join(', ')}\r\n`;
  return lines;
}
