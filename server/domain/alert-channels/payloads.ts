import { signDelivery, webhookMaterial } from '#server/crypto/transit/webhook-formats.ts';
import { type ChannelKind, DEFAULT_URLS } from './kinds.shared.ts';
import { type AlertMessage, factsOf, titleOf } from './message.ts';
import type { ChannelSecrets } from './sealing.ts';

export type ChannelRequest = { url: string; method: 'POST'; headers: Record<string, string>; body: string };

/** `id` names the message, the same at every attempt; `delivery_id` this message to this channel. */
export type Sending = { id: string; delivery_id: string; attempt: number; at: Date };

/** The request that tells a message. Kinds without one (email, sms) are not for here. */
export function requestOf(kind: ChannelKind, secrets: ChannelSecrets, message: AlertMessage, sending: Sending): ChannelRequest {
  const url = secrets.url ?? DEFAULT_URLS[kind] ?? '';
  const post = (body: object, headers: Record<string, string> = {}, to = url): ChannelRequest => ({
    url: to,
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'svc-alerts/1', ...headers },
    body: JSON.stringify(body),
  });
  switch (kind) {
    case 'slack':
      return post(slack(message));
    case 'teams':
      return post(teams(message));
    case 'discord':
      return post(discord(message));
    case 'pagerduty':
      return post(pagerduty(secrets.token ?? '', message, sending));
    case 'opsgenie':
      return opsgenie(url, post, secrets.token ?? '', message, sending);
    default:
      return webhook(post, secrets.signing_secret ?? '', message, sending);
  }
}

type Post = (body: object, headers?: Record<string, string>, to?: string) => ChannelRequest;

/** Signed as the deliveries of webhooks are (interface rule 60 §4). */
function webhook(post: Post, secret: string, message: AlertMessage, { id, delivery_id, attempt, at }: Sending): ChannelRequest {
  const event = message.kind === 'opened' ? 'alert.triggered' : `alert.${message.kind}`;
  const request = post({ id, event, timestamp: at.toISOString(), sandbox: message.space === 'test', data: message });
  const seconds = Math.floor(at.getTime() / 1_000);
  const signature = signDelivery(
    { format: 'legacy', header: null, id, current: webhookMaterial(secret) },
    Buffer.from(request.body),
    seconds,
  );
  const named = {
    'x-webhook-event': event,
    'x-webhook-id': id,
    'x-webhook-delivery': delivery_id,
    'x-webhook-attempt': String(attempt),
    'x-webhook-timestamp': String(seconds),
  };
  return { ...request, headers: { ...request.headers, ...named, ...signature } };
}

const COLORS = { low: 0x64748b, medium: 0xd97706, high: 0xea580c, critical: 0xdc2626 } as const;
const RESOLVED = 0x16a34a;
const colorOf = ({ kind, severity }: AlertMessage): number => (kind === 'resolved' ? RESOLVED : COLORS[severity]);

/** Block Kit. `&`, `<` and `>` are its control characters: a name can't mention anybody. */
function slack(message: AlertMessage): object {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const title = titleOf(message);
  const fields = factsOf(message).map(([label, value]) => ({ type: 'mrkdwn', text: `*${label}*\n${escaped(value)}` }));
  return {
    text: escaped(title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title.slice(0, 150), emoji: false } },
      { type: 'section', fields: fields.slice(0, 10) },
      {
        type: 'actions',
        elements: [{ type: 'button', text: { type: 'plain_text', text: 'View' }, url: message.link }],
      },
    ],
  };
}

/** An adaptive card, as the webhooks of Teams workflows take it. */
const teams = (message: AlertMessage): object => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [
          { type: 'TextBlock', text: plain(titleOf(message)), weight: 'Bolder', size: 'Medium', wrap: true },
          { type: 'FactSet', facts: factsOf(message).map(([title, value]) => ({ title, value: plain(value) })) },
        ],
        actions: [{ type: 'Action.OpenUrl', title: 'View', url: message.link }],
      },
    },
  ],
});

/** Cards read a part of Markdown: no links and no emphasis from names. */
const plain = (text: string): string => text.replaceAll(/[[\]*_`#]/g, ' ');

const discord = (message: AlertMessage): object => ({
  embeds: [
    {
      title: titleOf(message).slice(0, 256),
      url: message.link,
      color: colorOf(message),
      timestamp: message.started_at,
      fields: factsOf(message).map(([name, value]) => ({ name, value: value.slice(0, 1_024) })),
    },
  ],
  allowed_mentions: { parse: [] },
});

const PAGERDUTY = { low: 'info', medium: 'warning', high: 'error', critical: 'critical' } as const;

/** Events API v2. The incident is the key: what is told again, and its end, belong to the same one there. */
const pagerduty = (routing_key: string, message: AlertMessage, { id }: Sending): object => ({
  routing_key,
  event_action: message.kind === 'resolved' ? 'resolve' : 'trigger',
  dedup_key: message.incident_id ?? id,
  payload: {
    summary: titleOf(message).slice(0, 1_024),
    source: `${message.workspace} (${message.space})`,
    severity: PAGERDUTY[message.severity],
    timestamp: message.started_at,
    component: message.subject ?? undefined,
    class: message.type,
    custom_details: Object.fromEntries(factsOf(message)),
  },
  links: [{ href: message.link, text: 'View' }],
});

const OPSGENIE = { low: 'P4', medium: 'P3', high: 'P2', critical: 'P1' } as const;

function opsgenie(url: string, post: Post, key: string, message: AlertMessage, { id }: Sending): ChannelRequest {
  const alias = message.incident_id ?? id;
  const headers = { authorization: `GenieKey ${key}` };
  const source = `${message.workspace} (${message.space})`;
  if (message.kind === 'resolved')
    return post({ source, note: 'Resolved' }, headers, `${url.replace(/\/$/, '')}/${alias}/close?identifierType=alias`);
  const description = factsOf(message)
    .map(([label, value]) => `${label}: ${value}`)
    .join('\n');
  const body = { message: titleOf(message).slice(0, 130), alias, description, priority: OPSGENIE[message.severity], source };
  return post({ ...body, details: { link: message.link, type: message.type } }, headers);
}
