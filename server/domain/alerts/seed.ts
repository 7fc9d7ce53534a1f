import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('alerts.create', { name: 'Any server error', type: 'request_failures', condition: { threshold: 1 }, severity: 'high' });
    await make('alerts.create', {
      name: 'Slow answers',
      type: 'high_latency',
      condition: { threshold_ms: 800, percentile: 95, window_minutes: 10 },
      severity: 'medium',
      cooldown_minutes: 30,
    });
    await make('alerts.create', { name: 'Secrets about to expire', type: 'secret_expiring', severity: 'medium', cooldown_minutes: 1_440 });
  },
};
