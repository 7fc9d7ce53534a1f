import { askSignIn, askStepUp, asksSignIn, asksStepUp, cancelled, explainMissingFactor, type Refused } from './challenges.ts';

/**
 * `fetch` for calls that may need a verification or a new sign-in: asks for it in the shared dialog and repeats the request exactly once. A cancelled one is answered
 * with the refusal it got.
 */
export async function fetchWithStepUp(input: string, init: RequestInit = {}): Promise<Response> {
  const first = await fetch(input, init);
  if (first.status !== 403) return first;
  const refused = (await first
    .clone()
    .json()
    .catch(() => null)) as Refused | null;
  if (refused?.code === 'mfa_required' && isChange(init)) explainMissingFactor(refused);
  const signIn = isChange(init) && asksSignIn(refused);
  if (!refused || !(signIn || asksStepUp(refused))) return first;
  const headers = new Headers(init.headers);
  const signal = init.signal ?? null;
  const proof = await (signIn ? askSignIn(refused, signal) : askStepUp(refused, { reason_sent: headers.has('x-reveal-reason'), signal }));
  if (!proof)
    return Response.json(cancelled(refused, signIn ? 'sign_in' : 'verify'), {
      status: first.status,
      headers: { 'x-request-id': requestId(first) },
    });
  for (const [name, value] of Object.entries(proof)) headers.set(name, value);
  return fetch(input, { ...init, headers });
}

/** A page that only reads shows its refusal in its place, and nobody pressed anything that a dialog would answer. */
const isChange = ({ method = 'GET' }: RequestInit) => method !== 'GET' && method !== 'HEAD';
const requestId = (response: Response) => response.headers.get('x-request-id') ?? '';
