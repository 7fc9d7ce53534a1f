import 'reflect-metadata';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { egress } from '#server/platform/egress.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import type { Workspace } from '#server/testing/workspace.ts';
import { type Answer, type Ask, makeSecret, type Running, type Seen, startGateway } from '../gateway.fixture.ts';

// Upstreams that speak TLS on this machine under public names: certificates of a root that this process trusts, names mapped by the operator's test mode.

x509.cryptoProvider.set(crypto);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 86_400_000;
const validity = { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + DAY) };
const rootKeys = (await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
const root = await x509.X509CertificateGenerator.createSelfSigned({
  name: 'CN=Upstreams of tests',
  keys: rootKeys,
  signingAlgorithm: ALGORITHM,
  ...validity,
  extensions: [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
});
const trusted = getCACertificates('default');
setDefaultCACertificates([...trusted, root.toString('pem')]);
onFileEnd(() => setDefaultCACertificates(trusted));

export type TlsUpstream = { port: number; seen: Seen[]; server: Server };

/** An upstream for these public names; it answers 200 `{"ok":true}` unless told otherwise. */
export async function startTlsUpstream(
  names: readonly string[],
  answer?: (req: IncomingMessage, res: ServerResponse, body: Buffer) => void,
): Promise<TlsUpstream> {
  const keys = (await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as CryptoKeyPair;
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: Math.floor(Math.random() * 1e9).toString(16),
    subject: `CN=${names[0]}`,
    issuer: root.subject,
    publicKey: keys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  const seen: Seen[] = [];
  const server = createServer({ key, cert: leaf.toString('pem') }, (req, res) => {
    const chunks: Buffer[] = [];
    req.on('error', () => {});
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, rawHeaders: req.rawHeaders, body: body.toString() });
      if (answer) return answer(req, res, body);
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const hosts = egress().settings.testHosts as Map<string, { address: string; port: number }>;
  for (const name of names) hosts.set(`${name}:443`, { address: '127.0.0.1', port });
  return { port, seen, server };
}

/** A gateway whose API host, Live and Test, is on ports of its own. */
export async function startApi(): Promise<Running & { api: number; sandbox: number }> {
  const running = await startGateway();
  const { port: api } = await running.gateway.listen('api', 0, '127.0.0.1');
  const { port: sandbox } = await running.gateway.listen('sandbox', 0, '127.0.0.1');
  return { ...running, api, sandbox };
}

/** A wrap credential as the family stores it. */
export const makeWrapped = (w: Workspace, name: string, value: string, hosts: readonly string[], more: Record<string, unknown> = {}) =>
  makeSecret(w, name, { production: value }, { is_escrow: true, provider_label: 'test', allowed_hosts: [...hosts], ...more });

/** One call to the API host over a connection of its own. */
export function callApi(port: number, path: string, { method = 'GET', headers = {}, body, key }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = {
      host: `127.0.0.1:${port}`,
      connection: 'close',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    };
    const req = request({ port, host: '127.0.0.1', method, path, headers: sent, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const answer = { status: res.statusCode ?? 0, headers: res.headers as Record<string, string>, raw: res.rawHeaders };
        resolve({ ...answer, body: text, json: () => JSON.parse(text) });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}
