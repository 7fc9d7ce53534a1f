import { BUDGET_OVERAGE, REGIONS, UNPRICED, UNSUPPORTED } from './agent-choices.ts';
import type { Agent } from './ai-labels.ts';
import type { Setting } from './settings-fields.ts';

type Field = keyof Agent | `routing_policy.${keyof Agent['routing_policy'] & string}`;
type Group = { title: string; description?: string; settings: readonly Setting<Field>[] };

/** The settings of an agent by tab, in the order of the documentation. */
export const AGENT_SETTINGS = {
  general: [
    {
      title: 'General',
      settings: [
        { name: 'name', label: 'Name', kind: 'text' },
        {
          name: 'slug',
          label: 'Slug',
          kind: 'text',
          mono: true,
          hint: 'Part of the URL that callers use. A new slug moves the URL: calls to the old one fail immediately.',
        },
        { name: 'description', label: 'Description', kind: 'area' },
        {
          name: 'tags',
          label: 'Tags',
          kind: 'pairs',
          placeholder: 'team = support',
          hint: 'Labels of its spend, one name = value per line.',
        },
      ],
    },
  ],
  upstream: [
    {
      title: 'Upstream',
      description: 'Where calls go, and what happens when that fails.',
      settings: [
        { name: 'primary_route_id', label: 'Primary route', kind: 'one', from: 'routes', empty: 'No route: calls are refused' },
        {
          name: 'upstream',
          label: 'Base URL',
          kind: 'text',
          mono: true,
          hint: 'Leave empty for the provider’s own address. If the agent has a key, an Owner or Admin confirms a move to another host, which gets the key.',
        },
        {
          name: 'fallback_route_ids',
          label: 'Fallback routes',
          kind: 'many',
          from: 'routes',
          empty: 'Add a route…',
          hint: 'Up to five, tried in this order when an upstream answers with a 5xx status.',
        },
        {
          name: 'upstream_secret_ids',
          label: 'Provider keys',
          kind: 'many',
          from: 'secrets',
          empty: 'Add a secret…',
          hint: 'Calls take turns over these secrets. Without any, the key that the agent was created with is used. Only for agents with a provider.',
        },
        {
          name: 'data_residency_region',
          label: 'Data residency',
          kind: 'choice',
          empty: 'Any region',
          options: Object.entries(REGIONS).map(([value, title]) => ({ value, title })),
          hint: 'Calls to an upstream in another region are refused.',
        },
        {
          name: 'cmek_key_id',
          label: 'Crypto key',
          kind: 'one',
          from: 'keys',
          empty: 'The workspace’s key',
          hint: 'Encrypts stored payloads and cached answers of this agent.',
        },
      ],
    },
    {
      title: 'Retries',
      description: 'What happens when an attempt fails. Without a reason to retry, there is one attempt per route.',
      settings: [
        {
          name: 'routing_policy.retry_on',
          label: 'Retry on',
          kind: 'many',
          from: 'retryReasons',
          empty: 'Never',
        },
        {
          name: 'routing_policy.max_attempts',
          label: 'Attempts per route',
          kind: 'integer',
          placeholder: '1',
          hint: '1 to 5, the first one included.',
        },
        {
          name: 'routing_policy.attempt_timeout_ms',
          label: 'Timeout per attempt',
          kind: 'integer',
          suffix: 'ms',
          placeholder: '120000',
          hint: 'Until the first byte of the answer.',
        },
        { name: 'routing_policy.backoff_ms', label: 'Wait before the second attempt', kind: 'integer', suffix: 'ms', placeholder: '250' },
        { name: 'routing_policy.backoff_multiplier', label: 'Each wait is longer by', kind: 'decimal', suffix: 'times', placeholder: '2' },
        { name: 'routing_policy.max_backoff_ms', label: 'Longest wait', kind: 'integer', suffix: 'ms', placeholder: '8000' },
        { name: 'routing_policy.jitter', label: 'Spread waits at random', kind: 'flag', unset: true },
        { name: 'routing_policy.respect_retry_after', label: 'Wait as long as Retry-After says', kind: 'flag', unset: true },
        {
          name: 'routing_policy.max_retry_after_ms',
          label: 'Longest Retry-After',
          kind: 'integer',
          suffix: 'ms',
          placeholder: '60000',
          hint: 'A longer one ends the attempts on that route.',
        },
        {
          name: 'routing_policy.route_weights',
          label: 'Weights of routes',
          kind: 'pairs',
          numeric: true,
          placeholder: 'ROUTE_ID = 100',
          hint: 'One route ID = weight per line, 1 to 1000. Calls spread over these routes; the others are fallbacks.',
        },
        {
          name: 'routing_policy.circuit',
          label: 'Circuit breaker',
          kind: 'json',
          placeholder: '{ "failure_threshold": 5, "cooldown_ms": 60000 }',
          hint: 'Leaves a route out for a while when it fails too often within a minute. Leave empty for never.',
        },
      ],
    },
  ],
  models: [
    {
      title: 'Models',
      description: 'Aliases of the gateway are resolved first, then these rules apply.',
      settings: [
        { name: 'default_model', label: 'Default model', kind: 'text', mono: true, hint: 'For calls that name none.' },
        { name: 'model_allowlist', label: 'Allowed models', kind: 'lines', hint: 'One per line. Leave empty to allow any.' },
        { name: 'model_denylist', label: 'Denied models', kind: 'lines', hint: 'One per line. Denied wins over allowed.' },
        {
          name: 'model_rewrite',
          label: 'Rewrites',
          kind: 'pairs',
          placeholder: 'gpt-4o = gpt-5.4-mini',
          hint: 'One requested = called model per line.',
        },
        {
          name: 'enforced_system_prefix',
          label: 'Enforced system prompt',
          kind: 'area',
          hint: 'Every prompt begins with this text. Callers can’t remove it.',
        },
        { name: 'streaming_enabled', label: 'Allow streaming', kind: 'flag', hint: 'While this is off, streaming calls are refused.' },
        {
          name: 'unsupported',
          label: 'Options that the provider doesn’t have',
          kind: 'choice',
          options: UNSUPPORTED,
        },
      ],
    },
  ],
  budget: [
    {
      title: 'Budget',
      description: 'In US dollars. Each call reserves its most expensive outcome first, so parallel calls can’t overspend.',
      settings: [
        {
          name: 'budget_daily_usd',
          label: 'Per day',
          kind: 'decimal',
          suffix: 'USD',
          placeholder: 'No limit',
          hint: 'Resets at 00:00 UTC.',
        },
        {
          name: 'budget_monthly_usd',
          label: 'Per month',
          kind: 'decimal',
          suffix: 'USD',
          placeholder: 'No limit',
          hint: 'Resets on the first of the month, UTC.',
        },
        {
          name: 'budget_overage_action',
          label: 'When it is spent',
          kind: 'choice',
          options: [
            ...BUDGET_OVERAGE,
            { value: 'fallback', title: 'Use another agent', description: 'Calls go to the fallback agent. Without one they are refused.' },
          ],
        },
        { name: 'fallback_agent_id', label: 'Fallback agent', kind: 'one', from: 'agents', empty: 'None' },
        {
          name: 'unpriced_action',
          label: 'Models without a price',
          kind: 'choice',
          options: UNPRICED,
        },
      ],
    },
    {
      title: 'Limits',
      settings: [
        { name: 'budget_per_call_max_tokens', label: 'Output tokens per call', kind: 'integer', suffix: 'tokens', placeholder: 'No limit' },
        { name: 'rate_limit_rpm', label: 'Requests per minute', kind: 'integer', placeholder: 'No limit' },
        { name: 'rate_limit_tpm', label: 'Tokens per minute', kind: 'integer', placeholder: 'No limit' },
        { name: 'max_concurrency', label: 'Parallel calls', kind: 'integer', placeholder: 'No limit', hint: 'At most 1000.' },
      ],
    },
  ],
  privacy: [
    {
      title: 'Personal data',
      description: 'Detectors replace personal data before a prompt leaves, and check every answer.',
      settings: [
        {
          name: 'pii_redact_policy_id',
          label: 'PII policy',
          kind: 'one',
          from: 'piiPolicies',
          empty: 'Built-in detectors and all recognizers',
        },
        {
          name: 'pii_request_mode',
          label: 'Prompts',
          kind: 'choice',
          options: [
            { value: 'tokenize', title: 'Tokenize', description: 'The provider sees stand-ins instead of values.' },
            { value: 'off', title: 'Send as they are', description: 'The provider sees real values.' },
          ],
        },
        {
          name: 'pii_response_mode',
          label: 'Answers',
          kind: 'choice',
          options: [
            { value: 'detokenize', title: 'Restore', description: 'Stand-ins become the caller’s own values again.' },
            { value: 'redact', title: 'Redact', description: 'Values stay hidden from the caller too.' },
          ],
        },
        {
          name: 'pii_streaming_mode',
          label: 'Streams',
          kind: 'choice',
          options: [
            { value: 'holdback', title: 'Hold back', description: 'Delays the last characters, so that no value slips through in pieces.' },
            { value: 'buffer', title: 'Buffer', description: 'Sends the answer when it is complete.' },
            { value: 'monitor', title: 'Monitor', description: 'Reports findings, but sends them on.' },
          ],
        },
        {
          name: 'pii_streaming_holdback_chars',
          label: 'Hold back',
          kind: 'integer',
          suffix: 'characters',
          required: true,
          hint: '16 to 4096.',
        },
      ],
    },
  ],
  firewall: [
    {
      title: 'Prompt firewall',
      settings: [
        {
          name: 'firewall_policy_id',
          label: 'Policy',
          kind: 'one',
          from: 'firewallPolicies',
          empty: 'Built-in rules, which only warn',
          hint: 'Only a policy with the action block refuses calls.',
        },
      ],
    },
    {
      title: 'Guardrail webhook',
      description: 'Your own service sees prompts, after redaction, or answers, and may refuse them.',
      settings: [
        {
          name: 'guardrail_webhook_mode',
          label: 'Asked about',
          kind: 'choice',
          options: [
            { value: 'off', title: 'Nothing' },
            { value: 'request', title: 'Prompts' },
            { value: 'response', title: 'Answers' },
            { value: 'both', title: 'Prompts and answers' },
          ],
        },
        { name: 'guardrail_webhook_url', label: 'URL', kind: 'text', mono: true, placeholder: 'https://guard.example.com/check' },
        {
          name: 'guardrail_webhook_secret_id',
          label: 'Signing secret',
          kind: 'one',
          from: 'secrets',
          empty: 'None: requests aren’t signed',
        },
        { name: 'guardrail_webhook_timeout_ms', label: 'Timeout', kind: 'integer', suffix: 'ms', required: true, hint: '100 to 10000.' },
        {
          name: 'guardrail_webhook_failure_action',
          label: 'When it doesn’t respond',
          kind: 'choice',
          options: [
            { value: 'fail_closed', title: 'Refuse the call', description: 'Nothing passes unchecked.' },
            { value: 'fail_open', title: 'Let the call pass', description: 'An outage of the webhook doesn’t stop calls.' },
          ],
        },
      ],
    },
  ],
  output: [
    {
      title: 'Tools',
      settings: [
        {
          name: 'tool_allowlist',
          label: 'Allowed tools',
          kind: 'lines',
          hint: 'Names, one per line. Others are removed from calls. Leave empty to allow all.',
        },
      ],
    },
    {
      title: 'Output',
      settings: [
        {
          name: 'output_schema',
          label: 'JSON Schema',
          kind: 'json',
          placeholder: '{ "type": "object", "required": ["answer"] }',
          hint: 'Answers must match it (2020-12). Leave empty for any answer.',
        },
        {
          name: 'output_validation_action',
          label: 'When an answer doesn’t match',
          kind: 'choice',
          options: [
            { value: 'warn', title: 'Warn', description: 'The answer is sent on, with a warning in the log.' },
            { value: 'retry', title: 'Ask once more', description: 'The model is told what is wrong.' },
            { value: 'block', title: 'Refuse', description: 'The caller gets an error.' },
          ],
        },
      ],
    },
  ],
  cache: [
    {
      title: 'Cache',
      description: 'A repeated prompt is answered without the provider. It costs nothing and passes all checks.',
      settings: [
        {
          name: 'cache_mode',
          label: 'Mode',
          kind: 'choice',
          options: [
            { value: 'off', title: 'Off', description: 'Every call goes to the provider.' },
            { value: 'exact', title: 'Exact', description: 'The same request gets the same answer.' },
            { value: 'semantic', title: 'Semantic', description: 'Similar prompts get the same answer. Takes an embedding model.' },
          ],
        },
        {
          name: 'cache_scope',
          label: 'Who gets a kept answer',
          kind: 'choice',
          options: [
            { value: 'user', title: 'Same user', description: 'Only the user or token that the answer was made for.' },
            { value: 'shared', title: 'Everyone', description: 'All callers of this agent. Only if no prompt holds anything personal.' },
          ],
        },
        { name: 'cache_ttl_seconds', label: 'Keep answers for', kind: 'integer', suffix: 'seconds', required: true },
        { name: 'cache_similarity_threshold', label: 'Similarity', kind: 'decimal', required: true, hint: '0 to 1. Only for semantic.' },
        { name: 'cache_embedding_model', label: 'Embedding model', kind: 'text', mono: true, hint: 'Only for semantic.' },
      ],
    },
  ],
} as const satisfies Record<string, readonly Group[]>;

export type SettingsTab = keyof typeof AGENT_SETTINGS;
