import type { RefusalAnswer } from '../plane.ts';

/** Codes of gRPC by statuses of HTTP. */
const STATUS: Readonly<Record<number, number>> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  402: 8, // RESOURCE_EXHAUSTED
  403: 7, // PERMISSION_DENIED
  404: 12, // UNIMPLEMENTED, as gRPC's own table has it
  405: 12,
  413: 8,
  414: 3,
  415: 3,
  424: 9, // FAILED_PRECONDITION
  429: 8,
  431: 8,
  500: 13, // INTERNAL
  502: 14, // UNAVAILABLE
  503: 14,
  504: 4, // DEADLINE_EXCEEDED
  508: 9,
};
const UNKNOWN = 2;

export const grpcStatusOf = (status: number): number => STATUS[status] ?? UNKNOWN;

/** A refusal as gRPC tells it: 200, nothing but trailers, and the block as it is on every other. */
export function grpcRefusal({ status, head: { lines, fields } }: RefusalAnswer, message: string): RefusalAnswer {
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase();
    if (name !== 'content-type' && name !== 'content-length') kept.push(fields[i] as string, fields[i + 1] as string);
  }
  const told = ['Content-Type', 'application/grpc', 'Content-Length', '0'];
  const grpc = ['grpc-status', String(grpcStatusOf(status)), 'grpc-message', encoded(message)];
  return { status: 200, head: { lines, fields: [...told, ...grpc, ...kept] }, body: '' };
}

/** Percent-encoded where it isn't printable ASCII, and `%` itself. */
function encoded(text: string): string {
  let out = '';
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    out += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
