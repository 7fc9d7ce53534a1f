import type { z } from 'zod';
import { parsePortable } from '#server/crypto/portable/text.ts';
import { DecryptFailed } from '#server/crypto/transit/decrypt-failed.ts';
import { keyById } from '#server/custody/keys.ts';
import { type OpenOptions, opener } from '#server/custody/portable.ts';
import { lookUp, open as openToken } from '#server/custody/vaults/detokenize.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { jsonOf, replaceLeaves, sealedLeaves } from './leaves.ts';
import type { RevealDecrypt } from './schema.ts';
import { decryptEntry, decryptingFor, mayDetokenize, useCounts } from './use.ts';

type Input = z.output<typeof RevealDecrypt>;
type OfVault = { vault: string; vault_id: string; token_id: string; crypto_key_version: number };
type State = { leaves: number; keys: { key: string; version: number; count: number }[]; role?: string; vault_tokens?: OfVault[] };

/** Row 22 of interface rule 32 §2: what a person decrypts of a document. */
export const revealOfData: Reveal<Input> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'transit:decrypt',
  /** The key of the first sealed value. */
  subject: async (ctx, { data }) => {
    const [first] = sealedLeaves(data, {});
    if (!first) throw invalid('data', 'holds no sealed value: they begin with kc: and end with :$');
    const ref = parsePortable(first.sealed)?.key_ref;
    const key = ref?.tenant_id === ctx.tenant_id ? await keyById(ctx, ref.app_key_id) : null;
    if (!key) throw new DecryptFailed();
    return { resource_type: 'crypto_key', resource_id: key.id, name: key.name };
  },
  /** Every value has a key that opens it, so a typo costs no verification. */
  state: async (ctx, { data, role }) => {
    const uses = useCounts();
    const vault_tokens: OfVault[] = [];
    const { find } = opener(ctx, decryptingFor(ctx));
    await replaceLeaves(data, sealedLeaves(data, {}), 'decrypt', async (sealed) => {
      const found = await find(sealed);
      if (found.key.managed_by === 'vault') vault_tokens.push(await ofVault(ctx, sealed));
      else uses.add(found);
      return sealed;
    });
    return { ...decryptEntry(uses.list(), role).details, ...(vault_tokens.length === 0 ? {} : { vault_tokens }) } satisfies State;
  },
  also: (_, __, state) => {
    const { vault_tokens = [], ...details } = state as State;
    const decrypted = { action: 'transit.decrypt', resource_type: 'crypto_key', resource_id: null, details };
    const detokenized = vault_tokens.map((one) => ({
      action: 'vault.detokenize',
      resource_type: 'vault_token',
      resource_id: one.token_id,
      details: { ...one, via: 'decrypt' },
    }));
    return [...(details.leaves > 0 ? [decrypted] : []), ...detokenized];
  },
};

async function ofVault(ctx: Ctx, sealed: string): Promise<OfVault> {
  const { vault, row } = await lookUp(ctx, null, sealed, { admit: (one) => mayDetokenize(ctx, one) });
  if (!row) throw new DecryptFailed();
  return { vault: vault.name, vault_id: vault.id, token_id: row.id, crypto_key_version: row.crypto_key_version };
}

/** What the committed entries say was opened. */
export async function revealData(ctx: Ctx, { data, role }: Input) {
  const fromVault: OpenOptions['ofVault'] = async (text) => {
    if (role !== undefined) throw new DecryptFailed();
    const { value, vault_id } = await openToken(ctx, await lookUp(ctx, null, text));
    return { bytes: Buffer.from(value), vault_id };
  };
  const { open } = opener(ctx, { ofVault: fromVault });
  const plaintext = await replaceLeaves(data, sealedLeaves(data, {}), 'decrypt', async (sealed) => {
    const { datatype, bytes } = await open(sealed, role);
    try {
      return jsonOf(datatype, bytes);
    } finally {
      bytes.fill(0);
    }
  });
  return { plaintext };
}
