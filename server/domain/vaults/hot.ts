import { detokenize as openToken, detokenizeMany as openTokens } from '#server/custody/vaults/detokenize.ts';
import { tokenize as issueTokens } from '#server/custody/vaults/tokenize.ts';
import { findVault, type UsableVault } from '#server/custody/vaults/vaults.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { hotOperation } from '#server/kernel/hot-operation.ts';
import {
  Detokenize,
  DetokenizedMany,
  DetokenizedToken,
  DetokenizeMany,
  Tokenize,
  TokenizedMany,
  TokenizeMany,
  VaultToken,
} from './schema.ts';

const BODY_LIMIT = 4 * 1_048_576;

export const tokenize = hotOperation({
  id: 'vaults.tokenize',
  summary: 'Tokenize a value',
  http: 'POST /vaults/{vault}/tokens',
  kind: 'use',
  stores: true,
  needs: ['vault:tokenize'],
  mirrored: true,
  refuses: [
    'not_found',
    'vault_disabled',
    'token_space_exhausted',
    'conflict',
    'plan_limit',
    'key_version_disabled',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: Tokenize,
  output: VaultToken,
  success: { among: [201, 200], of: ({ reused }) => (reused ? 200 : 201) },
  async run(ctx, { vault, ...item }) {
    const [token] = await issueTokens(ctx, await vaultOf(ctx, vault), [item]);
    if (!token) throw new Error('a value has a token');
    return token;
  },
});

export const tokenizeMany = hotOperation({
  id: 'vaults.tokenize_many',
  summary: 'Tokenize values',
  http: 'POST /vaults/{vault}/tokens/bulk',
  kind: 'use',
  stores: true,
  needs: ['vault:tokenize'],
  refuses: [
    'not_found',
    'vault_disabled',
    'token_space_exhausted',
    'conflict',
    'plan_limit',
    'key_version_disabled',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: TokenizeMany,
  output: TokenizedMany,
  success: 201,
  body: { limit: BODY_LIMIT },
  async run(ctx, { vault, values }) {
    const tokens = await issueTokens(ctx, await vaultOf(ctx, vault), values, { naming: (i) => `values[${i}]` });
    return { tokens, count: tokens.length };
  },
});

export const detokenize = hotOperation({
  id: 'vaults.detokenize',
  summary: 'Detokenize a token',
  http: 'GET /vaults/{vault}/tokens/{token}',
  kind: 'use',
  needs: ['vault:detokenize'],
  refuses: [
    'not_found',
    'vault_disabled',
    'token_expired',
    'key_version_destroyed',
    'key_version_disabled',
    'plan_limit',
    'rate_limit_exceeded',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: Detokenize,
  output: DetokenizedToken,
  run: async (ctx, { vault, token, reason }) =>
    openToken(ctx, await vaultOf(ctx, vault), token, { reason: reasonOf(reason), details: VIA, uncounted: isGateway(ctx) }),
});

export const detokenizeMany = hotOperation({
  id: 'vaults.detokenize_many',
  summary: 'Detokenize tokens',
  http: 'POST /vaults/{vault}/tokens/detokenize',
  kind: 'use',
  needs: ['vault:detokenize'],
  refuses: ['not_found', 'vault_disabled', 'plan_limit', 'rate_limit_exceeded', 'tenant_sealed', 'audit_unavailable'],
  input: DetokenizeMany,
  output: DetokenizedMany,
  async run(ctx, { vault, tokens, reason }) {
    const results = await openTokens(ctx, await vaultOf(ctx, vault), tokens, { reason: reasonOf(reason), details: VIA });
    return {
      results: results.map((result) =>
        result instanceof Refusal ? { token: null, error: { type: result.type, message: result.message } } : { token: result, error: null },
      ),
    };
  },
});

const VIA = { via: 'api' };

/** The gateway hands a call that is refused to web, which has a database client. */
const isGateway = (ctx: HotCtx) => !('db' in ctx);

/** @throws Refusal not_found */
async function vaultOf(ctx: HotCtx, ref: string): Promise<UsableVault> {
  const vault = await findVault(ctx, ref);
  if (!vault) throw notFound();
  return vault;
}

/** As the header of a reveal is read (interface rule 32 §5.2): decoded once, without control characters, trimmed. */
function reasonOf(sent: string | undefined): string | undefined {
  if (sent === undefined) return undefined;
  let text: string;
  try {
    text = decodeURIComponent(sent);
  } catch {
    throw invalid('X-Reveal-Reason', 'must be percent-encoded UTF-8');
  }
  const clean = text.replace(INVISIBLE, '').trim();
  if (clean.length > 500) throw invalid('X-Reveal-Reason', 'must have at most 500 characters');
  return clean === '' ? undefined : clean;
}

/** Control characters, line separators, and marks that change the direction of the text after them. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
