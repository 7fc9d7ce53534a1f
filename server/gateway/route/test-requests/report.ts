import { patientRedactor } from '#server/custody/redaction/redaction.ts';
import type { TrialReport } from '#server/domain/routes/trial/schema.ts';
import { limitsOf, phasesOf } from '../../core/log/trace.ts';
import type { Received } from '../../core/own-request.ts';
import { statusOf } from '../../core/refusal.ts';
import { asksForPart } from '../../core/upstream-headers.ts';
import { shownAnswer, shownRequest } from '../../templates/shown-body.ts';
import { routePlane } from '../plane.ts';
import type { RouteCall } from '../route-call.ts';

import type { TestRequest } from './test-request.ts';

/** The call that a test request became; `fault` says why it became none. */
export type Made = { call: RouteCall | null; fault?: string };
type Secrets = ReadonlyMap<string, string>;
const NOTHING: Secrets = new Map();
/** In place of a field that takes too long to search. */
const UNSEARCHED = '[withheld]';
const NO_RANGE = 'Range and If-Range are not sent in tests: secrets cannot be found in part of an answer.';

/** Everything the person is shown of a test request, every value of a secret masked, in the request as in whatever the upstream echoes (interface rule 10 §15.2). */
export async function reportOf(test: TestRequest, { call, fault }: Made, received: Received | null): Promise<TrialReport> {
  const { secrets, sent } = test;
  const total = call ? Math.max(0, call.latencyMs) : 0;
  const upstream = call && call.upstreamMs >= 0 ? call.upstreamMs : null;
  // Values are marked where they were put in. Searching for them as well would confirm the right one of a list of guesses.
  const unseen = sent?.masked ? NOTHING : secrets;
  const redact = patientRedactor(unseen, 1);
  const text = async (field: string) => (await redact(Buffer.from(field)))?.toString() ?? UNSEARCHED;
  return {
    request: sent && {
      method: call?.method ?? '',
      url: await text(sent.url),
      headers: await Promise.all(pairs(sent.headers).map(async ({ name, value }) => ({ name, value: await text(value) }))),
      ...(await shownRequest(sent.body ?? Buffer.alloc(0), unseen.size > 0 ? redact : null)),
    },
    response: received && !test.dry && call ? await answered(received, secrets) : null,
    timings: { total_ms: total, upstream_ms: upstream, overhead_ms: Math.max(0, total - (upstream ?? 0)) },
    phases_ms: call ? phasesOf(call, routePlane) : {},
    limits: call ? limitsOf(call) : {},
    refusal: fault
      ? { status: 400, code: 'invalid_request', message: fault }
      : call?.refusal
        ? { status: statusOf(call.refusal.code), code: call.refusal.code, message: call.refusal.message }
        : null,
    checks: test.checks,
    injected: call?.injected ?? [],
    secrets_used: call?.secretsUsed ?? [],
    warnings: [...(call?.warnings ?? []), ...(call && asksForPart(call) ? [NO_RANGE] : [])],
    attempts: call?.attempts ?? 0,
    environment: call?.state.environmentName || null,
  };
}

async function answered({ status, rawHeaders, body, bytes, cut }: Received, secrets: Secrets) {
  const headers = pairs(rawHeaders).filter(({ name }) => !/^(?:connection|keep-alive|transfer-encoding|date)$/i.test(name));
  const fields = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const redact = patientRedactor(secrets);
  // A header is bytes, which node reads as Latin-1.
  const text = async (field: string) => (await redact(Buffer.from(field, 'latin1')))?.toString('latin1') ?? UNSEARCHED;
  return {
    status,
    headers: await Promise.all(headers.map(async ({ name, value }) => ({ name: await text(name), value: await text(value) }))),
    ...(await shownAnswer({ bytes: body, fields, status, cut, redact: secrets.size > 0 ? redact : null })),
    bytes,
  };
}

const pairs = (flat: readonly string[]) =>
  Array.from({ length: flat.length / 2 }, (_, i) => ({ name: flat[i * 2] as string, value: flat[i * 2 + 1] as string }));
