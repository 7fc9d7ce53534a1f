import { z } from 'zod';
import { TokenScope } from '#server/domain/ai-gateways/tokens.schema.ts';
import { atLeastOne, label, pathId, secret, time, unstored, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';

export const BINDING_KINDS = ['agent', 'read', 'tool'] as const;
export const RULE_OPERATORS = ['eq', 'in', 'glob'] as const;
/** The only audience that identity tokens may be made for. */
export const GATEWAY_AUDIENCE = 'service:gateway';
export const DEFAULT_EXCHANGE_TTL = 900;
export const MOST_BINDINGS = 200;

const value = () => z.string().min(1).max(255);

/** A condition of a claim: `in` takes a list, the others one text. `*` in a glob stands for characters within a segment, `**` for any. */
export const ClaimRule = z
  .strictObject({
    claim: z.string().min(1).max(200),
    op: z.enum(RULE_OPERATORS),
    value: z.union([value(), z.array(value()).min(1).max(50)]),
  })
  .refine(({ op, value: given }) => (op === 'in') === Array.isArray(given), {
    path: ['value'],
    message: 'must be a list for in, and one text for eq and glob',
  })
  .meta({ id: 'AiClaimRule' });
export type ClaimRule = z.output<typeof ClaimRule>;

/** Whose identity tokens are exchanged for capability tokens (interface rule 50 §6.9). */
export const AiOidcBinding = z
  .object({
    id: z.uuid(),
    name: z.string(),
    issuer: z.string(),
    audience: z.literal(GATEWAY_AUDIENCE),
    claim_rules: z.array(ClaimRule),
    gateway_id: z.uuid(),
    agent_id: z.uuid().nullable(),
    kind: z.enum(BINDING_KINDS),
    scope: TokenScope,
    token_ttl_seconds: z.int(),
    enabled: z.boolean(),
    use_count: z.int(),
    last_used_at: time().nullable(),
    last_subject: z.string().nullable(),
    created_by: z.uuid().nullable(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'AiOidcBinding' });

const settings = {
  name: label(100),
  issuer: z
    .string()
    .trim()
    .min(1)
    .max(512)
    .meta({ examples: ['https://token.actions.githubusercontent.com'] }),
  audience: z.literal(GATEWAY_AUDIENCE),
  claim_rules: z.array(ClaimRule).min(1).max(20),
  agent_id: uuid().nullable(),
  kind: z.enum(BINDING_KINDS),
  scope: TokenScope,
  token_ttl_seconds: z.int().min(60).max(3_600),
  enabled: z.boolean(),
};

export const CreateAiOidcBinding = z.object(settings).partial().extend({
  name: settings.name,
  issuer: settings.issuer,
  claim_rules: settings.claim_rules,
  gateway_id: uuid(),
});
export const UpdateAiOidcBinding = atLeastOne(z.object(settings).partial().extend({ id: pathId() }));
export const AiOidcBindingRef = z.object({ id: pathId() });
export const ListAiOidcBindings = listQuery({ sorts: ['created_at', 'name'], sort: 'created_at', order: 'desc', filters: {} });

/** Shows which rule fails; mints nothing, and keeps nothing of the token. */
export const TestAiOidcToken = z.object({ subject_token: unstored(secret(z.string().min(1).max(16_384))) });
export const AiOidcTestResult = z
  .object({
    accepted: z.boolean(),
    binding_id: z.uuid().nullable(),
    /** What is wrong with the token itself; null when nothing is. */
    problem: z.string().nullable(),
    issuer: z.string().nullable(),
    subject: z.string().nullable(),
    audiences: z.array(z.string()),
    expires_at: time().nullable(),
    already_exchanged: z.boolean(),
    bindings: z.array(
      z.object({
        binding_id: z.uuid(),
        name: z.string(),
        enabled: z.boolean(),
        matches: z.boolean(),
        rules: z.array(
          z.object({ claim: z.string(), op: z.string(), expected: z.array(z.string()), actual: z.array(z.string()), matches: z.boolean() }),
        ),
      }),
    ),
  })
  .meta({ id: 'AiOidcTestResult' });
