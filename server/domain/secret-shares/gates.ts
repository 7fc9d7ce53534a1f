import type { z } from 'zod';
import { secretById } from '#server/domain/secrets/service.ts';
import { read } from '#server/kernel/database.ts';
import type { AnyOperation, Reveal } from '#server/kernel/operation.ts';
import type { CreateShare, UpdateShare } from './schema.ts';
import { checkedEdit, checkedShare, discloses, raises } from './service.ts';
import { shareById } from './store.ts';

// Row 15 of interface rule 32 §2: a share that shows the value to its recipient, or lets them send it anywhere, is as good as a reveal.

export const gateOfCreation = (plain: AnyOperation): Reveal<z.output<typeof CreateShare>> => ({
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'secret:share',
  subject: async (ctx, { id, email, access_level, unrestricted }) => {
    const { name } = await read(ctx, (tx) => secretById(tx, ctx, id));
    return { resource_type: 'secret', resource_id: id, name, details: { recipient_email: email, access_level, unrestricted } };
  },
  state: async (ctx, input) => {
    const { environment } = await read(ctx, (tx) => checkedShare(tx, ctx, input));
    return { environment };
  },
  unguarded: async (_ctx, input) => (discloses(input) ? null : plain),
});

export const gateOfEdit = (plain: AnyOperation): Reveal<z.output<typeof UpdateShare>> => ({
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'secret:share',
  subject: async (ctx, input) => {
    const share = await read(ctx, (tx) => shareById(tx, ctx, input));
    return {
      resource_type: 'secret_share',
      resource_id: share.id,
      name: share.secret_name,
      details: { secret_id: share.secret_id, access_level: input.access_level },
    };
  },
  state: async (ctx, input) =>
    read(ctx, async (tx) => {
      const share = await shareById(tx, ctx, input);
      await checkedEdit(tx, ctx, share, input);
      return { environment: share.environment_name };
    }),
  unguarded: async (ctx, input) => (raises(await read(ctx, (tx) => shareById(tx, ctx, input)), input) ? null : plain),
});
