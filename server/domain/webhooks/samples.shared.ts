/** What the data of an event looks like, for tests and for people who choose events. */
export function sampleOf(type: string, at: Date): Record<string, unknown> {
  const status = SAMPLE_STATUS[type] ?? 200;
  if (type.startsWith('request.'))
    return {
      route_id: SAMPLE_ID,
      route_name: 'orders-api',
      environment: 'production',
      request: { method: 'POST', path: '/v1/orders', ip: '203.0.113.9', body: { order: 812 } },
      response:
        type === 'request.received' ? { status: null, latency_ms: null } : { status, latency_ms: 88, origin: 'upstream', error: null },
      request_id: SAMPLE_ID,
    };
  if (type === 'audit.event')
    return {
      id: SAMPLE_ID,
      action: 'update',
      resource_type: 'route',
      resource_id: SAMPLE_ID,
      details: { name: 'orders-api' },
      ip_address: '203.0.113.9',
    };
  return { id: SAMPLE_ID, name: 'sample', at: at.toISOString() };
}

const SAMPLE_ID = '00000000-0000-7000-8000-000000000000';

const SAMPLE_STATUS: Readonly<Record<string, number>> = {
  'request.redirect': 302,
  'request.client_error': 404,
  'request.server_error': 502,
  'request.timeout': 504,
  'request.error': 502,
};
