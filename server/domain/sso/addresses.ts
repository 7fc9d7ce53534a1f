import { env } from '#server/platform/env.ts';

/** Where providers send people back to. An entity ID of its own per connection keeps what one provider asserts out of every other connection. */
export const serviceOf = (connectionId: string) => ({
  acs_url: `${env.PUBLIC_ADMIN_URL}/auth/sso/acs`,
  entity_id: `${env.PUBLIC_ADMIN_URL}/auth/sso/saml/${connectionId}`,
});

/**
 * Where OpenID Connect providers send people back to. One address per workspace: a code that a provider gave out for one workspace never reaches the
 * token endpoint of another's (mix-up, RFC 9700 §4.4), also when the provider doesn't name itself in `iss`.
 */
export const redirectUriOf = (tenantId: string) => `${env.PUBLIC_ADMIN_URL}/auth/sso/callback/${tenantId}`;

/** The connection whose entity ID a text names. */
export const connectionNamed = (text: string): string | undefined => {
  const at = text.indexOf(`${env.PUBLIC_ADMIN_URL}/auth/sso/saml/`);
  return at === -1 ? undefined : /^[0-9a-f-]{36}/.exec(text.slice(at + env.PUBLIC_ADMIN_URL.length + '/auth/sso/saml/'.length))?.[0];
};
