import type { JsonObject } from '../json.ts';
import type { Fates } from './members.ts';

// Options of a request that its target doesn't have (spec/51 §6.7): what changes no meaning is dropped with a warning, and the rest is refused by its name
// unless the agent drops it too.

export type RefusedRequest = {
  readonly refuse: 'unsupported_option' | 'invalid_request_body';
  readonly option?: string;
  readonly description: string;
};

export type TranslatedRequest = { readonly body: JsonObject; readonly warnings: readonly string[] };

/** What becomes of an option that changes the meaning of a call and has no counterpart: the agent's `unsupported`. */
export type Unsupported = 'drop' | 'refuse';

/** What the translation of one request leaves out. */
export type Report = {
  readonly warnings: string[];
  warn: (warning: string) => void;
  /** Leaves out what changes no meaning. */
  dropped: (option: string) => void;
  /** Leaves out what changes the meaning, where the agent says so; else throws {@link Refusing}. */
  unsupported: (option: string) => void;
};

/** What the translation of a request depends on beside its body. */
export type RequestContext = {
  readonly model: string;
  readonly provider: string | null;
  /** The ceiling of output tokens, when there is one. */
  readonly ceiling?: number | undefined;
  /** Whether the upstream has structured output of its own. */
  readonly structuredOutput: boolean;
  readonly report: Report;
};

/** Warnings of one request; a body can have thousands of members. */
const MOST_WARNINGS = 30;
const MORE = 'dropped:more';

export function newReport(policy: Unsupported): Report {
  const warnings: string[] = [];
  const warn = (warning: string) => {
    if (warnings.includes(warning)) return;
    if (warnings.length < MOST_WARNINGS) warnings.push(warning);
    else warnings[MOST_WARNINGS - 1] = MORE;
  };
  // Names of members are the caller's words, and warnings are listed in a header.
  const dropped = (option: string) => warn(`dropped:${option.slice(0, 100).replace(/[^\w.=-]/g, '?')}`);
  return {
    warnings,
    warn,
    dropped,
    unsupported(option) {
      if (policy === 'refuse') throw new Refusing(unsupported(option));
      dropped(option);
    },
  };
}

/** Values with which an option says what holds without it. */
const HARMLESS: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  seed: [0],
  presence_penalty: [0],
  frequency_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  store: [false],
  service_tier: ['auto', 'default', 'standard_only'],
  modalities: [['text']],
  logit_bias: [{}],
  metadata: [{}],
  mcp_servers: [[]],
  betas: [[]],
  background: [false],
  truncation: ['disabled'],
  inference_geo: ['global'],
};

/** Reports the members of a body that its target doesn't take; null counts as absent. */
export function reportMembers(body: JsonObject, fates: Fates, report: Report): void {
  for (const [name, value] of Object.entries(body)) {
    const fate = fates.get(name);
    if (value === null || value === undefined || fate === 'same' || fate === 'translated') continue;
    const harmless = Object.hasOwn(HARMLESS, name) ? (HARMLESS[name] ?? []) : [];
    if (harmless.some((one) => JSON.stringify(one) === JSON.stringify(value))) continue;
    if (fate === 'dropped') report.dropped(name);
    else report.unsupported(name);
  }
}

export const unsupported = (option: string): RefusedRequest => ({
  refuse: 'unsupported_option',
  option: option.slice(0, 100),
  description: `The option ${option.slice(0, 100)} has no counterpart at the provider of this agent. Remove it, use an agent whose provider has it, or set \`unsupported\` of this agent to drop.`,
});

/** Parts of a conversation are never left out, whatever the agent says. */
export const unsupportedContent = (option: string): RefusedRequest => ({
  ...unsupported(option),
  description: `The provider of this agent takes no ${option.slice(0, 100)}. Remove it, or use an agent whose provider takes it.`,
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
