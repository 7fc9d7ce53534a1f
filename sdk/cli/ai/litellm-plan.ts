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
/** `aliases`: names that callers use for models, for the gateway. `skipped`: what isn't as the file says, and why. */
export type Plan = { agents: PlannedAgent[]; aliases: Record<string, string>; skipped: string[] };
