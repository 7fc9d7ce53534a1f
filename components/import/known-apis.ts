import type { Proposal } from '#server/domain/import/schema.ts';

/**
 * An API as its makers document it: where it is, and where its credential goes. Data, so that adding one needs no code.
 * Each was compared with its maker's pages on 2026-11-21. What a route puts in wins over what callers send, so a version stands here only
 * where the API answers none without.
 */
export type KnownApi = {
  name: string;
  about: string;
  target_base_url: string;
  /** Header -> template; {{secret:NAME}} names the secrets below. */
  headers: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  secrets: readonly { name: string; note: string }[];
  /** A harmless call that shows whether the credential works. */
  try_path: string;
  docs: string;
};

const bearer = (secret: string) => ({ Authorization: `Bearer {{secret:${secret}}}` });

export const KNOWN_APIS: readonly KnownApi[] = [
  {
    name: 'Stripe',
    about: 'Payments',
    target_base_url: 'https://api.stripe.com',
    headers: bearer('STRIPE_SECRET_KEY'),
    secrets: [
      {
        name: 'STRIPE_SECRET_KEY',
        note: 'A secret or restricted key, from Developers → API keys. In Test use one that begins with sk_test_ or rk_test_.',
      },
    ],
    try_path: '/v1/balance',
    docs: 'https://docs.stripe.com/keys',
  },
  {
    name: 'OpenAI',
    about: 'Language models',
    target_base_url: 'https://api.openai.com',
    headers: bearer('OPENAI_API_KEY'),
    secrets: [{ name: 'OPENAI_API_KEY', note: 'A project key, from Settings → API keys.' }],
    try_path: '/v1/models',
    docs: 'https://platform.openai.com/docs/api-reference/authentication',
  },
  {
    name: 'Anthropic',
    about: 'Language models',
    target_base_url: 'https://api.anthropic.com',
    headers: { 'x-api-key': '{{secret:ANTHROPIC_API_KEY}}', 'anthropic-version': '2023-06-01' },
    secrets: [{ name: 'ANTHROPIC_API_KEY', note: 'A workspace key, from Console → API keys.' }],
    try_path: '/v1/models',
    docs: 'https://docs.anthropic.com/en/api/overview',
  },
  {
    name: 'GitHub',
    about: 'Repositories, issues, actions',
    target_base_url: 'https://api.github.com',
    // A call without a user agent is refused.
    headers: { ...bearer('GITHUB_TOKEN'), 'User-Agent': 'sallyport' },
    secrets: [{ name: 'GITHUB_TOKEN', note: 'A fine-grained personal access token with the permissions callers need and no more.' }],
    try_path: '/rate_limit',
    docs: 'https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api',
  },
  {
    name: 'GitLab',
    about: 'Repositories, issues, pipelines',
    target_base_url: 'https://gitlab.com/api/v4',
    headers: { 'PRIVATE-TOKEN': '{{secret:GITLAB_TOKEN}}' },
    secrets: [{ name: 'GITLAB_TOKEN', note: 'A project or group access token. For a GitLab of your own change the target URL.' }],
    try_path: '/metadata',
    docs: 'https://docs.gitlab.com/api/rest/authentication/',
  },
  {
    name: 'Slack',
    about: 'Messages and channels',
    target_base_url: 'https://slack.com/api',
    headers: bearer('SLACK_BOT_TOKEN'),
    secrets: [
      {
        name: 'SLACK_BOT_TOKEN',
        note: 'A bot token that begins with xoxb-, from OAuth & Permissions of your app. A refused one answers 200 with "ok": false.',
      },
    ],
    try_path: '/auth.test',
    docs: 'https://docs.slack.dev/authentication/tokens',
  },
  {
    name: 'SendGrid',
    about: 'E-mail',
    target_base_url: 'https://api.sendgrid.com',
    headers: bearer('SENDGRID_API_KEY'),
    secrets: [
      {
        name: 'SENDGRID_API_KEY',
        note: 'A restricted key with the permission to send mail. For an account in the EU change the target URL to api.eu.sendgrid.com.',
      },
    ],
    try_path: '/v3/scopes',
    docs: 'https://www.twilio.com/docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/authentication',
  },
  {
    name: 'Resend',
    about: 'E-mail',
    target_base_url: 'https://api.resend.com',
    // A call without a user agent is refused.
    headers: { ...bearer('RESEND_API_KEY'), 'User-Agent': 'sallyport' },
    secrets: [
      {
        name: 'RESEND_API_KEY',
        note: 'From API Keys. One with sending access alone sends mail, but the first call offered here lists domains and answers 401 then.',
      },
    ],
    try_path: '/domains',
    docs: 'https://resend.com/docs/api-reference/introduction',
  },
  {
    name: 'Notion',
    about: 'Pages and databases',
    target_base_url: 'https://api.notion.com',
    headers: { ...bearer('NOTION_TOKEN'), 'Notion-Version': '2026-03-11' },
    secrets: [
      {
        name: 'NOTION_TOKEN',
        note: 'The token of an internal integration; share the pages with it. Callers written for another version need that one in Notion-Version.',
      },
    ],
    try_path: '/v1/users/me',
    docs: 'https://developers.notion.com/docs/authorization',
  },
  {
    name: 'Cloudflare',
    about: 'DNS and zones',
    target_base_url: 'https://api.cloudflare.com/client/v4',
    headers: bearer('CLOUDFLARE_API_TOKEN'),
    secrets: [
      {
        name: 'CLOUDFLARE_API_TOKEN',
        note: 'A scoped API token of a user, not the global key. One owned by an account works too, but not for the first call offered here.',
      },
    ],
    try_path: '/user/tokens/verify',
    docs: 'https://developers.cloudflare.com/fundamentals/api/get-started/create-token/',
  },
  {
    name: 'Datadog',
    about: 'Metrics and monitors',
    target_base_url: 'https://api.datadoghq.com',
    headers: { 'DD-API-KEY': '{{secret:DATADOG_API_KEY}}', 'DD-APPLICATION-KEY': '{{secret:DATADOG_APP_KEY}}' },
    secrets: [
      { name: 'DATADOG_API_KEY', note: 'From Organization Settings → API Keys. Elsewhere than in US1 change the target URL.' },
      { name: 'DATADOG_APP_KEY', note: 'A scoped application key, from Organization Settings → Application Keys.' },
    ],
    try_path: '/api/v2/validate_keys',
    docs: 'https://docs.datadoghq.com/api/latest/authentication/',
  },
  {
    name: 'OpenWeather',
    about: 'Weather',
    target_base_url: 'https://api.openweathermap.org',
    headers: {},
    query: { appid: '{{secret:OPENWEATHER_KEY}}' },
    secrets: [{ name: 'OPENWEATHER_KEY', note: 'From your account’s API keys; a new one takes some minutes to work.' }],
    try_path: '/data/2.5/weather?lat=51.51&lon=-0.13',
    docs: 'https://openweathermap.org/appid',
  },
];

/** A template as what an import proposes, under names that are free here. */
export function proposalOf(api: KnownApi, taken: { routes: ReadonlySet<string>; secrets: ReadonlySet<string> }): Proposal {
  const renamed = new Map(api.secrets.map(({ name }) => [name, free(name, taken.secrets, '_')]));
  const put = (templates: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(templates).map(([name, text]) => [
        name,
        text.replace(/\{\{secret:(\w+)\}\}/g, (_, secret: string) => `{{secret:${renamed.get(secret) ?? secret}}}`),
      ]),
    );
  return {
    routes: [
      {
        name: free(api.name, taken.routes, ' '),
        target_base_url: api.target_base_url,
        inject_headers_json: put(api.headers),
        inject_query_json: put(api.query ?? {}),
        sample_call: { method: 'GET', path: api.try_path },
      },
    ],
    secrets: api.secrets.map(({ name, note }) => ({ name: renamed.get(name) ?? name, note })),
    warnings: [],
  };
}

function free(name: string, taken: ReadonlySet<string>, joint: string): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) if (!taken.has(`${name}${joint}${n.toString()}`)) return `${name}${joint}${n.toString()}`;
}
