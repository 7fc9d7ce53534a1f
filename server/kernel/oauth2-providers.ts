// What an oauth2 secret asks whom for (interface rule 30 §10.1). Without packages, so that pages read it too.

export const OAUTH2_PROVIDERS = ['google', 'github', 'salesforce', 'microsoft', 'slack', 'custom'] as const;
export type Oauth2Provider = (typeof OAUTH2_PROVIDERS)[number];

export const OAUTH2_GRANTS = ['authorization_code', 'client_credentials', 'password', 'implicit'] as const;
export type Oauth2Grant = (typeof OAUTH2_GRANTS)[number];

export const OAUTH2_CLIENT_AUTH = ['client_secret_basic', 'client_secret_post', 'none'] as const;
export type Oauth2ClientAuth = (typeof OAUTH2_CLIENT_AUTH)[number];

export const CONNECTION_STATUSES = ['pending', 'connected', 'error', 'expired', 'disconnected'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** The settings of a connection; its credentials are sealed with its tokens. */
export type Oauth2Config = {
  provider: Oauth2Provider;
  grant_type: Oauth2Grant;
  client_id: string;
  scopes: string[];
  /** Null for grants without a browser. */
  auth_url: string | null;
  /** Null for the implicit grant. */
  token_url: string | null;
  token_endpoint_auth_method: Oauth2ClientAuth;
  extra_token_params: Record<string, string>;
  extra_auth_params: Record<string, string>;
  mtls_certificate_id: string | null;
};

type Preset = { auth_url: string; token_url: string; scopes: readonly string[]; auth_params?: Readonly<Record<string, string>> };

export const OAUTH2_PRESETS: Readonly<Record<Exclude<Oauth2Provider, 'custom'>, Preset>> = {
  google: {
    auth_url: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_url: 'https://oauth2.googleapis.com/token',
    scopes: ['openid', 'email'],
    // Without both there is no refresh token.
    auth_params: { access_type: 'offline', prompt: 'consent' },
  },
  github: { auth_url: 'https://github.com/login/oauth/authorize', token_url: 'https://github.com/login/oauth/access_token', scopes: [] },
  salesforce: {
    auth_url: 'https://login.salesforce.com/services/oauth2/authorize',
    token_url: 'https://login.salesforce.com/services/oauth2/token',
    scopes: ['api', 'refresh_token'],
  },
  microsoft: {
    auth_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    scopes: ['openid', 'offline_access', 'User.Read'],
  },
  slack: { auth_url: 'https://slack.com/oauth/v2/authorize', token_url: 'https://slack.com/api/oauth.v2.access', scopes: ['chat:write'] },
};

/** Whether a person has to consent in a browser. */
export const isInteractive = (grant: Oauth2Grant): boolean => grant === 'authorization_code' || grant === 'implicit';
