import { digest } from '#server/crypto/tokens.ts';
import { dispatch, postComposedMail } from '#server/domain/mail/service.ts';
import { db } from '#server/platform/db.ts';
import { asText } from '../expressions/filters.shared.ts';
import { membersOnly, strangersAmong } from '../recipients.ts';
import { evaluated, evaluatedText, failed, InvalidConfig, type NodeCall, type NodeKind, succeeded } from './node-call.ts';

const MOST_RECIPIENTS = 10;
const LONGEST = 1024 * 1024;

/**
 * Sends one mail to each recipient; a repeated run sends none twice. From Test only members of the workspace get mail (interface rule 62 §7); on the Free plan
 * a step that names somebody else fails.
 */
export const email: NodeKind = async (call) => {
  const { subject, text, html, replyTo } = call.config;
  const asked = recipients(call);
  const input = {
    to: asked,
    subject: evaluatedText(call, subject),
    ...(text ? { text: evaluatedText(call, text) } : {}),
    ...(html ? { html: evaluatedText(call, html) } : {}),
    ...(replyTo ? { replyTo: addressOf(evaluatedText(call, replyTo, true)) } : {}),
  };
  if ((input.text?.length ?? 0) + (input.html?.length ?? 0) > LONGEST)
    throw new InvalidConfig('text and html can have at most 1 MiB together');
  const { tenant_id, sandbox } = call.place;
  const confined = !call.own && (sandbox || call.plan === 'free');
  const strangers = confined ? await strangersAmong(db(), tenant_id, asked) : [];
  if (strangers.length > 0 && !sandbox) return failed('plan_feature', membersOnly(strangers), { input });
  const to = call.own ? [call.own.email].filter((email) => email !== null) : asked.filter((address) => !strangers.includes(address));
  if (call.own && to.length === 0) return failed('invalid_config', 'A test sends to your own address, and you have none.', { input });
  const ids: string[] = [];
  for (const address of to) {
    const id = uuidOf(`${call.idempotencyKey} ${address.toLowerCase()}`);
    const body = { text: input.text ?? withoutTags(input.html ?? ''), html: input.html ?? null, reply_to: input.replyTo ?? null };
    await postComposedMail(db(), { id, to: address, kind: 'workflow', subject: input.subject, ...body, now: new Date() });
    dispatch(db(), id);
    ids.push(id);
  }
  return succeeded({ message_id: ids[0] ?? null, accepted: to }, ['out'], { input });
};

function recipients(call: NodeCall): string[] {
  const given = evaluated(call, call.config.to, true);
  const list = (Array.isArray(given) ? given.slice(0, MOST_RECIPIENTS + 1) : asText(given, call.meter).split(',', MOST_RECIPIENTS + 1)).map(
    (one) => addressOf(asText(one, call.meter)),
  );
  const unique = [...new Set(list)];
  if (unique.length === 0 || unique.length > MOST_RECIPIENTS) throw new InvalidConfig(`to must name 1 to ${MOST_RECIPIENTS} addresses`);
  return unique;
}

/** One address and nothing else: no second one, no header. */
function addressOf(text: string): string {
  const address = text.trim();
  if (address.length > 254 || !/^[^\s@<>(),;:"[\]\\]{1,64}@[A-Za-z0-9.-]{1,189}\.[A-Za-z0-9-]{2,63}$/.test(address))
    throw new InvalidConfig('to and replyTo must be email addresses');
  return address;
}

/** For readers of plain text: what stands between the tags. */
const withoutTags = (html: string): string =>
  html
    .replace(/<(?:[^<>]*>)?/g, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** One ID for one mail, however often its run is repeated. */
export function uuidOf(name: string): string {
  const hex = digest(name).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
