import { z } from 'zod';
import { atLeastOne, atMostDecimals, label, pathId, text, time, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';

export const PII_ACTIONS = ['redact', 'tokenize', 'whitelist', 'warn'] as const;
export const RECOGNIZER_KINDS = ['regex', 'aho_corasick', 'presidio_pattern', 'presidio_ner', 'presidio_custom'] as const;
export const TOKEN_FORMATS = ['email', 'pan', 'ssn', 'phone', 'generic', 'fpe'] as const;
export const ENTITY_GROUPS = ['contact', 'financial', 'government', 'health', 'network', 'credential'] as const;
export const FIREWALL_ACTIONS = ['block', 'warn', 'tag'] as const;
export const HEURISTIC_KINDS = ['regex', 'keyword'] as const;
export const PACKS = ['hipaa', 'gdpr', 'pci-dss', 'soc2'] as const;

export const LONGEST_PATTERN = 2_000;
export const LONGEST_WORD_LIST = 262_144;
/** Of a word or phrase of a list. */
export const LONGEST_WORD = 256;
/** Bytes of all word lists that a policy names, and of all of a space. */
export const MOST_WORDS_OF_POLICY = 1_048_576;
export const MOST_WORDS_OF_SPACE = 4_194_304;
export const LONGEST_TEST_TEXT = 20_000;
export const MOST_HEURISTICS = 100;

/** UTF-16 offsets, the end exclusive. */
const span = () => z.tuple([z.int(), z.int()]);
const testText = () => z.string().min(1).max(LONGEST_TEST_TEXT);

// What a policy or recognizer is attached to.
const Attachment = z
  .object({ type: z.enum(['ai_agent', 'mcp_server']), id: z.uuid(), name: z.string() })
  .meta({ id: 'AiPolicyAttachment' });

/** Which recognizers run, and what built-in detectors do (interface rule 50 §7.2). */
export const PiiPolicy = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    version: z.int(),
    recognizer_ids: z.array(z.uuid()),
    default_action: z.enum(PII_ACTIONS),
    description: z.string().nullable(),
    managed_by: z.string().nullable(),
    sandbox: z.boolean(),
    created_by: z.uuid().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'PiiPolicy' });
export const PiiPolicyDetail = PiiPolicy.extend({ attached_to: z.array(Attachment) }).meta({ id: 'PiiPolicyDetail' });

const policyName = () =>
  z
    .string()
    .trim()
    .min(2)
    .max(64)
    .regex(/^[A-Za-z0-9 _-]+$/, 'must be letters, digits, spaces, dashes and underscores');
const fixedName = () => z.never({ error: "can't be changed. Create another one" }).optional();
const recognizerIds = () => z.array(uuid()).max(500).transform(unique);

export const CreatePiiPolicy = z.object({
  name: policyName(),
  recognizer_ids: recognizerIds().default([]),
  default_action: z.enum(PII_ACTIONS).default('redact'),
  description: text(500).optional(),
});
export const UpdatePiiPolicy = atLeastOne(
  z
    .object({ recognizer_ids: recognizerIds(), default_action: z.enum(PII_ACTIONS), description: text(500), name: fixedName() })
    .partial()
    .extend({ id: pathId() }),
);
export const ListPiiPolicies = listQuery({ sorts: ['created_at', 'name'], sort: 'created_at', order: 'desc', filters: {} });
export const AiControlRef = z.object({ id: pathId() });

/** Of the policy, or of calls without one. */
export const TestPiiPolicy = z.object({ text: testText(), policy_id: uuid().nullable().optional() });
export const PiiPolicyTest = z
  .object({
    matched: z.boolean(),
    /** The text as the provider would get it. */
    result: z.string(),
    matches: z.array(
      z.object({
        span: span(),
        matched: z.string(),
        replacement: z.string(),
        entity_type: z.string(),
        action: z.enum(PII_ACTIONS),
        confidence: z.number(),
        recognizer_id: z.uuid().nullable(),
      }),
    ),
  })
  .meta({ id: 'PiiPolicyTest' });

/** A detector of the workspace (interface rule 50 §7.3). */
export const PiiRecognizer = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    entity_type: z.string(),
    kind: z.enum(RECOGNIZER_KINDS),
    pattern: z.string(),
    context_words: z.array(z.string()),
    confidence: z.number(),
    action: z.enum(PII_ACTIONS),
    format: z.enum(TOKEN_FORMATS).nullable(),
    enabled: z.boolean(),
    /** Whether answers that are checked with it can be streamed as they come. */
    stream_safe: z.boolean(),
    managed_by: z.string().nullable(),
    sandbox: z.boolean(),
    created_by: z.uuid().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'PiiRecognizer' });

const recognizerName = () => z.string().regex(/^[a-z0-9_]{2,64}$/, 'must be 2 to 64 lowercase letters, digits and underscores');
const recognizerSettings = {
  pattern: z.string().min(1).max(LONGEST_WORD_LIST),
  context_words: z.array(label(64)).max(50).transform(unique),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .refine(...atMostDecimals(3)),
  action: z.enum(PII_ACTIONS),
  format: z.enum(TOKEN_FORMATS).nullable(),
  enabled: z.boolean(),
};
export const CreatePiiRecognizer = z
  .object(recognizerSettings)
  .partial()
  .extend({ name: recognizerName(), kind: z.enum(RECOGNIZER_KINDS), pattern: recognizerSettings.pattern });
export const UpdatePiiRecognizer = atLeastOne(
  z
    .object({ ...recognizerSettings, name: recognizerName(), kind: z.enum(RECOGNIZER_KINDS) })
    .partial()
    .extend({ id: pathId() }),
);
export const ListPiiRecognizers = listQuery({ sorts: ['created_at', 'name'], sort: 'created_at', order: 'desc', filters: {} });

export const TestPiiRecognizer = z.object({
  pattern: recognizerSettings.pattern,
  text: testText(),
  kind: z.enum(RECOGNIZER_KINDS).default('regex'),
  action: z.enum(PII_ACTIONS).default('redact'),
  context_words: recognizerSettings.context_words.default([]),
  name: recognizerName().default('match'),
});
export const PiiRecognizerTest = z
  .object({
    matched: z.boolean(),
    matches: z.array(z.object({ span: span(), matched: z.string(), replacement: z.string(), entity_type: z.string() })),
  })
  .meta({ id: 'PiiRecognizerTest' });

/** An entity that is found without any recognizer (interface rule 50 §7.4). */
export const BuiltInRecognizer = z
  .object({
    entity_type: z.string(),
    title: z.string(),
    group: z.enum(ENTITY_GROUPS),
    description: z.string(),
    example: z.string(),
    format: z.enum(TOKEN_FORMATS),
    confidence: z.number(),
    /** A check digit or the like decides besides the shape. */
    validated: z.boolean(),
    needs_context: z.boolean(),
    /** False for entities that only a sidecar can find. */
    available: z.boolean(),
  })
  .meta({ id: 'BuiltInRecognizer' });

export const Heuristic = z
  .object({
    name: label(64),
    kind: z.enum(HEURISTIC_KINDS),
    pattern: z.string().min(1).max(1_000),
    flags: z
      .string()
      .regex(/^[imsgy]{0,5}$/, 'may be i, m, s, g and y')
      .optional(),
  })
  .meta({ id: 'FirewallHeuristic' });
const heuristics = () =>
  z
    .array(Heuristic)
    .max(MOST_HEURISTICS)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must not have two rules of the same name');

/** Rules of the prompt firewall (interface rule 50 §8). */
export const FirewallPolicy = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    version: z.int(),
    heuristics: z.array(Heuristic),
    canary_enabled: z.boolean(),
    vector_classifier_enabled: z.literal(false),
    lakera_enabled: z.literal(false),
    model_classifier_id: z.null(),
    action: z.enum(FIREWALL_ACTIONS),
    managed_by: z.string().nullable(),
    sandbox: z.boolean(),
    created_by: z.uuid().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'FirewallPolicy' });
export const FirewallPolicyDetail = FirewallPolicy.extend({ attached_to: z.array(Attachment) }).meta({ id: 'FirewallPolicyDetail' });

const firewallSettings = { heuristics: heuristics(), canary_enabled: z.boolean(), action: z.enum(FIREWALL_ACTIONS) };
export const CreateFirewallPolicy = z.object({
  name: label(64).min(2),
  heuristics: heuristics().default([]),
  canary_enabled: z.boolean().default(false),
  action: z.enum(FIREWALL_ACTIONS).default('warn'),
});
export const UpdateFirewallPolicy = atLeastOne(
  z
    .object({ ...firewallSettings, name: fixedName() })
    .partial()
    .extend({ id: pathId() }),
);
export const ListFirewallPolicies = listQuery({
  sorts: ['created_at', 'name'],
  sort: 'created_at',
  order: 'desc',
  filters: { name: z.string().max(64).optional() },
});
export const TestFirewall = z.object({ text: testText(), heuristics: heuristics().default([]) });
export const FirewallTest = z
  .object({
    matched: z.boolean(),
    matches: z.array(z.object({ rule: z.string(), span: span(), matched: z.string() })),
    /** Rules that could not run. */
    skipped: z.array(z.string()),
  })
  .meta({ id: 'FirewallTest' });

/** A rule that runs in every firewall. */
export const BuiltInRule = z.object({ name: z.string(), description: z.string(), example: z.string() }).meta({ id: 'BuiltInFirewallRule' });

/** A call whose prompt matched a rule. */
export const FirewallHit = z
  .object({
    request_id: z.uuid(),
    at: time(),
    agent_id: z.uuid().nullable(),
    agent_name: z.string().nullable(),
    user: z.string().nullable(),
    rules: z.array(z.string()),
    blocked: z.boolean(),
  })
  .meta({ id: 'FirewallHit' });

const PackRecognizer = z.object({ name: z.string(), description: z.string() });
/** What a regulation asks to be found, ready to be installed. */
export const CompliancePack = z
  .object({
    id: z.enum(PACKS),
    name: z.string(),
    description: z.string(),
    default_action: z.enum(PII_ACTIONS),
    entities: z.array(z.string()),
    recognizers: z.array(PackRecognizer),
    /** The policy that it made; null while it isn't installed. */
    policy_id: z.uuid().nullable(),
  })
  .meta({ id: 'CompliancePack' });
export const InstallCompliancePack = z.object({
  pack: pathId(),
  attach_to_agent_ids: z.array(uuid()).max(100).transform(unique).default([]),
});
export const InstalledCompliancePack = z
  .object({
    pack: z.enum(PACKS),
    policy: PiiPolicy,
    recognizers: z.array(PiiRecognizer),
    /** Recognizers that were created, brought up to date, and left because someone has edited them. */
    created: z.array(z.string()),
    upgraded: z.array(z.string()),
    kept: z.array(z.string()),
    attached_agent_ids: z.array(z.uuid()),
  })
  .meta({ id: 'InstalledCompliancePack' });

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
