import { grouped } from '#server/kernel/numbers.ts';
import { atOnce, paced, STRIDE, type Steps } from '#server/kernel/slices.ts';
import { LONGEST_UPSTREAM_URL } from '#server/kernel/upstream-url.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';
import { renderPieces, renderSlot, type Values } from '../templates/render.ts';
import { forwardedHeaders } from '../upstream-request.ts';
import { queryOf } from './read-body.ts';

/** How long an answer may take in all. */
const LONGEST_ANSWER_MS = 15 * 60_000;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const MAX_HEADER_VALUE = 16 * 1024;

/** Puts the upstream's request together; the exchange sends it. */
export function send(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const finish = (refusal: Refused | undefined) => refusal ?? withHeaders(call, runtime) ?? begin(call);
  const values = call.state.scanned?.expressions.length ?? 0;
  const done = paced(rendered(call), (call.body?.length ?? 0) + values * OF_A_VALUE);
  return done instanceof Promise ? done.then(finish) : finish(done);
}
/** Values have up to 64 KiB: a few of them are written at once. */
const OF_A_VALUE = STRIDE / 10;

function* rendered(call: EphemeralCall): Steps<Refused | undefined> {
  const { state } = call;
  const values = valuesOf(call);
  const query = state.scanned?.query ? yield* renderPieces(state.scanned.query, values) : queryOf(call);
  if (query !== null && typeof query !== 'string') return query;
  call.upstreamPath = `${state.url?.path ?? '/'}${query === null ? '' : `?${query}`}`;
  if (call.upstreamPath.length > LONGEST_UPSTREAM_URL || /[^\x21-\x7e]/.test(call.upstreamPath))
    return refused(
      'validation_error',
      `The upstream URL must not exceed ${grouped(LONGEST_UPSTREAM_URL)} characters, with values in its query.`,
    );
  if (state.scanned?.body) {
    const body = yield* renderPieces(state.scanned.body, values);
    if (typeof body !== 'string') return body;
    call.body = Buffer.from(body, 'latin1');
    call.injected = [...(call.injected ?? []), 'body:placeholders'];
  }
  return undefined;
}

function withHeaders(call: EphemeralCall, runtime: Runtime): Refused | undefined {
  const { state, upstream } = call;
  const credential = credentialOf(call);
  if (credential && 'code' in credential) return credential;
  const values = valuesOf(call);
  const out = ['Host', upstream?.authority ?? ''];
  let typed = false;
  for (const { index, name, raw, value } of forwardedHeaders(call, runtime)) {
    if (credential && hyphenated(name) === hyphenated(credential.name.toLowerCase())) continue;
    const slot = state.scanned?.headers.get(index);
    const text = slot ? atOnce(renderSlot(slot, values)) : value;
    if (typeof text !== 'string') return text;
    if (slot && (!FIELD_VALUE.test(text) || text.length > MAX_HEADER_VALUE))
      return refused(
        'secret_invalid_for_header',
        `A secret contains characters that aren't allowed in the header ${raw}, or is too long for it.`,
      );
    if (slot) call.injected = [...(call.injected ?? []), `header:${name}`];
    if (name === 'content-type') typed = true;
    out.push(raw, text);
  }
  if (!typed && state.mode === 'template' && call.body !== null && call.body.length > 0) out.push('Content-Type', 'application/json');
  if (call.scrub !== null) out.push('Accept-Encoding', 'identity');
  if (credential) {
    out.push(credential.name, credential.value);
    call.injected = [...(call.injected ?? []), `header:${credential.name.toLowerCase()}`];
  }
  call.ownHeaders = out;
  return undefined;
}

function begin(call: EphemeralCall): undefined {
  const { state, snapshot } = call;
  // The manifest knows hosts on their default port alone.
  if (state.url?.port === 443)
    call.promotedRoute = snapshot.promotedRoute(state.environmentName, state.url.host, state.url.path, snapshot.variable);
  state.deadline = setTimeout(() => {
    state.overdue = true;
    call.res.destroy();
  }, LONGEST_ANSWER_MS);
  state.deadline.unref();
}

const NOTHING: ReadonlyMap<string, string> = new Map();

function valuesOf({ state: { values, encrypted, resolution } }: EphemeralCall): Values {
  return { tokens: values ?? NOTHING, encrypted, secret: ({ reference }) => resolution?.configuration.get(reference) };
}

/** What authenticates the call at its upstream, and in which header. */
function credentialOf({ state }: EphemeralCall): { name: string; value: string } | Refused | undefined {
  const { own, secret, resolution } = state;
  const transit = own.get('x-svc-upstream-authorization');
  if (state.credentialMode === 'transit' && transit !== undefined) return { name: 'Authorization', value: transit };
  if (state.credentialMode !== 'escrow' || !secret) return undefined;
  const plain = resolution?.secrets.get(secret.name) ?? '';
  const { header, prefix } = secret.escrow ?? { header: null, prefix: null };
  const value =
    header === null && prefix === null
      ? withScheme(own.get('x-svc-upstream-auth-scheme') ?? 'Bearer', plain)
      : `${prefix ?? 'Bearer '}${plain}`;
  if (!FIELD_VALUE.test(value) || value.length > MAX_HEADER_VALUE)
    return refused(
      'secret_invalid_for_header',
      `The value of ${secret.name} contains characters that aren't allowed in a header, or is too long.`,
    );
  return { name: header ?? 'Authorization', value: value.trim() };
}

/** RFC 7617 wants a user and a password; of a key alone the password is empty. */
function withScheme(scheme: string, value: string): string {
  if (scheme.toLowerCase() === 'none') return value;
  if (scheme.toLowerCase() !== 'basic') return `${scheme} ${value}`;
  return `Basic ${Buffer.from(value.includes(':') ? value : `${value}:`, 'utf8').toString('base64')}`;
}
