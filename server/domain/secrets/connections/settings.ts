import type { z } from 'zod';
import { invalid } from '#server/kernel/errors.ts';
import { isInteractive, OAUTH2_PRESETS, type Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { parseUpstreamUrl } from '#server/kernel/upstream-url.ts';
import { egress } from '#server/platform/egress.ts';
import { env } from '#server/platform/env.ts';
import { checkTargetUrl } from '#server/platform/http-out/target-url.ts';
import type { CreateConnection } from './schema.ts';

type Given = Pick<
  z.output<typeof CreateConnection>,
  | 'provider'
  | 'grant_type'
  | 'client_id'
  | 'scopes'
  | 'auth_url'
  | 'token_url'
  | 'token_endpoint_auth_method'
  | 'extra_token_params'
  | 'extra_auth_params'
  | 'mtls_certificate_id'
>;

/** The settings of a connection, with what its provider's preset adds. @throws Refusal validation_error */
export async function settingsOf(given: Given): Promise<Oauth2Config> {
  const preset = given.provider === 'custom' ? undefined : OAUTH2_PRESETS[given.provider];
  const { grant_type } = given;
  const auth_url = isInteractive(grant_type) ? (given.auth_url ?? preset?.auth_url ?? null) : null;
  const token_url = grant_type === 'implicit' ? null : (given.token_url ?? preset?.token_url ?? null);
  if (isInteractive(grant_type) && auth_url === null) throw invalid('auth_url', 'is required for this provider');
  if (grant_type !== 'implicit' && token_url === null) throw invalid('token_url', 'is required for this provider');
  if (given.auth_url !== undefined) await assertCallable('auth_url', given.auth_url);
  if (given.token_url !== undefined) await assertCallable('token_url', given.token_url);
  return {
    provider: given.provider,
    grant_type,
    client_id: given.client_id,
    scopes: given.scopes ?? [...(preset?.scopes ?? [])],
    auth_url,
    token_url,
    token_endpoint_auth_method:
      given.token_endpoint_auth_method ?? (given.mtls_certificate_id ? 'none' : preset ? 'client_secret_post' : 'client_secret_basic'),
    extra_token_params: given.extra_token_params ?? {},
    extra_auth_params: { ...(preset?.auth_params ?? {}), ...(given.extra_auth_params ?? {}) },
    mtls_certificate_id: given.mtls_certificate_id ?? null,
  };
}

/** The rules for URLs that callers give (interface rule 33 §4); what the operator opened on private networks may be called too. @throws Refusal */
async function assertCallable(field: 'auth_url' | 'token_url', url: string): Promise<void> {
  const resolver = egress();
  const { settings } = resolver;
  const verdict = parseUpstreamUrl(url, {
    ownHosts: settings.ownHosts,
    opensPort: (host, port) => settings.testHosts.has(`${host}:${port}`),
  });
  const saved = await checkTargetUrl(url, resolver);
  if (verdict.ok && verdict.url.query !== null) throw invalid(field, 'must not contain a query string; use the extra parameters');
  if (!saved.ok) throw invalid(field, saved.message);
  if (verdict.ok) return;
  const { host, port } = saved.target;
  const lookup = await resolver.lookup(host, port);
  if (!(lookup.ok && lookup.exempt)) throw invalid(field, verdict.message);
}

/** Where the provider sends the browser back to; to be registered there. */
export const redirectUriOf = (secretId: string): string => `${new URL(env.PUBLIC_API_URL).origin}/auth/oauth2/callback/${secretId}`;

/** What the detail of a secret shows of its connection; null for other types. */
export function connectionSettings({ id, oauth2_config }: { id: string; oauth2_config: unknown }) {
  if (!oauth2_config) return null;
  const { extra_auth_params: _, extra_token_params: __, ...shown } = oauth2_config as Oauth2Config;
  return { ...shown, redirect_uri: isInteractive(shown.grant_type) ? redirectUriOf(id) : null };
}
