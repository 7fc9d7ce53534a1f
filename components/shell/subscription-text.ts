import { isServableStatus } from '#server/domain/tenants/status.shared.ts';

const STOPPED = 'Proxied calls and API calls are refused. You can view pages and revoke keys, but not change anything else.';
const OWNER = 'An Owner can end this under Settings → Billing.';

const WHAT: Record<string, string> = {
  past_due: 'This workspace’s subscription is past due.',
  paused: 'This workspace is paused.',
  cancelled: 'This workspace’s subscription is canceled.',
};

/** What a subscription's state means for whoever looks at the workspace; undefined while it is in order (interface rule 20 §5). */
export function describeSubscription(status: string | undefined): { stops: boolean; what: string; next: string } | undefined {
  if (status === 'dunning')
    return {
      stops: false,
      what: 'A payment for this workspace failed.',
      next: `Everything keeps working for 14 days after that. ${OWNER}`,
    };
  if (status === undefined || isServableStatus(status)) return undefined;
  return {
    stops: true,
    what: WHAT[status] ?? `This workspace’s subscription is ${status.replaceAll('_', ' ')}.`,
    next: `${STOPPED} ${OWNER}`,
  };
}
