import { type PatientRedact, patientRedactor } from '#server/custody/redaction/redaction.ts';
import {
  BODY_KEPT,
  type BodyWithheld,
  HEADERS_KEPT,
  type Side,
  type StoredPayload,
} from '#server/domain/request-logs/payloads/stored.shared.ts';
import { redactCredentials } from '#server/kernel/credential-patterns.ts';
import { paced, type Steps } from '#server/kernel/slices.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import { BODY_TAKEN, type Capture } from '../../core/capture.ts';
import type { ResponseHead } from '../../core/gateway-response.ts';
import { maskCards } from '../../core/log/logged-path.ts';
import { isMaskedHeader } from '../../core/masked-headers.ts';
import { shownAnswer } from '../../templates/shown-body.ts';
import type { RouteCall } from '../route-call.ts';
import { maskFields } from './masking.ts';

/** One side of a finished call, as it passed by. Nothing of it is masked yet. */
export type RawSide = {
  side: Side;
  headers: readonly (readonly [name: string, value: string])[];
  chunks: readonly Buffer[];
  /** Of the whole body. */
  bytes: number;
  /** The body broke off, or not all of it came by. */
  broken: boolean;
  status: number;
  /** Names of headers, hyphenated, whose values the route sets itself. */
  own: ReadonlySet<string>;
};

/** One side masked, with what its row tells in clear. */
export type MaskedSide = {
  side: Side;
  content_type: string | null;
  body_bytes: number;
  truncated: boolean;
  body_withheld: BodyWithheld | null;
  payload: StoredPayload;
};

/** Both sides of a finished call; what was sent to the caller as their head, and what they sent. */
export function rawSides(call: RouteCall, capture: Capture): RawSide[] {
  const { req } = call;
  const { request, response } = capture;
  const announced = capture.rewritten ? 0 : Math.max(0, call.contentLength);
  return [
    {
      side: 'request',
      headers: pairs(req.rawHeaders),
      chunks: request.chunks,
      bytes: Math.max(request.bytes, announced),
      // An upstream that answers early, or a refusal, leaves the rest of a body unread.
      broken: request.bytes < announced || (call.contentLength < 0 && !req.complete),
      status: 0,
      own: call.state.config?.droppedHeaders ?? NONE,
    },
    {
      side: 'response',
      headers: capture.head ? fieldsOf(capture.head) : [],
      chunks: response.chunks,
      bytes: response.bytes,
      broken: call.error === 'client_closed' || call.error === 'upstream_stream_failed',
      status: call.status,
      own: call.state.config?.fields?.response?.headerNames ?? NONE,
    },
  ];
}

/** What may be kept of a side: no value of a secret that the call used, and nothing that looks like a credential or is named like one. */
export async function maskedSide(raw: RawSide, secrets: ReadonlyMap<string, string>): Promise<MaskedSide> {
  const redact = secrets.size > 0 ? patientRedactor(secrets) : null;
  const fields = (name: string) => raw.headers.find(([field]) => field.toLowerCase() === name)?.[1];
  const contentType = fields('content-type') ?? '';
  const headers = await maskedHeaders(raw, redact);
  const body = await maskedBody(raw, contentType, fields, redact);
  return {
    side: raw.side,
    content_type: contentType === '' ? null : mask(contentType).slice(0, 200),
    body_bytes: raw.bytes,
    truncated: body.truncated || headers.truncated,
    body_withheld: body.withheld,
    payload: { headers: headers.list, body: body.text, encoding: body.encoding },
  };
}

async function maskedHeaders({ headers, own }: RawSide, redact: PatientRedact | null) {
  const list: { name: string; value: string }[] = [];
  let left = HEADERS_KEPT;
  for (const [name, value] of headers) {
    left -= name.length + value.length;
    if (left < 0) return { list, truncated: true };
    const meant = hyphenated(name.toLowerCase());
    list.push({
      name: await searched(name, redact),
      value: isMaskedHeader(meant) || own.has(meant) ? MASK : await searched(mask(value), redact),
    });
  }
  return { list, truncated: false };
}

/** A header is bytes, which node reads as Latin-1. */
function searched(text: string, redact: PatientRedact | null): Promise<string> {
  if (!redact) return Promise.resolve(text);
  return redact(Buffer.from(text, 'latin1')).then((found) => found?.toString('latin1') ?? MASK);
}

type MaskedBody = { text: string | null; encoding: 'text' | 'base64' | null; withheld: BodyWithheld | null; truncated: boolean };

async function maskedBody(
  { chunks, bytes, broken, status }: RawSide,
  contentType: string,
  fields: (name: string) => string | undefined,
  redact: PatientRedact | null,
): Promise<MaskedBody> {
  if (bytes === 0) return { text: null, encoding: null, withheld: null, truncated: broken };
  const held = Buffer.concat(chunks);
  if (held.length === 0) return { text: null, encoding: null, withheld: 'not_read', truncated: true };
  const cut = broken || bytes > held.length;
  const shown = await shownAnswer({ bytes: held, fields, status, cut, redact, most: BODY_TAKEN, begins: true });
  const { withheld_reason: withheld, body_encoding: encoding } = shown;
  if (encoding === 'withheld') return { text: null, encoding: null, withheld, truncated: cut };
  if (encoding === 'base64') {
    const kept = Buffer.from(shown.body, 'base64').subarray(0, BODY_KEPT).toString('base64');
    return { text: kept, encoding, withheld: null, truncated: shown.truncated || held.length > BODY_KEPT };
  }
  const whole = await paced(maskedText(shown.body, contentType), shown.body.length);
  const text = firstBytes(whole, BODY_KEPT);
  return { text, encoding, withheld: null, truncated: shown.truncated || text.length < whole.length };
}

function* maskedText(text: string, contentType: string): Steps<string> {
  const named = maskFields(text, contentType);
  yield;
  const cards = maskCards(named);
  yield;
  return redactCredentials(cards);
}

const MASK = '[redacted]';
const NONE: ReadonlySet<string> = new Set();
const mask = (text: string): string => redactCredentials(maskCards(text));

/** At most so many bytes of UTF-8, without half of a character. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] as string, flat[i * 2 + 1] as string]);

/** The fields of a head as it was written: its lines, then its pairs. */
const fieldsOf = ({ lines, fields }: ResponseHead): [string, string][] => [
  ...lines.split('\r\n').flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]];
  }),
  ...pairs(fields),
];
