import { env } from '#server/platform/env.ts';

/** Where providers send people back to. An entity ID of its own per connection keeps what one provider asserts out of every other connection. */
export const serviceOf = (connectionId: string) => ({
  redirect_uri: `${env.PUBLIC_ADMIN_URL}/auth/sso/callback`,
  acs_url: `${env.PUBLIC_ADMIN_URL}/auth/sso/acs`,
  entity_id: `${env.PUBLIC_ADMIN_URL}/auth/sso/saml/${connectionId}`,
});

/** The connection whose entity ID a text names. */
export const connectionNamed = (text: string): string | undefined => {
  const at = text.indexOf(`${env.PUBLIC_ADMIN_URL}/auth/sso/saml/`);
  return at === -1 ? undefined : /^[0-9a-f-]{36}/.exec(text.slice(at + env.PUBLIC_ADMIN_URL.length + '/auth/sso/saml/'.length))?.[0];
};
