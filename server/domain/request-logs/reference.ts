import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  method: 'GET',
  path: '/stripe/v1/charges',
  status_code: 200,
  src_ip: '203.0.113.7',
  environment: 'production',
  latency_ms: 42,
  upstream_host: 'api.example.com',
  error: null,
  rate_limited: false,
  proxy_mode: 'route',
  identification_method: 'ip',
  source_ip_country: 'DE',
  source_ip_city: null,
  slug: 'stripe',
  route_name: 'stripe',
};

export const operations: Described = {
  'logs.follow': {
    description:
      'Returns logged calls oldest first, for exporting them to another system. Keep `next_cursor` and send it with the next request. A call can be delivered more than once.',
    success: 'The next logged calls.',
  },
  'logs.get': { description: 'Returns one logged call by its request ID.', success: 'The logged call.' },
  'logs.proof': {
    description: "Returns a logged call with a proof that it hasn't been changed since it was anchored.",
    success: 'The logged call and its proof.',
  },
};
