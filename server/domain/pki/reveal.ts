import type { z } from 'zod';
import { newKeyPair } from '#server/crypto/pki/authority.ts';
import { pemOf } from '#server/crypto/pki/pem.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { answerOf, countLeaf, leafEntry, planLeaf, recordLeaf, type SignedLeaf, signLeaf, spendQuota } from './issuing.ts';
import type { IssueCertificate } from './schema.ts';
import { roleByRef, rootByRef } from './store.ts';

type Input = z.output<typeof IssueCertificate>;
type Prepared = { id: string; signed?: { leaf: SignedLeaf; privateKey: Buffer } };

/** What the gate has checked, until its call ends. */
const prepared = new WeakMap<Input, Prepared>();

/**
 * Row 10 of interface rule 32 §2: a person sees the private key of a certificate that is made for them. It is signed before anything is spent, because its
 * audit entry names its serial number, and recorded with that entry; without the commit it is forgotten.
 */
export const revealOfKey: Reveal<Input> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'pki:issue',
  subject: (ctx, input) =>
    read(ctx, async (tx) => {
      const root = await rootByRef(tx, ctx, input.name);
      const role = await roleByRef(tx, ctx, root.id, input.role);
      const id = newId();
      prepared.set(input, { id });
      const details = { root: root.name, role: role.name };
      return { resource_type: 'pki_leaf', resource_id: id, name: `${root.name}/${role.name}`, details };
    }),
  state: async (ctx, input) => {
    const { name, role, ...wanted } = input;
    const plan = await planLeaf(ctx, { name, role }, wanted, 'pki:issue');
    // Whether there is room; what is counted is what the person then sees.
    (await spendQuota(ctx, plan.root))();
    const key = newKeyPair();
    const { id } = preparedFor(input);
    const leaf = { ...(await signLeaf(ctx, plan, key.publicKey)), id };
    prepared.set(input, { id, signed: { leaf, privateKey: key.privateKey } });
    return { serial: leaf.serial_hex, not_after: leaf.not_after };
  },
  also: (_ctx, input) => [leafEntry(signedFor(input).leaf, 'issue')],
  beside: async (tx, ctx, input) => {
    await recordLeaf(tx, ctx, signedFor(input).leaf, 'issue');
  },
};

function preparedFor(input: Input): Prepared {
  const found = prepared.get(input);
  if (!found) throw new Error('the gate did not prepare this certificate');
  return found;
}

function signedFor(input: Input) {
  const { signed } = preparedFor(input);
  if (!signed) throw new Error('the gate did not sign this certificate');
  return signed;
}

/** Shows what was recorded, once. */
export async function revealCertificate(ctx: Ctx, input: Input) {
  const { leaf, privateKey } = signedFor(input);
  prepared.delete(input);
  try {
    await countLeaf(ctx);
    return { ...answerOf(leaf), private_key_pem: pemOf('PRIVATE KEY', privateKey) };
  } finally {
    privateKey.fill(0);
  }
}
