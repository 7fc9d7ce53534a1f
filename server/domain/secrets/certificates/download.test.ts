import assert from 'node:assert/strict';
import test from 'node:test';
import forge from 'node-forge';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';
import { create, downloadCertificate } from '../operations.ts';

await testDatabase();

const PASSPHRASE = 'of the file';

/** A self-signed certificate with its key, as PEM and as a PFX file in base64. */
function material() {
  const { publicKey, privateKey } = forge.pki.rsa.generateKeyPair(2048);
  const certificate = forge.pki.createCertificate();
  Object.assign(certificate, { publicKey, serialNumber: '01' });
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000 * 30);
  certificate.setSubject([{ name: 'commonName', value: 'partner' }]);
  certificate.setIssuer(certificate.subject.attributes);
  certificate.sign(privateKey, forge.md.sha256.create());
  const pfx = forge.pkcs12.toPkcs12Asn1(privateKey, [certificate], PASSPHRASE, { algorithm: '3des' });
  return {
    pem: forge.pki.certificateToPem(certificate),
    key: forge.pki.privateKeyInfoToPem(forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(privateKey))),
    pfx: Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1').toString('base64'),
  };
}

test('a file with a private key leaves only when the key was asked for', async () => {
  const w = await workspace();
  const owner: Ctx = { ...w.live, actor: { ...memberActor('owner'), id: newId() } as Ctx['actor'] };
  const { pem, key, pfx } = material();
  for (const [what, fields, original] of [
    ['PEM with its key in the same text', { certificate_content: pem + key }, pem],
    ['PFX', { certificate_content: pfx, certificate_type: 'pfx', passphrase: PASSPHRASE }, pfx],
  ] as const) {
    const { output } = await perform(create, w.live, { name: fresh('cert').replaceAll('-', '_'), secret_type: 'certificate', ...fields });
    const download = async (query: Record<string, string>) => {
      await verified(owner, 'plaintext.reveal');
      return String((await perform(downloadCertificate, owner, { id: output.id, ...query })).output);
    };
    const withoutKey: Record<string, string>[] = [{}, { format: 'original' }, { format: 'original', include_private_key: 'false' }];
    for (const query of withoutKey) {
      const text = await download(query);
      assert.match(text, /^-----BEGIN CERTIFICATE-----/, what);
      assert.ok(!text.includes('PRIVATE KEY'), what);
    }
    assert.match(await download({ include_private_key: 'true' }), /BEGIN PRIVATE KEY/, what);
    assert.ok((await download({ include_private_key: 'true', format: 'original' })).includes(original.trim().slice(0, 200)), what);
  }
});
