import { sealValue } from '#server/custody/portable.ts';
import { db } from '#server/platform/db.ts';
import { made, nothing, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';

const mint: Sample = async (ctx) => ({
  action: 'decrypt',
  data: (await sealValue(ctx, { datatype: 's', bytes: Buffer.from('4242') })).text,
});

/** Minted by a key, whoever the caller is: people mint nothing that decrypts. */
const minted: Sample = async (ctx) => {
  const by = { ...ctx, actor: keyActor('Key - Infrastructure') };
  return { id: (await made(by, 'client_tokens.create', await mint(by))).id };
};

export const samples: Record<string, Sample> = {
  'client_tokens.list': nothing,
  'client_tokens.create': mint,
  'client_tokens.delete': minted,
  'client_tokens.revoke': async (ctx) => {
    const { id } = await minted(ctx);
    const { minted_by_id } = await db().client_tokens.findUniqueOrThrow({ where: { id: id as string } });
    return { minted_by: minted_by_id };
  },
};

export const shownOnce = { 'client_tokens.create': ['token'] };

/** What a token is bound to exists or not, and which fields go together depends on the action. */
export const dependsOnState = [
  / is required for | can't be sent for /,
  /^data: must be a sealed value/,
  /^data: must be (?:a|the text of a) vault token/,
  /^vault: doesn't exist/,
  /^origins: each/,
];

export const grantless = {
  'client_tokens.create': 'takes the very capability that the token exercises, which no person holds',
};
