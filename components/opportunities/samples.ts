import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  make: async (post) => {
    const at = new Date().toISOString();
    const observation = { first_segment: '/v1', method: 'POST', header_name: 'authorization', count: 40, first_seen: at, last_seen: at };
    const hosts = ['api.stripe.com', 'api.example.net'];
    await post('/wrap/egress-observations', { sdk: 'typescript/1.4.2', observations: hosts.map((host) => ({ ...observation, host })) });
    return ['/opportunities?status=pending', '/opportunities/egress?status=uncovered', '/opportunities?status=dismissed'];
  },
};
