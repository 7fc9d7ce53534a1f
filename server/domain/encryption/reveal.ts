import type { z } from 'zod';
import { parsePortable } from '#server/crypto/portable/text.ts';
import { DecryptFailed } from '#server/crypto/transit/decrypt-failed.ts';
import { keyById } from '#server/custody/keys.ts';
import { opener } from '#server/custody/portable.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { jsonOf, replaceLeaves, sealedLeaves } from './leaves.ts';
import type { RevealDecrypt } from './schema.ts';
import { decryptEntry, openingFor, useCounts } from './use.ts';

type Input = z.output<typeof RevealDecrypt>;
type State = { leaves: number; keys: { key: string; version: number; count: number }[] };

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
    const { find } = opener(ctx, openingFor(ctx, 'transit:decrypt'));
    await replaceLeaves(data, sealedLeaves(data, {}), 'decrypt', async (sealed) => {
      uses.add(await find(sealed));
      return sealed;
    });
    return decryptEntry(uses.list(), role).details satisfies State;
  },
  also: (_, __, state) => {
    const { leaves, keys, role } = state as State & { role?: string };
    return [
      {
        action: 'transit.decrypt',
        resource_type: 'crypto_key',
        resource_id: null,
        details: { leaves, keys, ...(role === undefined ? {} : { role }) },
      },
    ];
  },
};

/** What the committed entries say was opened. */
export async function revealData(ctx: Ctx, { data, role }: Input) {
  const { open } = opener(ctx);
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
