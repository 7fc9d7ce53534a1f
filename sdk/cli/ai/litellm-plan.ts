import type { AgentSettings } from './litellm-settings.ts';

// What an import of a LiteLLM config creates.

/** An agent to create, with the environment variables that its keys are read from. */
export type PlannedAgent = AgentSettings & {
  slug: string;
  name: string;
  provider: string;
  upstream: string | null;
  model: string;
  /** Name of an environment variable; null: the file holds a key, or none at all. */
  key_from: string | null;
  /** Variables of further keys of the same deployment, which calls take turns over. */
  more_keys_from: string[];
  /** Its server is called without a key. */
  keyless: boolean;
  budget_daily_usd: number | null;
  budget_monthly_usd: number | null;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  max_concurrency: number | null;
  /** Agents whose routes share its calls, by slug; its own share is under its own slug. Empty: it takes all. */
  shares: Record<string, number>;
  /** Agents whose routes take over when its calls fail, by slug, in this order. */
  fallbacks: string[];
};
/** `aliases`: names that callers use for models, for the gateway. `skipped`: what is left out, and why. `notes`: what is imported and works differently here. */
export type Plan = { agents: PlannedAgent[]; aliases: Record<string, string>; skipped: string[]; notes: string[] };

/** Members of a planned agent that the lines of a plan show by themselves. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['slug', 'name', 'provider', 'upstream', 'model', 'key_from', 'more_keys_from', 'keyless', 'shares', 'fallbacks'],
]);

/** Every other setting of an agent, as its fields of the API: `unsupported drop, cache_ttl_seconds 600`. */
export const settingsText = (agent: PlannedAgent): string =>
  Object.entries(agent)
    .filter(([name, value]) => !SHOWN.has(name) && value !== null && value !== undefined && JSON.stringify(value) !== '{}')
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ');
