/** How common providers take their keys: what the wizard fills in. */
export type Preset = {
  readonly id: string;
  readonly label: string;
  readonly hosts: readonly string[];
  readonly header: string;
  readonly prefix: string;
  /** What a right key looks like. */
  readonly format: string;
  /** How its SDK is told another address, with `BASE_URL` in place of it. */
  readonly sdk: string;
};

export const PRESETS: readonly [Preset, ...Preset[]] = [
  {
    id: 'stripe',
    label: 'Stripe',
    hosts: ['api.stripe.com'],
    header: 'Authorization',
    prefix: 'Bearer ',
    format: 'Starts with sk_ or rk_',
    sdk: "import Stripe from 'stripe';\nimport { wrapped } from './sdk/index.ts';\n\nconst STRIPE_BASE_URL = '…'; // the base URL of a gateway token\nconst { fetch, ...address } = wrapped.stripe(STRIPE_BASE_URL);\nconst stripe = new Stripe('wrapped', { ...address, httpClient: Stripe.createFetchHttpClient(fetch) });",
  },
  {
    id: 'openai',
    label: 'OpenAI',
    hosts: ['api.openai.com'],
    header: 'Authorization',
    prefix: 'Bearer ',
    format: 'Starts with sk-',
    sdk: "import OpenAI from 'openai';\n\nconst openai = new OpenAI({ apiKey: 'unused', baseURL: `${OPENAI_BASE_URL}/v1` });",
  },
  {
    id: 'anthropic',
    label: 'Anthropic',
    hosts: ['api.anthropic.com'],
    header: 'x-api-key',
    prefix: '',
    format: 'Starts with sk-ant-',
    sdk: "import Anthropic from '@anthropic-ai/sdk';\n\nconst anthropic = new Anthropic({ apiKey: 'unused', baseURL: ANTHROPIC_BASE_URL });",
  },
  {
    id: 'github',
    label: 'GitHub',
    hosts: ['api.github.com'],
    header: 'Authorization',
    prefix: 'Bearer ',
    format: 'Starts with ghp_ or github_pat_',
    sdk: "import { Octokit } from '@octokit/rest';\n\nconst github = new Octokit({ baseUrl: GITHUB_BASE_URL });",
  },
  {
    id: 'other',
    label: 'Another provider',
    hosts: [],
    header: 'Authorization',
    prefix: 'Bearer ',
    format: '',
    sdk: 'await fetch(`${PROVIDER_BASE_URL}/v1/items`);',
  },
];
