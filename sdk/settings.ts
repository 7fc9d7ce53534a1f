/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says about the service and the credential. An empty variable counts as absent. */
export function environmentSettings(env: Environment = process.env) {
  const of = (name: string) => env[name]?.trim() || undefined;
  return {
    base_url: of('SERVICE_BASE_URL'),
    api_key: of('SERVICE_API_KEY'),
    access_token: of('SERVICE_ACCESS_TOKEN'),
    client_id: of('SERVICE_CLIENT_ID'),
    client_secret: of('SERVICE_CLIENT_SECRET'),
    subject_token: of('SERVICE_SUBJECT_TOKEN'),
    tenant: of('SERVICE_TENANT'),
    profile: of('SERVICE_PROFILE'),
    intercept: of('SERVICE_INTERCEPT')?.toLowerCase(),
    observe_uncovered: of('SERVICE_OBSERVE_UNCOVERED')?.toLowerCase(),
    credentials_file: of('SERVICE_CREDENTIALS_FILE'),
    config_home: of('XDG_CONFIG_HOME'),
    no_color: env.NO_COLOR !== undefined && env.NO_COLOR !== '',
  };
}

export type EnvironmentSettings = ReturnType<typeof environmentSettings>;

/** The addresses of an installation on this machine, for programs that name none. */
export const LOCAL = { live: 'http://localhost:4000', test: 'http://localhost:4001' } as const;

/** Variables that hold a credential. A child process gets none of them. */
export const CREDENTIAL_VARIABLES = ['SERVICE_API_KEY', 'SERVICE_ACCESS_TOKEN', 'SERVICE_CLIENT_SECRET', 'SERVICE_SUBJECT_TOKEN'] as const;

/** The space that a credential belongs to, as its prefix says. */
export const spaceOf = (credential: string): 'live' | 'test' => (/^(?:tk|svc)_test_/.test(credential) ? 'test' : 'live');

/** The origin of a base URL, which may be given with or without `/v1`. @throws TypeError */
export function originOf(base_url: string): string {
  const url = URL.parse(base_url);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash || !/^\/(?:v1\/?)?$/.test(url.pathname))
    throw new TypeError('The base URL is the address of the Management API, such as https://api.example.com/v1.');
  return url.origin;
}
