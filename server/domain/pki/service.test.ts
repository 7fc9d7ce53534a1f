import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

const rootOf = async (ctx: Ctx, input: Record<string, unknown> = {}) =>
  (await made(ctx, 'pki.create_root', { name: fresh('root'), subject: { CN: 'Acme Internal CA', O: 'Acme', C: 'us' }, ...input })).root;
const roleOf = (ctx: Ctx, name: string, input: Record<string, unknown> = {}) =>
  made(ctx, 'pki.create_role', { name, role_name: 'services', allowed_domains: ['example.com'], ...input });

test('a root signs an intermediate, which signs a leaf, and each checks with the one above', async () => {
  const { live } = await workspace();
  const root = await rootOf(live);
  await roleOf(live, root.name);
  const leaf = await made(live, 'pki.issue', {
    name: root.name,
    role: 'services',
    subject: { CN: 'API.example.com.' },
    san_ip: ['10.0.0.1'],
  });
  const [intermediate, top] = leaf.ca_chain_pem.split(/(?<=-----END CERTIFICATE-----\n)/).map((pem: string) => new X509Certificate(pem));
  const certificate = new X509Certificate(leaf.cert_pem);
  assert.ok(certificate.verify(intermediate.publicKey) && intermediate.verify(top.publicKey) && top.verify(top.publicKey));
  assert.equal(certificate.subject, 'C=US\nO=Acme\nCN=api.example.com');
  assert.equal(certificate.subjectAltName, 'DNS:api.example.com, IP Address:10.0.0.1');
});
