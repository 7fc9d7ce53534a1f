import { ECHO_ORIGIN } from '#server/kernel/echo-origin.ts';
import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['environments', 'collections', 'secrets', 'clients'],
  run: async (make, ids) => {
    const { id } = await make('routes.create', {
      name: 'Charges',
      target_base_url: `${ECHO_ORIGIN}/v1`,
      collection_id: ids.payments,
      inject_headers_json: { Authorization: `Bearer {{secret_id:${ids.stripe_key}}}` },
      rate_limit_enabled: true,
      rate_limit_requests: 100,
      rate_limit_window_sec: 60,
    });
    await make('routes.environments.put', { id, env: 'staging', target_base_url: `${ECHO_ORIGIN}/staging/v1` });
    await make('routes.clients.set', { id, env: 'production', client_ids: [ids.office] });
    const weather = await make('routes.create', {
      name: 'Weather',
      target_base_url: ECHO_ORIGIN,
      inject_query_json: { key: '{{secret:WEATHER_TOKEN}}' },
      allowed_methods: ['GET'],
      rate_limit_enabled: true,
      rate_limit_requests: 10,
      rate_limit_window_sec: 60,
    });
    ids.weather_route = String(weather.id);
  },
};
