import { confirmedScopes } from '#server/api/confirmed-scopes.ts';
import { edgeOf } from '#server/api/edge.ts';
import { hintOf } from '#server/domain/oauth-grants/authorize-requests.ts';
import { consentPage } from '#server/domain/oauth-grants/consent-view.ts';
import { devicePage } from '#server/domain/oauth-grants/device-approval.ts';
import type { ConsentPageView, DevicePageView } from '#server/domain/oauth-grants/view.shared.ts';
import type { LiveSession, Person, SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor } from '#server/kernel/step-up.ts';
import { db } from '#server/platform/db.ts';
import { callerOf } from './handle.ts';
import { personOf } from './person.ts';

/** Who decides, as the form of the page needs it. */
export type Decider = { id: string; csrf: string; has_factor: boolean };

type Asked<V> = { state: 'ask'; view: V; decider: Decider };
export type ConsentPageState =
  | { state: 'over' }
  | { state: 'sign_in'; login_hint: string | null }
  | { state: 'skip' }
  | Asked<ConsentPageView>;
export type DevicePageState = { state: 'over' } | { state: 'sign_in' } | Asked<DevicePageView>;

/** What the page of a login shows to whoever opens it. */
export async function consentPageState(headers: Headers, handle: string, workspace: string | null): Promise<ConsentPageState> {
  const person = await personOf(headers);
  if (!person) {
    const hint = await hintOf(db(), handle, new Date());
    if (!hint) return { state: 'over' };
    return hint.silent ? { state: 'skip' } : { state: 'sign_in', login_hint: hint.login_hint };
  }
  const page = await consentPage(signedIn(headers, person), handle, { workspace, confirmed: confirmedScopes() });
  return page.state === 'ask' ? { ...page, decider: await deciderOf(person) } : page;
}

/** The same for the login of a device. */
export async function devicePageState(
  headers: Headers,
  handle: string,
  asked: { workspace: string | null; code: string | null },
): Promise<DevicePageState> {
  const person = await personOf(headers);
  if (!person) return { state: 'sign_in' };
  const page = await devicePage(signedIn(headers, person), handle, { ...asked, confirmed: confirmedScopes() });
  return page.state === 'ask' ? { ...page, decider: await deciderOf(person) } : page;
}

const signedIn = (headers: Headers, person: { session: LiveSession; user: Person }): SignedInCtx => ({
  ...callerOf(headers, edgeOf(headers)),
  ...person,
});

const deciderOf = async ({ session, user }: { session: LiveSession; user: Person }): Promise<Decider> => ({
  id: user.id,
  csrf: session.csrf_token,
  has_factor: await hasFactor(db(), user.id),
});
