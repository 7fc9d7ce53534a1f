import { lowerName } from '#server/platform/header-name.ts';
import type { Call } from './call.ts';

/** Reads a header of a plane's own, whose name starts with `x-svc-`. */
export type ReadOwnHeader<C extends Call> = (call: C, name: string, value: string) => void;

/** Keeps what phases and the exchange need of the head, in one pass over the raw headers. */
export function readHeadFields<C extends Call>(call: C, readOwn: ReadOwnHeader<C>): void {
  const raw = call.req.rawHeaders;
  const names = new Array<string>(raw.length / 2);
  for (let i = 0; i < names.length; i++) {
    const name = lowerName(raw[i * 2] as string);
    names[i] = name;
    if (name.startsWith('x-svc-')) {
      readSharedHeader(call, name, raw[i * 2 + 1] as string);
      readOwn(call, name, raw[i * 2 + 1] as string);
    } else readField(call, name, raw[i * 2 + 1] as string);
  }
  call.names = names;
}

function readSharedHeader(call: Call, name: string, value: string): void {
  switch (name) {
    case 'x-svc-key':
      call.presentedKey = value.trim() || null;
      break;
    case 'x-svc-agent-id':
      call.agentId = value.trim() || null;
      break;
    case 'x-svc-agent-token':
      call.agentToken = value.trim();
      break;
    case 'x-svc-client-origin':
      if (value.trim() === 'sdk-intercept') call.clientOrigin = 'sdk_intercept';
      break;
  }
}

function readField(call: Call, name: string, value: string): void {
  switch (name) {
    case 'authorization':
      call.authorization = value;
      break;
    case 'x-api-key':
      call.apiKeyHeader = value;
      break;
    case 'dpop':
      call.proof = call.proof === null ? value : `${call.proof}, ${value}`;
      break;
    case 'connection':
      call.connection = call.connection === null ? value : `${call.connection}, ${value}`;
      break;
    case 'via':
      call.via = call.via === null ? value : `${call.via}, ${value}`;
      break;
    case 'content-type':
      call.contentType = value;
      break;
    case 'content-encoding':
      call.contentEncoding = value.trim().toLowerCase();
      break;
    case 'content-length':
      call.contentLength = Number(value);
      break;
    case 'transfer-encoding':
      call.contentLength = -1;
      break;
    case 'traceparent':
      call.traceparent = true;
      break;
    case 'idempotency-key':
      call.idempotencyKey = true;
      break;
    case 'user-agent':
      call.userAgent = value;
      break;
  }
}
