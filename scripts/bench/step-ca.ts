import { createHash, createPrivateKey, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { intermediateCertificate, newKeyPair, newSerial, openIssuer, rootCertificate } from '../../server/crypto/pki/authority.ts';
import { pemOf } from '../../server/crypto/pki/pem.ts';
import { freePorts } from '../ports.ts';
import { cores, familyOf, spawnOn, stopChild, until } from './machine.ts';

/** A certificate authority of another author, for `pki.ts`: signs requests that come with a token for these names. */
export type StepCa = {
  pids: () => number[];
  /** Bodies for one call each: a token signs once. */
  bodies: (csr: string, count: number) => Promise<string[]>;
  sign: (body: string) => Promise<number>;
  stop: () => Promise<void>;
};

const PROVISIONER = 'bench';

/** step-ca as it comes, with its own store on disk and one provisioner of tokens. Chain and leaf are of the kind that ours are: ECDSA on P-256. */
export async function startStepCa(binary: string, directory: string, names: readonly string[]): Promise<StepCa> {
  const folder = path.join(directory, 'step-ca');
  fs.mkdirSync(folder, { recursive: true });
  const [port] = (await freePorts(1)) as [number];
  const root = writeChain(folder);
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), use: 'sig', alg: 'ES256', kid: PROVISIONER };
  const config = path.join(folder, 'ca.json');
  fs.writeFileSync(
    config,
    JSON.stringify({
      ...{ root: `${folder}/root.pem`, crt: `${folder}/intermediate.pem`, key: `${folder}/intermediate.key` },
      ...{ address: `127.0.0.1:${port}`, dnsNames: ['localhost'], logger: { format: 'json' } },
      db: { type: 'badgerv2', dataSource: `${folder}/db` },
      authority: { provisioners: [{ type: 'JWK', name: PROVISIONER, key: jwk, encryptedKey: '' }] },
      tls: { minVersion: 1.2, maxVersion: 1.3 },
    }),
  );
  const child = spawnOn(cores.measured, binary, [config], {
    stdio: ['ignore', 'ignore', 'ignore'],
    cwd: folder,
    env: { ...process.env, HOME: folder, STEPPATH: folder },
  });
  const agent = new https.Agent({ keepAlive: true, ca: pemOf('CERTIFICATE', root) });
  const ask = (method: string, at: string, body?: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const request = https.request({ host: 'localhost', port, path: at, method, headers, agent, family: 4 }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      request.on('error', reject).end(body);
    });
  await until(
    'step-ca',
    () =>
      ask('GET', '/health')
        .then((status) => status === 200)
        .catch(() => false),
    30_000,
    child,
  );
  const token = () =>
    new SignJWT({ sans: names, sha: createHash('sha256').update(root).digest('hex') })
      .setProtectedHeader({ alg: 'ES256', kid: PROVISIONER, typ: 'JWT' })
      .setIssuer(PROVISIONER)
      .setSubject(names[0] ?? '')
      .setAudience(`https://localhost:${port}/1.0/sign`)
      .setJti(randomUUID())
      .setIssuedAt()
      .setNotBefore('-1s')
      .setExpirationTime('5m')
      .sign(privateKey);
  return {
    pids: () => familyOf(child.pid ?? 0),
    bodies: (csr, count) => Promise.all(Array.from({ length: count }, async () => JSON.stringify({ csr, ott: await token() }))),
    sign: (body) => ask('POST', '/1.0/sign', body),
    stop: async () => {
      agent.destroy();
      await stopChild(child, 'SIGTERM', 5_000);
    },
  };
}

/** @returns the root, DER */
function writeChain(folder: string): Buffer {
  const [top, middle] = [newKeyPair(), newKeyPair()];
  const term = () => ({ serial: newSerial(), notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 86_400_000 * 30) });
  const root = rootCertificate({ key: top, subject: { common_name: 'Bench root' }, ...term() });
  const issuer = openIssuer(root, top.privateKey);
  const intermediate = intermediateCertificate({
    issuer,
    publicKey: middle.publicKey,
    subject: { common_name: 'Bench intermediate' },
    ...term(),
  });
  fs.writeFileSync(path.join(folder, 'root.pem'), pemOf('CERTIFICATE', root));
  fs.writeFileSync(path.join(folder, 'intermediate.pem'), pemOf('CERTIFICATE', intermediate));
  // The form of EC keys that it reads without a passphrase.
  const key = createPrivateKey({ key: middle.privateKey, format: 'der', type: 'pkcs8' }).export({ type: 'sec1', format: 'pem' });
  fs.writeFileSync(path.join(folder, 'intermediate.key'), key, { mode: 0o600 });
  return root;
}
