import { SCOPE_CATALOGUE, SCOPE_NAMES } from '#server/kernel/scopes.ts';

/** What service-cli calls itself before it knows the workspace (interface rule 21 §3.3). */
export const CLI_ALIAS = 'service-cli';

export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The client that the alias stands for: one per workspace and space, made at its first login. Nobody can change it. */
export const CLI_CLIENT = {
  name: 'Service CLI',
  type: 'public' as const,
  grant_types: ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT],
  redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback'],
  /** All that a person's token may carry on /v1: the command line calls every operation. */
  allowed_scopes: SCOPE_NAMES.filter((scope) => {
    const people = SCOPE_CATALOGUE[scope]?.people;
    return (people === 'role' || people === 'admin') && scope !== 'mcp:tools';
  }),
  /** None: what takes a second factor asks each login for it, whatever its scopes (`confirmedLogin`). */
  step_up_scopes: [] as string[],
  require_dpop: false,
  consent_html_template: null,
};
