import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { TrialReport } from '#server/domain/routes/trial/schema.ts';
import type { Call } from '../call.ts';
import { limitsOf, phasesOf } from '../log/trace.ts';
import { statusOf } from '../refusal.ts';
import { redactBytes, redactText } from '../templates/redaction.ts';
import { type Received, SHOWN } from './send.ts';
import type { Trial } from './trial.ts';

/** The call that a trial became; `fault` says why it became none. */
export type Made = { call: Call | null; fault?: string };
type Secrets = ReadonlyMap<string, string>;
const NOTHING: Secrets = new Map();

/** Everything the person is shown of a trial, every value of a secret masked, in the request as in whatever the upstream echoes (interface rule 10 §15.2). */
export function reportOf(trial: Trial, { call, fault }: Made, received: Received | null): TrialReport {
  const { secrets, sent, refusal } = trial;
  const total = call ? Math.max(0, call.latencyMs) : 0;
  const upstream = call && call.upstreamMs >= 0 ? call.upstreamMs : null;
  // Values are marked where they were put in. Looking for them besides would tell who writes a list of guesses which one is right.
  const unseen = sent?.masked ? NOTHING : secrets;
  return {
    request: sent && {
      method: call?.method ?? '',
      url: redactText(sent.url, unseen, 1),
      headers: pairs(sent.headers).map(({ name, value }) => ({ name, value: redactText(value, unseen, 1) })),
      ...shown(sent.body ?? Buffer.alloc(0), unseen, 1),
    },
    response: received && !trial.dry && call ? answered(received, secrets) : null,
    timings: { total_ms: total, upstream_ms: upstream, overhead_ms: Math.max(0, total - (upstream ?? 0)) },
    phases_ms: call ? phasesOf(call) : {},
    limits: call ? limitsOf(call) : {},
    refusal: fault
      ? { status: 400, code: 'invalid_request', message: fault }
      : refusal && { status: statusOf(refusal.code), code: refusal.code, message: refusal.message },
    checks: trial.checks,
    injected: call?.injected ?? [],
    secrets_used: call?.secretsUsed ?? [],
    warnings: call?.warnings ?? [],
    attempts: call?.attempts ?? 0,
    environment: call?.environmentName || null,
  };
}

function answered({ status, rawHeaders, body, bytes, cut }: Received, secrets: Secrets) {
  const headers = pairs(rawHeaders).filter(({ name }) => !/^(?:connection|keep-alive|transfer-encoding|date)$/i.test(name));
  const encoding = headers.find(({ name }) => name.toLowerCase() === 'content-encoding')?.value.toLowerCase();
  const plain = encoding && encoding !== 'identity' ? opened(body, encoding, cut) : body;
  return {
    status,
    headers: headers.map(({ name, value }) => ({ name: redactText(name, secrets), value: redactText(value, secrets) })),
    ...(plain ? shown(plain, secrets, 6) : { body: '', body_encoding: 'withheld' as const, truncated: false }),
    truncated: cut || (plain?.length ?? 0) > SHOWN,
    bytes,
  };
}

/** A body as text when it is text. Masked before it is cut, so that no half of a value is left at the edge. */
function shown(bytes: Buffer, secrets: Secrets, shortest: number) {
  const clean = redactBytes(bytes, secrets, shortest);
  const part = clean.subarray(0, SHOWN);
  const text = part.toString('utf8');
  const isText = !part.subarray(0, -4).includes(0) && Buffer.from(text).equals(part);
  // An edge may lie inside a character: then the last one is left out.
  const cutText = isText || part.length === clean.length ? text : text.replace(/\ufffd+$/, '');
  const asText = isText || (part.length < clean.length && !cutText.includes('\ufffd') && !cutText.includes('\0'));
  return asText
    ? { body: cutText, body_encoding: 'text' as const, truncated: clean.length > SHOWN }
    : { body: part.toString('base64'), body_encoding: 'base64' as const, truncated: clean.length > SHOWN };
}

/** What cannot be opened cannot be searched for secrets, and is withheld. */
function opened(body: Buffer, encoding: string, cut: boolean): Buffer | null {
  const open = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync, zstd: zstdDecompressSync }[
    encoding
  ];
  if (!open || cut) return null;
  try {
    return open(body, { maxOutputLength: 4 * SHOWN });
  } catch {
    return null;
  }
}

const pairs = (flat: readonly string[]) =>
  Array.from({ length: flat.length / 2 }, (_, i) => ({ name: flat[i * 2] as string, value: flat[i * 2 + 1] as string }));
