import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { type Outcome, outcomeOfFault, outcomeOfResponse } from '#server/domain/deliveries/service.ts';
import { dispatch, postMail } from '#server/domain/mail/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { OutboundHttp } from '#server/platform/connect/http.ts';
import { db } from '#server/platform/db.ts';
import { egress } from '#server/platform/egress.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { isOpenPort } from '#server/platform/http-out/open-port.ts';
import { log } from '#server/platform/log.ts';
import { sendText } from '#server/platform/sms.ts';
import { type ChannelKind, DEFAULT_URLS } from './kinds.shared.ts';
import { alertLetter, alertText } from './letters.ts';
import type { AlertMessage } from './message.ts';
import { requestOf, type Sending } from './payloads.ts';
import { openSecrets } from './sealing.ts';

const TIMEOUT_MS = 15_000;

/** The columns of a channel that sending takes. */
export type ChannelToSend = Pick<Ctx, 'tenant_id' | 'sandbox'> & {
  id: string;
  kind: string;
  recipients: string[];
  value_ct: Uint8Array | null;
  cek_wrapped: Uint8Array | null;
  tmk_version: number | null;
};

/** How it ended; `message` says so in words without what might be a credential. */
export type Told = { outcome: Exclude<Outcome, { result: 'dropped' }>; message: string | null };

/** Tells one message through one channel. Its ID is the same at every attempt. @throws what `signal` aborts with, and faults of ours */
export async function tell(
  http: OutboundHttp,
  channel: ChannelToSend,
  message: AlertMessage,
  sending: Sending,
  signal?: AbortSignal,
): Promise<Told> {
  const kind = channel.kind as ChannelKind;
  if (kind === 'email') return mail(channel, message, sending);
  if (kind === 'sms') return text(channel, message, sending, signal);
  const secrets = await openSecrets(channel, channel).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
  if (secrets instanceof Refusal) return failed('secret_unresolved', secrets.message);
  const request = requestOf(kind, secrets, message, sending);
  const { protocol, port, hostname, host } = new URL(request.url);
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (!isOpenPort(protocol.slice(0, -1), number) && !egress().settings.testHosts.has(host))
    return failed('blocked_address', `The port ${number} of ${hostname} can't be used.`, true);
  try {
    const answer = await http.request({
      ...request,
      ...{ signal, tenant: channel.tenant_id, space: spaceOf(channel.sandbox), timeoutMs: TIMEOUT_MS },
      ...{ maxBytes: 64 * 1_024, overflow: 'truncate' as const },
    });
    const outcome = outcomeOfResponse(answer);
    return { outcome, message: outcome.result === 'failed' ? `The receiver answered with status ${answer.status}.` : null };
  } catch (error) {
    if (!(error instanceof UpstreamFault) || signal?.aborted) throw error;
    const outcome = outcomeOfFault(error);
    return { outcome, message: error.type === 'upstream_timeout' ? 'Request timeout' : error.message };
  }
}

const failed = (error: string, message: string, final = false): Told => ({ outcome: { result: 'failed', error, final }, message });
const delivered = (status?: number): Told => ({ outcome: { result: 'delivered', ...(status ? { status } : {}) }, message: null });

/**
 * One mail to each address, under an ID that is made of the delivery: an attempt that is made again after a crash finds what the one before wrote. From there on
 * the mailer sees to it. In Test only members of the workspace get any (interface rule 64 §4).
 */
async function mail(channel: ChannelToSend, message: AlertMessage, { delivery_id, at }: Sending): Promise<Told> {
  const recipients = channel.sandbox ? await membersAmong(channel.tenant_id, channel.recipients) : channel.recipients;
  if (recipients.length === 0)
    return failed('no_recipient', 'In Test only members of the workspace are mailed, and no address is one of a member.', true);
  const letter = alertLetter(message);
  const mails = recipients.map((to) => ({ to, id: idOf(`${delivery_id} ${to}`) }));
  const written = await db().mails.findMany({ where: { id: { in: mails.map(({ id }) => id) } }, select: { id: true } });
  const missing = mails.filter(({ id }) => !written.some((row) => row.id === id));
  await db().$transaction(async (tx) => {
    for (const { id, to } of missing) await postMail(tx, { id, to, kind: 'alert', letter, now: at });
  });
  for (const { id } of mails) dispatch(db(), id);
  return delivered();
}

/** A UUID that the same text always has. */
function idOf(name: string): string {
  const hex = contentFingerprint(`alert mail ${name}`).slice(0, 32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Those addresses that belong to people of the workspace. */
export async function membersAmong(tenant_id: string, addresses: readonly string[]): Promise<string[]> {
  const rows = await db().memberships.findMany({
    where: { tenant_id, removed_at: null, user: { email: { in: addresses.map((address) => address.toLowerCase()) } } },
    select: { user: { select: { email: true } } },
  });
  const known = new Set(rows.map(({ user }) => user.email.toLowerCase()));
  return addresses.filter((address) => known.has(address.toLowerCase()));
}

/** In Test nothing leaves: the log says what would have (interface rule 64 §4). */
async function text(channel: ChannelToSend, message: AlertMessage, { id, at: _ }: Sending, signal?: AbortSignal): Promise<Told> {
  if (channel.sandbox) {
    log.info(
      { tenant_id: channel.tenant_id, channel_id: channel.id, recipients: channel.recipients.length },
      'text message of Test not sent',
    );
    return delivered();
  }
  for (const to of channel.recipients) {
    const sent = await sendText({ to, text: alertText(message), key: `${id} ${to}` }, signal);
    if (!sent.ok) return failed(sent.error, sent.message, sent.final);
  }
  return delivered();
}

/** Where a channel sends to, from what was given or what its kind has. */
export const urlOf = (kind: ChannelKind, url: string | undefined): string | undefined => url ?? DEFAULT_URLS[kind];
