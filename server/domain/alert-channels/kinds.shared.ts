export const CHANNEL_KINDS = ['email', 'sms', 'slack', 'webhook', 'teams', 'pagerduty', 'discord', 'opsgenie'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export const KIND_LABELS: Readonly<Record<ChannelKind, string>> = {
  email: 'Email',
  sms: 'SMS',
  slack: 'Slack',
  webhook: 'Webhook',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
  discord: 'Discord',
  opsgenie: 'Opsgenie',
};

export type ChannelField = 'recipients' | 'url' | 'token' | 'signing_secret';
/** What each kind takes, and what of it a channel can't be without. */
export const KIND_FIELDS: Readonly<Record<ChannelKind, { takes: readonly ChannelField[]; needs: readonly ChannelField[] }>> = {
  email: { takes: ['recipients'], needs: ['recipients'] },
  sms: { takes: ['recipients'], needs: ['recipients'] },
  slack: { takes: ['url'], needs: ['url'] },
  teams: { takes: ['url'], needs: ['url'] },
  discord: { takes: ['url'], needs: ['url'] },
  webhook: { takes: ['url', 'signing_secret'], needs: ['url', 'signing_secret'] },
  pagerduty: { takes: ['url', 'token'], needs: ['token'] },
  opsgenie: { takes: ['url', 'token'], needs: ['token'] },
};

/** Where kinds with a token send unless another region's URL is given. */
export const DEFAULT_URLS: Readonly<Partial<Record<ChannelKind, string>>> = {
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  opsgenie: 'https://api.opsgenie.com/v2/alerts',
};

/** Kinds that need the plan feature sms_slack_alerts. */
export const PAID_KINDS: readonly ChannelKind[] = ['sms', 'slack'];

/** The engine that delivers to channels, in `event_subscriptions.channel`. */
export const ALERT_CHANNEL = 'alert';
