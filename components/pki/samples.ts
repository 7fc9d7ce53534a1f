import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  make: async (post) => {
    const name = 'page-test';
    await post('/pki/roots', { name, subject: { CN: 'Page test', O: 'Acme' } });
    await post(`/pki/roots/${name}/roles`, { role_name: 'services', allowed_domains: ['*.example.com'] });
    const tabs = ['', '?tab=roles', '?tab=certificates', '?tab=crl', '?tab=acme', '?tab=activity', '?tab=settings'];
    return tabs.map((tab) => `/pki/${name}${tab}`);
  },
};
