import { isSignedByStripe } from '#server/crypto/stripe-signature.ts';
import { parseBounded } from '#server/kernel/bounded-text.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { env } from '#server/platform/env.ts';
import { addJob } from '#server/platform/queue.ts';

type Event = { id: string; type: string; created: number; customer: string | null; object: Record<string, unknown> };

/** Events that say that a subscription, its payment or the card on file may have changed. */
const ABOUT_SUBSCRIPTIONS = /^(?:checkout\.session\.completed|customer\.(?:updated|subscription\.\w+)|invoice\.\w+|payment_method\.\w+)$/;

/**
 * Takes one event of the payment provider: signed, fresh, and once by its ID. The workspace is the one whose customer we made; what else an event says of whose
 * it is counts for nothing. The work is a job, so the provider has its answer at once. @throws Refusal not_found without the driver, invalid
 */
export async function receiveStripeEvent(
  db: Db,
  body: Uint8Array,
  signature: string | null,
  now: Date,
): Promise<{ received: true; duplicate: boolean }> {
  if (env.BILLING_DRIVER !== 'stripe' || !env.STRIPE_WEBHOOK_SECRET) throw new Refusal('not_found', 'No such path.');
  if (!isSignedByStripe(body, signature, env.STRIPE_WEBHOOK_SECRET, now))
    throw new Refusal('invalid', 'Stripe-Signature: is missing, wrong or too old');
  const event = eventOf(body);
  if (!event) throw new Refusal('invalid', 'The body is not an event.');
  return db.$transaction(async (tx) => {
    const fresh = await tx.$executeRaw`
      insert into billing_events (id, type, customer_id, received_at) values (${event.id}, ${event.type}, ${event.customer}, ${now}) on conflict do nothing`;
    if (fresh > 0) await handle(tx, event);
    return { received: true as const, duplicate: fresh === 0 };
  });
}

async function handle(tx: Tx, event: Event): Promise<void> {
  if (!event.customer || !ABOUT_SUBSCRIPTIONS.test(event.type)) return;
  const account = await tx.billing_accounts.findUnique({ where: { customer_id: event.customer }, select: { tenant_id: true } });
  if (!account) return;
  if (event.type.startsWith('invoice.')) await noteInvoice(tx, account.tenant_id, event);
  const { tenant_id } = account;
  await addJob(tx, 'sync_billing', { tenant_id }, { job_key: `sync_billing:${tenant_id}` });
}

/** Of events that come out of order the newest counts; of one second, the one that is further along. */
async function noteInvoice(tx: Tx, tenantId: string, { object, created }: Event): Promise<void> {
  const [id, status] = [textOf(object.id), textOf(object.status)];
  if (!id || !status || status === 'draft') return;
  const at = new Date(created * 1000);
  const issued = typeof object.created === 'number' ? new Date(object.created * 1000) : at;
  const amount = typeof object.total === 'number' ? Math.round(object.total) : 0;
  const pdf = textOf(object.invoice_pdf) ?? textOf(object.hosted_invoice_url);
  await tx.$executeRaw`
    insert into billing_invoices as i (id, tenant_id, number, issued_at, amount, currency, status, pdf_url, event_at)
    values (${id}, ${tenantId}::uuid, ${textOf(object.number)}, ${issued}, ${amount}, ${textOf(object.currency) ?? 'usd'}, ${status},
      ${pdf?.startsWith('https://') ? pdf : null}, ${at})
    on conflict (id) do update set number = excluded.number, amount = excluded.amount, status = excluded.status, pdf_url = excluded.pdf_url, event_at = excluded.event_at
    where i.tenant_id = excluded.tenant_id and (i.event_at < excluded.event_at or (i.event_at = excluded.event_at and i.status = 'open'))`;
}

function eventOf(body: Uint8Array): Event | null {
  try {
    const { id, type, created, data } = parseBounded(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Record<string, unknown>;
    const object = (data as { object?: unknown } | undefined)?.object as Record<string, unknown> | undefined;
    if (typeof id !== 'string' || !/^evt_\w{1,250}$/.test(id) || typeof type !== 'string' || typeof created !== 'number' || !object)
      return null;
    const customer = type.startsWith('customer.') && object.object === 'customer' ? object.id : object.customer;
    return { id, type: type.slice(0, 100), created, object, customer: textOf(customer) };
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' && value.length <= 2_000 ? value : null);

/** The provider repeats an event for three days at most. @returns events forgotten */
export const pruneBillingEvents = async (db: Db, now: Date): Promise<number> =>
  (await db.billing_events.deleteMany({ where: { received_at: { lt: new Date(now.getTime() - 60 * 86_400_000) } } })).count;
