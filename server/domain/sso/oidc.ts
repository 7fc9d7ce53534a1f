import { Sensitive } from '#server/crypto/sensitive.ts';
import { type AttemptSecrets, challengeOf, nonceOf, verifierOf } from '#server/crypto/sign-in-attempt.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { authorizationUrl, identityFrom, type OidcProvider } from '#server/platform/connect/oidc.ts';
import { keyring } from '#server/platform/keys.ts';
import { redirectUriOf } from './addresses.ts';
import type { Connection } from './connections.ts';
import type { Identity } from './identities.ts';

/** Where the browser goes. @throws OidcFault */
export const oidcAddress = (
  connection: Connection,
  { login_hint, now, ...secrets }: AttemptSecrets & { login_hint?: string | undefined; now: Date },
) =>
  overHttp(async (http) =>
    authorizationUrl(http, await providerOf(connection), {
      redirect_uri: redirectUriOf(connection.tenant_id),
      state: secrets.state,
      nonce: nonceOf(secrets),
      challenge: challengeOf(secrets),
      login_hint,
      now,
    }),
  );

/** Who the provider says signed in. @throws OidcFault */
export async function oidcIdentity(
  connection: Connection,
  query: Record<string, unknown>,
  { now, ...secrets }: AttemptSecrets & { now: Date },
): Promise<Identity> {
  // Only the parameters of the protocol: a provider may add others.
  const url = new URL(redirectUriOf(connection.tenant_id));
  for (const name of ['state', 'code', 'iss', 'error', 'error_description', 'response'])
    if (typeof query[name] === 'string') url.searchParams.set(name, query[name]);
  const said = await overHttp(async (http) =>
    identityFrom(http, await providerOf(connection), {
      url,
      state: secrets.state,
      nonce: nonceOf(secrets),
      verifier: verifierOf(secrets),
      now,
    }),
  );
  return { ...said, mfa: said.methods.includes('mfa') };
}

async function providerOf({
  id,
  tenant_id,
  issuer,
  client_id,
  token_auth,
  value_ct,
  cek_wrapped,
  tmk_version,
}: Connection): Promise<OidcProvider> {
  const provider = {
    tenant: tenant_id,
    issuer,
    client_id: client_id ?? '',
    token_auth: token_auth === 'post' ? ('post' as const) : ('basic' as const),
  };
  if (value_ct === null || cek_wrapped === null || tmk_version === null) return { ...provider, client_secret: null };
  const place = { tenant_id, space: '-', purpose: 'sso_secret', row_id: id } as const;
  const bytes = await keyring().openValue(place, { value_ct, cek_wrapped, tmk_version });
  try {
    return { ...provider, client_secret: new Sensitive(bytes.toString('utf8')) };
  } finally {
    bytes.fill(0);
  }
}

/** Connections are opened for one sign-in and closed after it: sign-ins are rare, and what is idle need not be kept. */
async function overHttp<T>(work: (http: OutboundHttp) => Promise<T>): Promise<T> {
  const http = openHttp({ connections: 2, connectTimeoutMs: 5_000 });
  try {
    return await work(http);
  } finally {
    await http.close();
  }
}
