import { z } from 'zod';
import { notFound } from '#server/kernel/errors.ts';
import { time } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { isOnThisMachine } from '#server/platform/local-caller.ts';
import { mailLeaves } from '#server/platform/mail.ts';
import { latestMails } from './service.ts';

export const mailbox = operation({
  id: 'auth.mailbox',
  summary: 'List the emails of a local installation without SMTP',
  http: 'GET /auth/mailbox',
  kind: 'read',
  needs: 'visitor',
  refuses: ['not_found'],
  input: z.object({}),
  output: z.object({
    mails: z.array(
      z.object({
        id: z.uuid(),
        recipient: z.string(),
        subject: z.string(),
        kind: z.string(),
        text: z.string(),
        html: z.string().nullable(),
        created_at: time(),
      }),
    ),
  }),
  run: async (ctx) => {
    // Whoever reads these mails can sign in as anyone.
    if (mailLeaves() || !isOnThisMachine(ctx)) throw notFound();
    return { mails: await latestMails(ctx.db) };
  },
});
