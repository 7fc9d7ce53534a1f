import type { JsonObject } from '../json.ts';

// What a translated request may hold (spec/51 §6.7). A member that is on neither list of its pair is refused by name: an option is never dropped silently.

export type RefusedRequest = {
  readonly refuse: 'unsupported_option' | 'invalid_request_body';
  readonly option?: string;
  readonly description: string;
};

export type TranslatedRequest = { readonly body: JsonObject; readonly warnings: readonly string[] };

/** Members that a translation carries over, and those that change nothing while they hold one of these values. */
export type Options = { readonly carried: ReadonlySet<string>; readonly neutral: Readonly<Record<string, readonly unknown[]>> };

/** Of an OpenAI chat completion, to Anthropic messages and to Bedrock Converse. */
export const CHAT_OPTIONS: Options = {
  carried: new Set([
    'model',
    'messages',
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'stop',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'reasoning_effort',
    'user',
    'safety_identifier',
    'stream',
    'stream_options',
  ]),
  neutral: {
    n: [1],
    seed: [0],
    presence_penalty: [0],
    frequency_penalty: [0],
    logprobs: [false],
    top_logprobs: [0],
    store: [false],
    service_tier: ['auto', 'default'],
    modalities: [['text']],
    logit_bias: [{}],
    metadata: [{}],
  },
};

/** Of Anthropic messages, to an OpenAI chat completion. */
export const ANTHROPIC_OPTIONS: Options = {
  carried: new Set([
    'model',
    'messages',
    'system',
    'max_tokens',
    'temperature',
    'top_p',
    'stop_sequences',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
    'metadata',
    'stream',
  ]),
  neutral: { service_tier: ['auto', 'standard_only'], container: [], mcp_servers: [[]], betas: [[]] },
};

/** Of Anthropic messages, to Bedrock Converse, which takes what a model alone knows beside its own members. */
export const CONVERSE_OPTIONS: Options = { ...ANTHROPIC_OPTIONS, carried: new Set([...ANTHROPIC_OPTIONS.carried, 'top_k']) };

/** The first member that can't be carried over; null counts as absent. */
export function refusedOption(body: JsonObject, { carried, neutral }: Options): RefusedRequest | undefined {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined || carried.has(name)) continue;
    const harmless = Object.hasOwn(neutral, name) ? (neutral[name] ?? []) : [];
    if (!harmless.some((one) => JSON.stringify(one) === JSON.stringify(value))) return unsupported(name);
  }
  return undefined;
}

export const unsupported = (option: string): RefusedRequest => ({
  refuse: 'unsupported_option',
  option: option.slice(0, 100),
  description: `The option ${option.slice(0, 100)} has no counterpart at the provider of this agent. Remove it, or use an agent whose provider has it.`,
});

export const invalid = (description: string): RefusedRequest => ({ refuse: 'invalid_request_body', description });

/** Thrown inside of a translation, where a return would have to go up through every level. */
export class Refusing extends Error {
  readonly refused: RefusedRequest;
  constructor(refused: RefusedRequest) {
    super(refused.description);
    this.refused = refused;
  }
}
