import { z } from 'zod';
import { notFound } from '#server/kernel/errors.ts';
import { time } from '#server/kernel/fields.ts';
import { type PersonCtx, personOperation } from '#server/kernel/person-operation.ts';
import { env } from '#server/platform/env.ts';
import { mailLeaves } from '#server/platform/mail.ts';
import { latestMails } from './service.ts';

export const mailbox = personOperation({
  id: 'auth.mailbox',
  summary: 'The mails of an installation on this machine that sends none',
  http: 'GET /auth/mailbox',
  session: 'none',
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
    if (!isLocal(ctx)) throw notFound();
    return { mails: await latestMails(ctx.db) };
  },
});

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);
const LOOPBACK_ADDRESSES = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * Whoever reads these mails can sign in as anybody, so all must hold: no mail leaves, the dashboard is this machine's own, the caller is on it (a tunnel
 * or proxy on this machine is not the caller), and the browser asked for a loopback name (a foreign name that resolves here would let a web page
 * read the answer).
 */
function isLocal(ctx: PersonCtx): boolean {
  if (mailLeaves()) return false;
  const name = URL.parse(`http://${ctx.host}`)?.hostname ?? '';
  return (
    LOOPBACK_NAMES.has(new URL(env.PUBLIC_ADMIN_URL).hostname) &&
    LOOPBACK_NAMES.has(name) &&
    !ctx.relayed &&
    ctx.ip !== null &&
    LOOPBACK_ADDRESSES.has(ctx.ip)
  );
}
