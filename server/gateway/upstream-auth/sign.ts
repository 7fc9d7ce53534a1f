import { redactedMark } from '#server/custody/redaction/redaction.ts';
import type { Refused } from '../core/refusal.ts';
import type { Runtime } from '../core/runtime.ts';
import type { CallConfig, UpstreamSigning } from '../snapshot/model.ts';
import type { Resolution } from '../templates/resolution.ts';
import { tooMuchHidden } from '../templates/scrubbed-answer.ts';
import type { TemplateCall } from '../templates/template-call.ts';
import { signAws } from './aws.ts';
import { bearerToken } from './bearer-token.ts';
import type { Signed, SigningAuth } from './signed.ts';

/** Only S3 takes a body that its signature doesn't cover, so for other services it is read first. */
export const signsBody = ({ upstreamAuth }: CallConfig): boolean =>
  upstreamAuth?.auth.type === 'aws_sigv4' && upstreamAuth.auth.service !== 's3';

/** Adds what authenticates the call to the upstream. Nothing has been sent when this refuses. */
export function sign(
  call: TemplateCall,
  runtime: Runtime,
  signing: UpstreamSigning,
  resolution: Resolution,
): Refused | undefined | Promise<Refused | undefined> {
  // Our own echo upstream answers what it was sent.
  const made = call.echo ? marked(call, signing) : signed(call, runtime, signing, resolution);
  const done = (one: Signed | Refused): Refused | undefined => {
    if (!('code' in one) && resolution.useOnly.has(nameOf(call, signing.auth)))
      for (const [name, text] of one.credentials) resolution.useOnly.set(name, text);
    return attach(call, one) ?? tooMuchHidden(resolution);
  };
  return made instanceof Promise ? made.then(done) : done(made);
}

function signed(
  call: TemplateCall,
  runtime: Runtime,
  signing: UpstreamSigning,
  { configuration }: Resolution,
): Signed | Refused | Promise<Signed | Refused> {
  const { auth, secret } = signing;
  const material = secret === null ? undefined : configuration.get(secret);
  return auth.type === 'aws_sigv4'
    ? signAws(call, runtime, auth, nameOf(call, auth), material ?? '')
    : bearerToken(call, signing, auth, nameOf(call, auth), material);
}

const marked = (call: TemplateCall, { auth }: UpstreamSigning): Signed => ({
  headers:
    auth.type === 'aws_sigv4'
      ? ['Authorization', redactedMark(nameOf(call, auth))]
      : [auth.header_name, auth.value_prefix + redactedMark(nameOf(call, auth))],
  credentials: new Map(),
});

/** What the material is called: the secret, or the crypto key. */
export function nameOf({ snapshot }: TemplateCall, auth: SigningAuth): string {
  const key = auth.type === 'jwt_bearer' ? auth.key_name : undefined;
  return (auth.secret_id === undefined ? undefined : snapshot.secretById(auth.secret_id)?.name) ?? key ?? '';
}

/** These win over headers of the same name, and whatever is shown or kept of the call shows marks in place of the values. */
function attach(call: TemplateCall, made: Signed | Refused): Refused | undefined {
  if ('code' in made) return made;
  const { headers, credentials } = made;
  const own = new Set(headers.flatMap((text, i) => (i % 2 === 0 ? [text.toLowerCase()] : [])));
  call.injectedHeaders = [...without(call.injectedHeaders, own), ...headers];
  call.injected = [
    ...(call.injected ?? []).filter((place) => !own.has(place.slice('header:'.length))),
    ...[...own].map((name) => `header:${name}`),
  ];
  if (call.capture) call.capture.secrets = new Map([...call.capture.secrets, ...credentials]);
  const { test } = call.state;
  if (!test) return undefined;
  test.secrets = new Map([...test.secrets, ...credentials]);
  if (test.shown)
    test.shown = { ...test.shown, headers: [...without(test.shown.headers, own), ...headers.map((text) => withMarks(text, credentials))] };
  return undefined;
}

const without = (headers: readonly string[] | null, names: ReadonlySet<string>): string[] =>
  (headers ?? []).filter((_, i, all) => !names.has((all[i - (i % 2)] as string).toLowerCase()));

const withMarks = (text: string, credentials: ReadonlyMap<string, string>): string =>
  [...credentials].reduce((shown, [name, value]) => shown.replaceAll(value, redactedMark(name)), text);
