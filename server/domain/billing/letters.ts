import type { Letter } from '#server/domain/mail/templates.ts';

type Where = { workspace: string; billingUrl: string };
const button = ({ billingUrl }: Where) => ({ label: 'Open billing', url: billingUrl });
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

export const trialEnding = (where: Where & { days: number; ends: Date; plan: string }): Letter => ({
  subject: `The trial of ${where.workspace} ends in ${where.days} ${where.days === 1 ? 'day' : 'days'}`,
  paragraphs: [
    `The ${where.plan} trial ends on ${dayOf(where.ends)}. Unless you choose a plan before then, the workspace moves to the Free plan.`,
    'Nothing is deleted: what exists keeps working, and you can create more once you are within the limits of Free.',
  ],
  button: button(where),
});

export const trialEnded = (where: Where): Letter => ({
  subject: `The trial of ${where.workspace} has ended`,
  paragraphs: ['The workspace is now on the Free plan. Nothing was deleted. Choose a plan at any time.'],
  button: button(where),
});

export const paymentFailed = (where: Where & { since: Date; stops: Date }): Letter => ({
  subject: `A payment for ${where.workspace} failed`,
  paragraphs: [
    `The last payment failed on ${dayOf(where.since)}. Everything keeps working until ${dayOf(where.stops)}. We'll try again before then.`,
    'To keep the service running, update the payment method.',
  ],
  button: button(where),
});

export const pastDue = (where: Where & { ends: Date }): Letter => ({
  subject: `${where.workspace} is past due: calls are refused`,
  paragraphs: [
    'No payment has arrived for 14 days. Proxied calls and API calls are refused until one does; the dashboard stays open.',
    `Without a payment, the subscription ends on ${dayOf(where.ends)}.`,
  ],
  button: button(where),
});

export const subscriptionEnded = (where: Where): Letter => ({
  subject: `The subscription of ${where.workspace} has ended`,
  paragraphs: [
    'Proxied calls and API calls are refused. Your data is kept, and you can still sign in, look at it and export it.',
    'To continue, choose a plan or return to the Free plan.',
  ],
  button: button(where),
});

export const cancellationScheduled = (where: Where & { by: string; at: Date }): Letter => ({
  subject: `The subscription of ${where.workspace} ends on ${dayOf(where.at)}`,
  paragraphs: [
    `${where.by} canceled the subscription. Everything keeps working until ${dayOf(where.at)}, and you can undo this until then.`,
  ],
  button: button(where),
});

export const pausedByOwner = (where: Where & { by: string; until: Date }): Letter => ({
  subject: `${where.workspace} is paused`,
  paragraphs: [
    `${where.by} paused the workspace. Proxied calls and API calls are refused and billing stops until it is resumed, at the latest on ${dayOf(where.until)}.`,
  ],
  button: button(where),
});
