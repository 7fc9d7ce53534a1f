import { counted } from '#components/ui/numbers.ts';
import type { RefusalView } from '#components/ui/refusal.ts';
import { isOwnPath } from '#server/domain/people/own-path.shared.ts';

export type AuthAnswer<T> = { ok: true; data: T } | { ok: false; refusal: RefusalView };

/** One call of the session plane from a page. A lost connection is a refusal like any other: the form keeps what was typed. */
export async function callAuth<T>(path: `/auth/${string}`, body?: unknown, csrf?: string): Promise<AuthAnswer<T>> {
  try {
    const response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(csrf ? { 'x-csrf-token': csrf } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const data = (await response.json()) as T & { code?: string; message?: string; request_id?: string };
    if (response.ok) return { ok: true, data };
    const wait = Number(response.headers.get('retry-after'));
    const message = withWait(data.message ?? 'Something went wrong.', wait);
    return {
      ok: false,
      refusal: { type: data.code ?? 'internal_error', message, request_id: response.status >= 500 ? data.request_id : undefined },
    };
  } catch {
    return { ok: false, refusal: { type: 'offline', message: 'Can’t reach Sallyport. Check your connection and try again.' } };
  }
}

/** "Too many attempts. Try again in about 41 minutes." A message that already states the wait is left alone. */
export const withWait = (message: string, seconds: number): string =>
  seconds > 0 ? message.replace(/again(?: later)?\.$/, `again in about ${inWords(seconds)}.`) : message;

const inWords = (seconds: number) => (seconds < 90 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute'));

/** Loads the next page from the server: nothing of the page before may stay in memory. */
export function go(to: string): void {
  window.location.assign(isOwnPath(to) ? to : '/');
}

export { isOwnPath };

/** Where a tab ends that was opened to sign in again for another one. As the `next` of the page that signs in it says so through every way of signing in. */
export const SIGNED_IN_AGAIN = '/signin/again';

export type SignedIn = { status: 'ok'; redirect_to: string };
/** The first factor was right and the account has a second one, which `redirect_to` asks for. */
export type SecondFactorOwed = { status: 'mfa_required'; redirect_to: string };
export type SignInAnswer = SignedIn | SecondFactorOwed;
