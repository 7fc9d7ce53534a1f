import type { Billing } from './billing.ts';

export const dayOf = (iso: string): string =>
  new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(iso));

type State = { tone: 'info' | 'warn' | 'bad'; title: string; text: string };

/** What the state of the subscription means now, and what ends it; undefined while there is nothing to say. */
export function stateOf(b: Billing): State | undefined {
  if (b.status === 'trialing' && b.trial.end)
    return {
      tone: 'info',
      title: `Trial until ${dayOf(b.trial.end)}`,
      text: 'Choose a plan before then to keep it. Otherwise the workspace moves to Free; nothing is deleted.',
    };
  if (b.dunning?.stage === 'dunning')
    return {
      tone: 'warn',
      title: 'A payment failed',
      text: `Everything keeps working until ${dayOf(b.dunning.until)}. Update the payment method before then.`,
    };
  if (b.status === 'past_due')
    return {
      tone: 'bad',
      title: 'Payment is past due: calls are refused',
      text: b.dunning
        ? `Without a payment, the subscription ends on ${dayOf(b.dunning.until)}.`
        : 'Calls are served again once a payment arrives.',
    };
  if (b.status === 'paused')
    return b.paused_by === 'operator'
      ? {
          tone: 'bad',
          title: 'Suspended by the operator',
          text: 'Proxied calls and API calls are refused. Contact the operator of this installation.',
        }
      : {
          tone: 'warn',
          title: 'Paused',
          text: `Proxied calls and API calls are refused${b.paused_until ? ` until ${dayOf(b.paused_until)}` : ''}, or until an Owner resumes. Nothing is billed.`,
        };
  if (b.status === 'cancelled')
    return {
      tone: 'bad',
      title: 'The subscription has ended',
      text: 'Proxied calls and API calls are refused. Your data is kept. Choose a plan, or return to Free.',
    };
  if (b.cancel_at)
    return {
      tone: 'warn',
      title: `Ends on ${dayOf(b.cancel_at)}`,
      text: 'Everything keeps working until then. You can undo the cancellation.',
    };
  return undefined;
}
