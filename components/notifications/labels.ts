import type { inferRouterOutputs } from '@trpc/server';
import type { Digest, NotificationKind } from '#server/domain/notifications/kinds.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['notifications'];
export type NotificationRow = Outputs['list']['data'][number];

export const KIND_LABELS: Record<NotificationKind, { label: string; hint: string }> = {
  security: { label: 'Security', hint: 'New devices, changed factors, reveals of your secrets by others, new agents, tampering.' },
  operations: { label: 'Operations', hint: 'Alerts, disabled webhooks, failed runs, agents that went offline.' },
  expiry: { label: 'Expiry', hint: 'Secrets, certificates and keys that expire.' },
  team: { label: 'Team', hint: 'Invitations, new members, changed roles, requests for access.' },
  billing: { label: 'Billing', hint: 'Limits and payments, for Owners.' },
  product: { label: 'Product', hint: 'What’s new in Sallyport.' },
};

export const DIGEST_LABELS: Record<Digest, string> = {
  instant: 'At once',
  hourly: 'Once an hour',
  daily: 'Once a day, at 8 in the morning',
};

/** A resource within a sentence. */
export const RESOURCE_NOUNS: Readonly<Record<string, string>> = {
  ...{ route: 'route', secret: 'secret', webhook: 'webhook', workflow: 'workflow', agent: 'agent', alert: 'alert' },
  ...{ pki_root: 'root', ai_agent: 'AI agent', vault: 'vault', migration: 'migration' },
};
