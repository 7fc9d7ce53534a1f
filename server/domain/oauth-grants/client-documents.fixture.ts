import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import * as x509 from '@peculiar/x509';
import { createResolver, type ResolveFamily } from '#server/platform/http-out/resolver.ts';
import { listen, loopback, toLoopback } from '#server/platform/http-out/upstream.fixture.ts';
import { createDocumentSource, type DocumentSource } from './client-documents.ts';

// Servers with documents of clients, over TLS by a certificate of a test authority.

export type Answers = (req: IncomingMessage, res: ServerResponse) => void;

export const HOST = 'app.example.org';

/** `asked`: paths in their order. `document`: a good one of a client whose ID is a path of this server. */
export async function startDocuments(answers?: Answers, resolve: ResolveFamily = toLoopback) {
  const { cert, key } = await certificate(HOST);
  const documents = new Map<string, object>();
  const asked: string[] = [];
  const port = await listen(
    createServer({ cert, key }, (req, res) => {
      asked.push(req.url ?? '');
      if (answers) return answers(req, res);
      const found = documents.get(req.url ?? '');
      res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
    }) as never,
  );
  const origin = `https://${HOST}:${port}`;
  const source = (): DocumentSource => createDocumentSource(createResolver({ settings: loopback, resolve }), { tls: { ca: cert } });
  const document = (path: string, more: object = {}): object => ({
    client_id: `${origin}${path}`,
    client_name: 'Example app',
    redirect_uris: ['http://127.0.0.1/callback'],
    ...more,
  });
  return { origin, asked, documents, document, source };
}

async function certificate(name: string): Promise<{ cert: string; key: string }> {
  x509.cryptoProvider.set(crypto);
  const alg = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = (await crypto.subtle.generateKey(alg, true, ['sign', 'verify'])) as CryptoKeyPair;
  const day = 86_400_000;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: alg,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    extensions: [
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
      new x509.BasicConstraintsExtension(true, 1, true),
    ],
  });
  return {
    cert: cert.toString('pem'),
    key: x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  };
}
