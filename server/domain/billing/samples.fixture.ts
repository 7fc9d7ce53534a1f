import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { stripe } from '#server/platform/stripe.ts';
import { nothing, type Sample } from '#server/testing/factories.ts';
import { enrolled } from '#server/testing/step-up.ts';

/** A workspace on a plan and in a state; samples are made for one of enterprise. */
const standing =
  (subscription: Record<string, unknown>, input: Record<string, unknown> = {}): Sample =>
  async (ctx) => {
    await db().tenants.update({
      where: { id: ctx.tenant_id },
      data: { subscription_cancel_at: null, pause_reason: null, ...subscription },
    });
    return input;
  };

async function withFactor({ actor }: Ctx): Promise<void> {
  if (actor.type !== 'member') return;
  await db().users.upsert({ where: { id: actor.id }, create: { id: actor.id, email: `${actor.id}@example.test` }, update: {} });
  if ((await db().totp_secrets.count({ where: { user_id: actor.id } })) === 0) await enrolled(actor.id);
}

export const samples: Record<string, Sample> = {
  'billing.get': nothing,
  'billing.update_tax_id': async (ctx) => {
    await withFactor(ctx);
    await db().tenants.update({ where: { id: ctx.tenant_id }, data: { tax_id_type: null, tax_id_value: null } });
    return { tax_id_type: 'eu_vat', tax_id_value: 'DE136695976' };
  },
  // Under the driver of the family's tests; with the manual one there is no portal.
  'billing.portal': async (ctx) => {
    const { id } = await stripe().customers.create({ name: 'Sample' });
    const where = { tenant_id: ctx.tenant_id };
    await db().billing_accounts.upsert({ where, create: { ...where, customer_id: id }, update: { customer_id: id } });
    return {};
  },
  'billing.checkout': standing({ subscription_status: 'cancelled' }, { plan: 'free' }),
  'billing.cancel': standing({ subscription_status: 'active', subscription_plan: 'pro' }),
  'billing.resume': standing({ subscription_status: 'active', subscription_cancel_at: new Date(Date.now() + 86_400_000) }),
  'billing.pause': standing({ subscription_status: 'active', subscription_plan: 'pro' }, { days: 30 }),
  'billing.trial': standing({ subscription_status: 'active', subscription_plan: 'free', trial_start_at: null }),
};

export const harmless = {
  // What an invoice says.
  'billing.update_tax_id': ['tax_id_type', 'tax_id_value'],
};
