import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';

export const vault: Sample = async () => ({ name: fresh('vault') });
const value = () => `a value nobody may see ${fresh('v')}`;

/** The name of a vault that was just made. */
export const vaultNamed: Sample = async (ctx) => ({ vault: (await made(ctx, 'vaults.create', await vault(ctx))).name });

const withToken = async (ctx: Ctx) => {
  const { vault: name } = (await vaultNamed(ctx)) as { vault: string };
  const { token } = await made(ctx, 'vaults.tokenize', { vault: name, value: value() });
  return { vault: name, token: token as string };
};

export const samples: Record<string, Sample> = {
  'vaults.list': nothing,
  'vaults.create': vault,
  'vaults.get': vaultNamed,
  'vaults.update': async (ctx) => ({ ...(await vaultNamed(ctx)), description: 'changed' }),
  'vaults.delete': vaultNamed,
  'vaults.rotate': vaultNamed,
  'vaults.usage': nothing,
  'vaults.tokenize': async (ctx) => ({ ...(await vaultNamed(ctx)), value: value() }),
  'vaults.tokenize_many': async (ctx) => ({ ...(await vaultNamed(ctx)), values: [{ value: value() }, { value: value() }] }),
  'vaults.detokenize': withToken,
  'vaults.detokenize_many': async (ctx) => {
    const { vault: name, token } = await withToken(ctx);
    return { vault: name, tokens: [token, 'nothing'] };
  },
  'vaults.list_tokens': vaultNamed,
  'vaults.search_tokens': async (ctx) => ({ ...(await vaultNamed(ctx)), metadata: { order: 1 } }),
  'vaults.update_token': async (ctx) => ({ ...(await withToken(ctx)), metadata: { order: 2 } }),
  'vaults.delete_token': withToken,
  'vaults.delete_tokens': async (ctx) => {
    const { vault: name, token } = await withToken(ctx);
    return { vault: name, tokens: [token] };
  },
  'vaults.import_tokens': async (ctx) => ({ ...(await vaultNamed(ctx)), content: `value\n${value()}\n` }),
  'vaults.export_tokens': vaultNamed,
  'vaults.reveal_tokens': async (ctx) => ({ vault: (await withToken(ctx)).vault }),
  'vaults.reveal_token': withToken,
};

export const revealed: Fixture['revealed'] = { 'vaults.reveal_token': ({ value: shown }) => [shown], 'vaults.reveal_tokens': () => [] };
export const secretInput = {
  'vaults.tokenize': ['value'],
  'vaults.tokenize_many': ['values[].value'],
  'vaults.search_tokens': ['value'],
  'vaults.import_tokens': ['content'],
};
const pinnedVault = async (ctx: Ctx) => {
  const { name } = await made(ctx, 'vaults.create', { ...(await vault(ctx)), allowed_hosts: ['api.example.com'] });
  await made(ctx, 'vaults.tokenize', { vault: name, value: value() });
  return { vault: name };
};
export const moving: Fixture['moving'] = {
  'vaults.update': { edits: { allowed_hosts: async (ctx) => ({ ...(await pinnedVault(ctx)), allowed_hosts: null }) } },
};
export const dependsOnState = [
  /is required for token_format ff1/,
  /is only for/,
  /can only be searched for/,
  /send both/,
  /must be generic/,
  /the file has no column/,
  /a character twice/,
  /isn't needed for/,
  /can't be kept/,
  /with custody_mode dual/,
  /row|quoted cell/,
];
/** Metadata is replaced as a whole. */
export const unguardedEdits = ['vaults.update_token'];

export const harmless = {
  // Further hosts are confirmed as a move.
  'vaults.update': [
    ...['default_ttl_seconds', 'description', 'enabled', 'metadata_jsonb', 'allowed_hosts'],
    ...['name', 'token_format', 'alphabet', 'custody_mode', 'dedupe'], // can't change
  ],
  // A value that is stored anew shows nothing of the one before.
  'vaults.update_token': ['metadata', 'value', 'ttl_seconds', 'card_exp_month', 'card_exp_year'],
};

export const grantless = {
  'vaults.rotate': 'a new version of the key, which nobody sees',
};
