import { handleStripeWebhook } from '#server/api/billing-webhook.ts';

export const dynamic = 'force-dynamic';
export { handleStripeWebhook as POST };
