import { createClientCa, issueClientCertificate, openedClientCa } from '#server/crypto/client-certificate.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['environments', 'collections'],
  run: async (make, ids) => {
    const collection_id = ids.payments;
    const { id } = await make('secrets.create', { name: 'STRIPE_KEY', value: 'not-a-real-key-1', collection_id, tags: ['payments'] });
    ids.stripe_key = String(id);
    await make('secrets.put_value', { id, value: 'not-a-real-key-2', environment: 'staging' });
    const model = await make('secrets.create', { name: 'OPENAI_KEY', value: 'not-a-real-key-3' });
    ids.openai_key = String(model.id);
    // Nobody consented yet, so no provider is called.
    await make('secrets.create_oauth2', {
      name: 'GITHUB_APP',
      provider: 'github',
      client_id: 'a-demo-application',
      client_secret: 'not-a-real-client-secret',
      scopes: ['repo'],
      description: 'Opens pull requests',
    });
    await make('secrets.create_certificate', { name: 'PARTNER_CLIENT', tags: ['payments'], ...(await partnerCertificate()) });
    await make('secrets.create', { name: 'WEATHER_TOKEN', value: 'not-a-real-token', expires_at: '2027-01-01T00:00:00Z' });
  },
};

/** A certificate for the demo alone, from an authority that nobody keeps. */
async function partnerCertificate() {
  const now = new Date();
  const ca = await createClientCa(newId(), now);
  const issued = await issueClientCertificate(openedClientCa(ca.certificate_pem, Buffer.from(ca.private_key_pem)), {
    ...{ client_id: newId(), name: 'demo.partner.example', ttl_days: 365, now },
  });
  return { certificate_content: issued.certificate_pem + ca.certificate_pem, private_key: issued.private_key_pem };
}
