import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

type Fields = Record<string, unknown>;
type Sub = {
  id: string;
  object: 'subscription';
  customer: string;
  status: string;
  created: number;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  pause_collection: { behavior: string; resumes_at: number | null } | null;
  default_payment_method: unknown;
  metadata: Fields;
  items: { object: 'list'; data: { id: string; price: { id: string }; current_period_start: number; current_period_end: number }[] };
};

const CARD = { id: 'pm_1', object: 'payment_method', card: { brand: 'visa', last4: '4242', exp_month: 4, exp_year: 2031 } };
const DAY = 86_400;

/**
 * A server of Stripe's API shape on loopback, as far as billing uses it, with a memory: what stripe-mock answers from fixtures, this one remembers, idempotency
 * keys included. `calls` is what it was asked; `pay` does what a person does on the checkout page.
 */
export async function startStripe() {
  const customers = new Map<string, Fields>();
  const subscriptions = new Map<string, Sub>();
  const sessions = new Map<string, Fields>();
  const byKey = new Map<string, { status: number; body: unknown }>();
  const calls: { method: string; path: string; form: Fields; key: string | null; version: string | null }[] = [];
  const state = { down: false, declines: false };
  let n = 0;
  const id = (prefix: string) => `${prefix}_${++n}`;
  const now = () => Math.floor(Date.now() / 1000);

  const missing = { status: 404, body: { error: { type: 'invalid_request_error', message: 'No such object' } } };
  const ok = (body: unknown) => ({ status: 200, body });
  const list = (data: unknown[]) => ok({ object: 'list', data, has_more: false });

  function answer(method: string, path: string, form: Fields, query: URLSearchParams): { status: number; body: unknown } {
    const [, , resource = '', one = '', verb = ''] = path.split('/');
    const route = `${method} ${resource}${one === 'sessions' ? '/sessions' : one ? '/:id' : ''}`;
    switch (route) {
      case 'POST customers': {
        const customer = { id: id('cus'), object: 'customer', invoice_settings: { default_payment_method: null }, ...form };
        customers.set(customer.id, customer);
        return ok(customer);
      }
      case 'GET customers/:id':
        return customers.has(one) ? ok(customers.get(one)) : missing;
      case 'POST checkout/sessions': {
        if (verb && sessions.get(verb)) {
          (sessions.get(verb) as Fields).status = 'expired';
          return ok(sessions.get(verb));
        }
        const session = { id: id('cs'), object: 'checkout.session', status: 'open', url: `https://checkout.stripe.test/${n}`, ...form };
        sessions.set(session.id, session);
        return ok(session);
      }
      case 'POST billing_portal/sessions':
        return customers.has(String(form.customer)) ? ok({ id: id('bps'), url: `https://portal.stripe.test/${n}` }) : missing;
      case 'GET subscriptions':
        return list([...subscriptions.values()].filter(({ customer }) => customer === query.get('customer')));
      case 'GET subscriptions/:id':
        return subscriptions.has(one) ? ok(subscriptions.get(one)) : missing;
      case 'DELETE subscriptions/:id': {
        const found = subscriptions.get(one);
        if (!found || found.status === 'canceled') return missing;
        found.status = 'canceled';
        return ok(found);
      }
      case 'POST subscriptions/:id': {
        const found = subscriptions.get(one);
        if (!found || found.status === 'canceled') return missing;
        if ('cancel_at_period_end' in form) {
          found.cancel_at_period_end = form.cancel_at_period_end === 'true';
          found.cancel_at = found.cancel_at_period_end ? (found.items.data[0]?.current_period_end ?? null) : null;
        }
        if ('pause_collection' in form) found.pause_collection = null;
        if ('pause_collection[behavior]' in form)
          found.pause_collection = { behavior: 'void', resumes_at: Number(form['pause_collection[resumes_at]']) };
        if ('items[0][price]' in form && found.items.data[0]) found.items.data[0].price.id = String(form['items[0][price]']);
        return ok(found);
      }
      case 'GET invoices':
        return list([{ id: 'in_open', object: 'invoice', status: 'open', customer: 'x' }]);
      case 'POST invoices/:id':
        if (state.declines) return { status: 402, body: { error: { type: 'card_error', message: 'Your card was declined.' } } };
        for (const sub of subscriptions.values()) if (sub.status === 'past_due') sub.status = 'active';
        return ok({ id: one, object: 'invoice', status: 'paid' });
      default:
        return missing;
    }
  }

  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const url = new URL(req.url ?? '/', 'http://stripe.test');
    const form = Object.fromEntries(new URLSearchParams(text));
    const key = (req.headers['idempotency-key'] as string | undefined) ?? null;
    calls.push({ method: req.method ?? '', path: url.pathname, form, key, version: (req.headers['stripe-version'] as string) ?? null });
    const known = key === null ? undefined : byKey.get(key);
    const done = state.down
      ? { status: 500, body: { error: { type: 'api_error', message: 'down' } } }
      : req.headers.authorization === 'Bearer sk_test_local'
        ? (known ?? answer(req.method ?? '', url.pathname, form, url.searchParams))
        : { status: 401, body: { error: { type: 'invalid_request_error', message: 'bad key' } } };
    if (key !== null && done.status < 500) byKey.set(key, done);
    res.writeHead(done.status, {
      'content-type': 'application/json',
      'request-id': 'req_1',
      ...(state.down ? { 'stripe-should-retry': 'false' } : {}),
    });
    res.end(JSON.stringify(done.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** A subscription of a customer, as a paid checkout makes it. */
  const pay = (customer: string, price: string, more: Partial<Sub> = {}): Sub => {
    const sub: Sub = {
      id: id('sub'),
      object: 'subscription',
      customer,
      status: 'active',
      created: now() + n,
      cancel_at: null,
      cancel_at_period_end: false,
      pause_collection: null,
      default_payment_method: CARD,
      metadata: {},
      items: {
        object: 'list',
        data: [{ id: id('si'), price: { id: price }, current_period_start: now(), current_period_end: now() + 30 * DAY }],
      },
      ...more,
    };
    subscriptions.set(sub.id, sub);
    return sub;
  };

  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, state, customers, subscriptions, sessions, pay };
}

export type FakeStripe = Awaited<ReturnType<typeof startStripe>>;

/** The deployment's settings that go with it. */
export const stripeSettings = (url: string) => ({
  BILLING_DRIVER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_local',
  STRIPE_WEBHOOK_SECRET: 'whsec_local',
  STRIPE_PRICES: 'starter:month=price_starter,pro:month=price_pro,pro:year=price_pro_year,enterprise:year=price_ent',
  STRIPE_API_URL: url,
});
