import type { TemplateId } from './templates.ts';

/** What a new workflow can begin with, in words; the definitions come when one is chosen. */
export const TEMPLATE_CARDS: readonly { value: TemplateId; title: string; description: string }[] = [
  { value: 'server-errors', title: 'Slack on 5xx', description: 'A call in production fails: post to a channel' },
  { value: 'nightly-sync', title: 'Nightly sync', description: 'Every night, read a list and store each item elsewhere' },
  { value: 'rotate-notify', title: 'Rotate, then notify', description: 'Once a month, rotate a provider’s key and mail its owner' },
  { value: 'stripe-crm', title: 'Inbound Stripe to CRM', description: 'A signed event of Stripe updates a customer' },
  { value: 'expiring-secrets', title: 'Expiring-secret reminder', description: 'A secret expires within a week: mail its owner' },
  { value: 'blank', title: 'Blank', description: 'Only a trigger that is pressed by hand' },
];
